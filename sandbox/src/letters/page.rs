//! Puts lines of text and a picture on A4 pages. Knows nothing of dentistry or PDF.

use super::font::{Style, lines, width};

pub(super) const PAGE_WIDTH: f32 = 595.0;
pub(super) const PAGE_HEIGHT: f32 = 842.0;
const LEFT: f32 = 62.0;
const RIGHT: f32 = PAGE_WIDTH - 62.0;
const TOP: f32 = 70.0;
/// Below this line only the foot is written.
const BOTTOM: f32 = PAGE_HEIGHT - 78.0;
const LEADING: f32 = 1.45;
const SMALL: f32 = 8.0;

/// One thing on a page, at points from its upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// A line of text; `y` is its baseline.
    Text { x: f32, y: f32, size: f32, style: Style, text: String },
    /// The picture of the file.
    Picture { x: f32, y: f32, width: f32, height: f32 },
}

/// Pages being written, from top to bottom.
pub(super) struct Pages {
    finished: Vec<Vec<Mark>>,
    current: Vec<Mark>,
    y: f32,
}

impl Pages {
    pub fn new() -> Self {
        Self { finished: Vec::new(), current: Vec::new(), y: TOP }
    }

    /// All pages, each with its number and this foot.
    pub fn finish(mut self, foot: &str) -> Vec<Vec<Mark>> {
        self.finished.push(self.current);
        let (total, y) = (self.finished.len(), PAGE_HEIGHT - 44.0);
        for (index, page) in self.finished.iter_mut().enumerate() {
            let number = format!("{} / {total}", index + 1);
            let x = RIGHT - width(&number, Style::Regular, SMALL);
            page.push(Mark::Text { x: LEFT, y, size: SMALL, style: Style::Regular, text: foot.to_owned() });
            page.push(Mark::Text { x, y, size: SMALL, style: Style::Regular, text: number });
        }
        self.finished
    }

    /// Starts a new page if less than this much room is left.
    fn room(&mut self, height: f32) {
        if self.y + height > BOTTOM {
            self.finished.push(std::mem::take(&mut self.current));
            self.y = TOP;
        }
    }

    pub fn space(&mut self, height: f32) {
        self.y += height;
    }

    pub fn paragraph(&mut self, style: Style, size: f32, content: &str) {
        for text in lines(content, style, size, RIGHT - LEFT) {
            self.room(size * LEADING);
            self.current.push(Mark::Text { x: LEFT, y: self.y + size, size, style, text });
            self.y += size * LEADING;
        }
    }

    /// A picture twice as wide as high, with a line below it.
    pub fn picture(&mut self, caption: &str) {
        let (width, height) = (240.0, 120.0);
        self.room(height + 2.0 * SMALL * LEADING);
        self.current.push(Mark::Picture { x: LEFT, y: self.y, width, height });
        self.y += height;
        self.paragraph(Style::Regular, SMALL, caption);
    }
}
