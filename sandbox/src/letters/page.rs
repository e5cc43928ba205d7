//! Puts headings, paragraphs and tables on A4 pages. It knows nothing of dentistry and nothing of PDF.

use super::font::{Style, lines, width};

pub(super) const PAGE_WIDTH: f32 = 595.0;
pub(super) const PAGE_HEIGHT: f32 = 842.0;
pub(super) const LEFT: f32 = 62.0;
pub(super) const RIGHT: f32 = PAGE_WIDTH - 62.0;
const TOP: f32 = 70.0;
/// Below this line only the foot is written.
const BOTTOM: f32 = PAGE_HEIGHT - 78.0;

const BODY: f32 = 10.0;
const LEADING: f32 = 1.45;

pub(super) type Color = (u8, u8, u8);
pub(super) const INK: Color = (28, 30, 34);
pub(super) const ACCENT: Color = (15, 92, 110);
pub(super) const FAINT: Color = (110, 116, 124);
const RULE: Color = (196, 204, 210);
const SHADE: Color = (232, 240, 242);

/// One thing on a page, at points from its upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// A line of text; `y` is its baseline.
    Text {
        x: f32,
        y: f32,
        size: f32,
        style: Style,
        color: Color,
        text: String,
    },
    Fill {
        x: f32,
        y: f32,
        width: f32,
        height: f32,
        color: Color,
    },
    Picture {
        plate: Plate,
        x: f32,
        y: f32,
        width: f32,
        height: f32,
    },
}

