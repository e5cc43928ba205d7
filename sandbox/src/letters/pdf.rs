//! Marks on pages as a PDF file, as ISO 32000-1 describes it. Nothing in it is compressed.

use std::fmt::{Display, Write as _};

use super::font::{Style, encoded};
use super::page::{Mark, PAGE_HEIGHT, PAGE_WIDTH};

/// The document information.
pub(super) struct About<'a> {
    pub title: &'a str,
    pub author: &'a str,
    pub language: &'a str,
}

/// A gray picture with one byte for each pixel, row by row from the top.
pub(super) struct Image {
    pub gray: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// The numbers of the objects in every file. The pages follow.
const CATALOG: usize = 1;
const PAGES: usize = 2;
const ABOUT: usize = 3;
const RESOURCES: usize = 4;
const PICTURE: usize = 5;
const FIRST_PAGE: usize = 6;

/// Writes the file. It contains no time, so the same marks give the same bytes.
pub(super) fn write(pages: &[Vec<Mark>], about: &About<'_>, picture: &Image) -> Vec<u8> {
    let mut file = File { bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(), objects: Vec::new() };
    file.object(format_args!("<< /Type /Catalog /Pages {PAGES} 0 R /Lang {} >>", string(about.language)));
    let kids: String =
        (0..pages.len()).fold(String::new(), |kids, page| format!("{kids}{} 0 R ", FIRST_PAGE + 2 * page));
    file.object(format_args!("<< /Type /Pages /Count {} /Kids [ {kids}] >>", pages.len()));
    let (title, author) = (string(about.title), string(about.author));
    file.object(format_args!("<< /Title {title} /Author {author} /Creator {} >>", string("docsyncd-sandbox")));
    let fonts = Style::ALL.map(|style| {
        let font = style.font();
        format!("/{font} << /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>")
    });
    file.object(format_args!("<< /Font << {} >> /XObject << /Picture {PICTURE} 0 R >> >>", fonts.join(" ")));
    file.picture(picture);
    for (index, marks) in pages.iter().enumerate() {
        file.object(format_args!(
            "<< /Type /Page /Parent {PAGES} 0 R /MediaBox [ 0 0 {PAGE_WIDTH} {PAGE_HEIGHT} ] /Resources {RESOURCES} 0 R \
             /Contents {} 0 R >>",
            FIRST_PAGE + 2 * index + 1
        ));
        let drawn: Vec<u8> = marks.iter().flat_map(drawn).collect();
        file.stream("", &drawn);
    }
    file.finish()
}

/// The drawing of a mark. PDF counts from the lower left corner, with y upwards.
fn drawn(mark: &Mark) -> Vec<u8> {
    match mark {
        Mark::Text { x, y, size, style, text } => {
            let (font, y) = (style.font(), PAGE_HEIGHT - y);
            let mut drawn = format!("BT /{font} {size} Tf {x:.2} {y:.2} Td (").into_bytes();
            for byte in encoded(text) {
                if matches!(byte, b'(' | b')' | b'\\') {
                    drawn.push(b'\\');
                }
                drawn.push(byte);
            }
            drawn.extend(b") Tj ET\n");
            drawn
        }
        Mark::Picture { x, y, width, height } => {
            let y = PAGE_HEIGHT - y - height;
            format!("q {width:.2} 0 0 {height:.2} {x:.2} {y:.2} cm /Picture Do Q\n").into_bytes()
        }
    }
}

/// A text outside of pages: UTF-16 with its byte order mark, in hexadecimal digits.
fn string(text: &str) -> String {
    text.encode_utf16().fold("<FEFF".to_owned(), |mut digits, unit| {
        _ = write!(digits, "{unit:04X}");
        digits
    }) + ">"
}

struct File {
    bytes: Vec<u8>,
    /// The position of each object, from number 1 on.
    objects: Vec<usize>,
}

impl File {
    fn begin(&mut self, dictionary: impl Display) {
        self.objects.push(self.bytes.len());
        self.bytes.extend(format!("{} 0 obj\n{dictionary}\n", self.objects.len()).bytes());
    }

    fn object(&mut self, dictionary: impl Display) {
        self.begin(dictionary);
        self.bytes.extend(b"endobj\n");
    }

    /// A stream, and its dictionary's entries besides the length.
    fn stream(&mut self, entries: &str, content: &[u8]) {
        self.begin(format_args!("<< {entries}/Length {} >>\nstream", content.len()));
        self.bytes.extend(content);
        self.bytes.extend(b"\nendstream\nendobj\n");
    }

    fn picture(&mut self, Image { gray, width, height }: &Image) {
        let size = format!("/Width {width} /Height {height}");
        let entries = format!("/Type /XObject /Subtype /Image {size} /ColorSpace /DeviceGray /BitsPerComponent 8 ");
        self.stream(&entries, gray);
    }

    /// Each entry of the table has 20 bytes.
    fn finish(mut self) -> Vec<u8> {
        let (table, size) = (self.bytes.len(), self.objects.len() + 1);
        let mut end = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for begin in self.objects {
            _ = writeln!(end, "{begin:010} 00000 n ");
        }
        _ = write!(
            end,
            "trailer\n<< /Size {size} /Root {CATALOG} 0 R /Info {ABOUT} 0 R >>\nstartxref\n{table}\n%%EOF\n"
        );
        self.bytes.extend(end.bytes());
        self.bytes
    }
}
