//! Marks on pages as a PDF file, through krilla.

use krilla::color::rgb;
use krilla::geom::{PathBuilder, Point, Rect, Size, Transform};
use krilla::image::Image;
use krilla::metadata::Metadata;
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::Fill;
use krilla::surface::Surface;
use krilla::{Document, SerializeSettings};

use super::font;
use super::page::{Color, Mark, PAGE_HEIGHT, PAGE_WIDTH, Plate};

/// What the file says about itself.
pub(super) struct About<'a> {
    pub title: &'a str,
    pub author: &'a str,
    pub language: &'a str,
}

/// The pictures of a letter.
pub(super) struct Pictures {
    pub signature: Image,
    pub radiograph: Option<Image>,
}

/// Writes the file. There is no clock in it: the same marks give the same bytes.
pub(super) fn write(pages: &[Vec<Mark>], about: &About<'_>, pictures: &Pictures) -> Result<Vec<u8>, String> {
    let mut document = Document::new_with(SerializeSettings { enable_tagging: false, ..SerializeSettings::default() });
    document.set_metadata(
        Metadata::new()
            .title(about.title.to_owned())
            .authors(vec![about.author.to_owned()])
            .language(about.language.to_owned())
            .creator("docsyncd-sandbox".to_owned()),
    );
    let size = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT).ok_or("the page has no size")?;
    for marks in pages {
        let mut page = document.start_page_with(size.clone());
        let mut surface = page.surface();
        for mark in marks {
            draw(&mut surface, mark, pictures);
        }
        surface.finish();
        page.finish();
    }
    document.finish().map_err(|error| format!("{error:?}"))
}

fn draw(surface: &mut Surface<'_>, mark: &Mark, pictures: &Pictures) {
    match mark {
        Mark::Text { x, y, size, style, color, text } => {
            if let Some((font, glyphs)) = font::glyphs(text, *style) {
                surface.set_fill(Some(fill(*color)));
                surface.draw_glyphs(Point::from_xy(*x, *y), &glyphs, font, text, *size, false);
            }
        }
        Mark::Fill { x, y, width, height, color } => {
            let mut builder = PathBuilder::new();
            if let Some(rect) = Rect::from_xywh(*x, *y, *width, *height) {
                builder.push_rect(rect);
            }
            if let Some(path) = builder.finish() {
                surface.set_fill(Some(fill(*color)));
                surface.draw_path(&path);
            }
        }
        Mark::Picture { plate, x, y, width, height } => {
            let picture = match plate {
                Plate::Signature => Some(&pictures.signature),
                Plate::Radiograph => pictures.radiograph.as_ref(),
            };
            if let (Some(picture), Some(size)) = (picture, Size::from_wh(*width, *height)) {
                surface.push_transform(&Transform::from_translate(*x, *y));
                surface.draw_image(picture.clone(), size);
                surface.pop();
            }
        }
    }
}

fn fill((red, green, blue): Color) -> Fill {
    Fill {
        paint: rgb::Color::new(red, green, blue).into(),
        opacity: NormalizedF32::ONE,
        rule: krilla::paint::FillRule::default(),
    }
}