/// Which picture goes to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plate {
    Radiograph,
    Signature,
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
    pub fn finish(mut self, foot: &str, page_word: &str) -> Vec<Vec<Mark>> {
        self.finished.push(self.current);
        let total = self.finished.len();
        for (index, page) in self.finished.iter_mut().enumerate() {
            let y = PAGE_HEIGHT - 44.0;
            page.push(rule(LEFT, y - 14.0, RIGHT - LEFT));
            let number = format!("{page_word} {} / {total}", index + 1);
            let number_x = RIGHT - width(&number, Style::Regular, 8.0);
            page.push(text(LEFT, y, 8.0, Style::Regular, FAINT, foot));
            page.push(text(number_x, y, 8.0, Style::Regular, FAINT, &number));
        }
        self.finished
    }

    /// Starts a new page unless this much room is left.
    fn room(&mut self, height: f32) {
        if self.y + height > BOTTOM {
            self.finished.push(std::mem::take(&mut self.current));
            self.y = TOP;
        }
    }

    pub fn space(&mut self, height: f32) {
        self.y += height;
    }

    /// Moves down to a place on the page, never up.
    pub fn down_to(&mut self, y: f32) {
        self.y = self.y.max(y);
    }

    pub fn mark(&mut self, mark: Mark) {
        self.current.push(mark);
    }

    pub fn rule(&mut self) {
        let y = self.y;
        self.mark(rule(LEFT, y, RIGHT - LEFT));
    }

    /// Lines of text in a column of its own; returns where it ends without moving on.
    pub fn column(&mut self, x: f32, y: f32, room: f32, content: &[(Style, f32, Color, String)]) -> f32 {
        let mut y = y;
        for (style, size, color, content) in content {
            for line in lines(content, *style, *size, room) {
                self.mark(text(x, y, *size, *style, *color, &line));
                y += size * LEADING;
            }
        }
        y
    }

    pub fn line_at(&mut self, x: f32, style: Style, content: &str) {
        self.room(BODY * LEADING);
        let y = self.y + BODY;
        self.mark(text(x, y, BODY, style, INK, content));
        self.y += BODY * LEADING;
    }

    pub fn title(&mut self, content: &str) {
        self.room(60.0);
        for line in lines(content, Style::Bold, 14.0, RIGHT - LEFT) {
            let y = self.y + 14.0;
            self.mark(text(LEFT, y, 14.0, Style::Bold, INK, &line));
            self.y += 20.0;
        }
        self.y += 6.0;
    }

    /// Keeps at least two lines of what follows on the same page.
    pub fn heading(&mut self, content: &str) {
        self.room(18.0 + 2.0 * BODY * LEADING);
        self.y += 4.0;
        let y = self.y + 11.0;
        self.mark(text(LEFT, y, 11.0, Style::Bold, ACCENT, content));
        self.y += 19.0;
    }

    pub fn paragraph(&mut self, style: Style, content: &str) {
        for line in lines(content, style, BODY, RIGHT - LEFT) {
            self.line_at(LEFT, style, &line);
        }
        self.y += 6.0;
    }

    /// A shaded box with a label in front of each line.
    pub fn facts(&mut self, facts: &[(&str, String)]) {
        let inset = 10.0;
        let label_width = facts.iter().map(|(label, _)| width(label, Style::Bold, BODY)).fold(0.0, f32::max) + 12.0;
        let room = RIGHT - LEFT - 2.0 * inset - label_width;
        let set: Vec<(&str, Vec<String>)> =
            facts.iter().map(|(label, fact)| (*label, lines(fact, Style::Regular, BODY, room))).collect();
        let count: usize = set.iter().map(|(_, lines)| lines.len().max(1)).sum();
        let height = 2.0 * inset + rows(count) * BODY * LEADING - 3.0;
        self.room(height);
        let top = self.y;
        self.mark(Mark::Fill { x: LEFT, y: top, width: RIGHT - LEFT, height, color: SHADE });
        let mut y = top + inset + BODY - 1.0;
        for (label, lines) in set {
            self.mark(text(LEFT + inset, y, BODY, Style::Bold, INK, label));
            for line in &lines {
                self.mark(text(LEFT + inset + label_width, y, BODY, Style::Regular, INK, line));
                y += BODY * LEADING;
            }
            if lines.is_empty() {
                y += BODY * LEADING;
            }
        }
        self.y = top + height + 12.0;
    }

    /// A table over the whole width. `shares` are the columns' parts of it, `cells` the rows, the first one the head.
    pub fn table(&mut self, shares: &[f32], cells: &[Vec<String>]) {
        let size = 9.0;
        let whole: f32 = shares.iter().sum();
        for (index, row) in cells.iter().enumerate() {
            let head = index == 0;
            let style = if head { Style::Bold } else { Style::Regular };
            let mut columns = Vec::new();
            let mut x = LEFT;
            let mut most = 1;
            for (cell, share) in row.iter().zip(shares) {
                let column = (RIGHT - LEFT) * share / whole;
                let set = lines(cell, style, size, column - 12.0);
                most = most.max(set.len());
                columns.push((x + 6.0, set));
                x += column;
            }
            let height = rows(most) * size * 1.35 + 8.0;
            self.room(height);
            let top = self.y;
            if head {
                self.mark(Mark::Fill { x: LEFT, y: top, width: RIGHT - LEFT, height, color: SHADE });
            }
            for (x, set) in columns {
                let mut y = top + 4.0 + size;
                for line in set {
                    self.mark(text(x, y, size, style, INK, &line));
                    y += size * 1.35;
                }
            }
            self.mark(rule(LEFT, top + height, RIGHT - LEFT));
            self.y = top + height;
        }
        self.y += 14.0;
    }

    /// A picture twice as wide as high, with a line below it.
    pub fn picture(&mut self, caption: &str) {
        let width = 330.0;
        let height = width / 2.0;
        self.room(height + 30.0);
        let (x, y) = ((PAGE_WIDTH - width) / 2.0, self.y + 4.0);
        self.mark(Mark::Picture { plate: Plate::Radiograph, x, y, width, height });
        self.mark(text(x, y + height + 13.0, 8.5, Style::Italic, FAINT, caption));
        self.y += height + 30.0;
    }

    /// The close of a letter, kept together.
    pub fn signature(&mut self, greeting: &str, name: &str, below: &str) {
        self.room(120.0);
        self.y += 4.0;
        self.paragraph(Style::Regular, greeting);
        let x = 345.0;
        let y = self.y;
        self.mark(Mark::Picture { plate: Plate::Signature, x, y, width: 140.0, height: 45.0 });
        self.y += 50.0;
        self.line_at(x, Style::Bold, name);
        self.line_at(x, Style::Regular, below);
        self.y += 6.0;
    }
}

fn rows(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

fn rule(x: f32, y: f32, width: f32) -> Mark {
    Mark::Fill { x, y, width, height: 0.6, color: RULE }
}

pub(super) fn text(x: f32, y: f32, size: f32, style: Style, color: Color, content: &str) -> Mark {
    Mark::Text { x, y, size, style, color, text: content.to_owned() }
}
