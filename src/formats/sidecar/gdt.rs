//! GDT 2.1, the exchange file of German practice software. Each field is a line that begins with its own length in
//! bytes.
//!
//! A line is a length of three digits, a field of four digits, the value, and CR LF. The length counts all of them.
//! Field 8100, in the second line, is the length of the whole file in five digits. Field 9206 is the encoding.

use super::{Charset, Fault};

/// The length of a line without its value: three digits, four digits, CR LF.
const FRAME: usize = 3 + 4 + 2;
/// The longest value in bytes, since a line's length has three digits.
const MOST: usize = 999 - FRAME;
/// The longest file in bytes, since its length has five digits.
const MOST_OF_FILE: usize = 99_999;
/// The length of the line with the length of the file.
const OF_LENGTH: usize = FRAME + 5;

const LENGTH: &str = "8100";
const CHARSET: &str = "9206";
/// The fields before it in the head: the record type, the receiver and the sender.
const BEFORE_CHARSET: [&str; 3] = ["8000", "8315", "8316"];

/// The field and the value of a line of a sidecar's text. `None` if the line does not begin with four digits.
pub fn field_of(line: &str) -> Option<(&str, &str)> {
    line.split_at_checked(4).filter(|(field, _)| field.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The lines of a sidecar's text with their numbers. Skips blank lines, which come from the template's layout.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.split(['\r', '\n']).enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty())
}

/// The content of the file. The text's own length and encoding are ignored.
pub(super) fn write(text: &str, charset: Charset) -> Result<Vec<u8>, Fault> {
    let of_charset = charset.in_gdt().unwrap_or_default().as_bytes().to_vec();
    let (mut fields, mut has_charset): (Vec<(&str, Vec<u8>)>, bool) = (Vec::new(), false);
    for (line, content) in lines(text) {
        let (field, value) = field_of(content).ok_or(Fault::NoField { line })?;
        let value = match field {
            LENGTH => continue,
            CHARSET if std::mem::replace(&mut has_charset, true) => continue,
            CHARSET => of_charset.clone(),
            _ => charset.encode(value).ok_or_else(|| Fault::Lacks { line, field: Some(field.to_owned()) })?,
        };
        if value.len() > MOST {
            return Err(Fault::ValueTooLong { field: field.to_owned(), most: MOST });
        }
        fields.push((field, value));
    }
    if !has_charset {
        let at = fields.iter().take_while(|(field, _)| BEFORE_CHARSET.contains(field)).count();
        fields.insert(at, (CHARSET, of_charset));
    }
    let length = OF_LENGTH + fields.iter().map(|(_, value)| FRAME + value.len()).sum::<usize>();
    if length > MOST_OF_FILE {
        return Err(Fault::FileTooLong { most: MOST_OF_FILE });
    }
    fields.insert(1, (LENGTH, format!("{length:05}").into_bytes()));
    let mut file = Vec::with_capacity(length);
    for (field, value) in fields {
        file.extend_from_slice(format!("{:03}{field}", FRAME + value.len()).as_bytes());
        file.extend_from_slice(&value);
        file.extend_from_slice(b"\r\n");
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As in a template. 8100 and 9206 are optional, and their values do not count.
    const RESULTS: &str = "80006310\n8315PVS1\n8316DOCSYNCD\n921802.10\n30004711\n3101Müller\n3102Jörg\n310301021980\n\
        620027112026\n8402ALLG00\n6302000001\n6303PDF\n6304Überweisung\n6305\\\\SRV\\GDT\\4711_0f3a.pdf\n";

    /// Computed by hand from the rules; 250 bytes in windows-1252.
    const GOLDEN: &str = "01380006310\r\n014810000250\r\n0138315PVS1\r\n0178316DOCSYNCD\r\n01092063\r\n014921802.10\r\n\
        01330004711\r\n0153101Müller\r\n0133102Jörg\r\n017310301021980\r\n017620027112026\r\n0158402ALLG00\r\n\
        0156302000001\r\n0126303PDF\r\n0206304Überweisung\r\n0326305\\\\SRV\\GDT\\4711_0f3a.pdf\r\n";

    fn golden(charset: Charset) -> Vec<u8> {
        charset.encode(GOLDEN).unwrap()
    }

    #[test]
    fn results_with_an_attached_file_are_the_bytes_of_the_example() {
        let file = write(RESULTS, Charset::Windows1252).unwrap();
        assert_eq!((file.len(), file), (250, golden(Charset::Windows1252)));
        // All these encodings have one byte for each letter.
        assert_eq!(write(RESULTS, Charset::Iso8859_1).unwrap(), golden(Charset::Iso8859_1));
        let german = String::from_utf8_lossy(&golden(Charset::Cp437)).replace("01092063", "01092062");
        assert_eq!(String::from_utf8_lossy(&write(RESULTS, Charset::Cp437).unwrap()), german);
    }

    #[test]
    fn the_length_and_the_encoding_stand_there_once_whatever_the_text_says() {
        let said = "810000001\n80006310\n\n8315PVS1\r\n8316DOCSYNCD\n92061\n92062\n921802.10\n8100x\n";
        let expected = "01380006310\r\n014810000090\r\n0138315PVS1\r\n0178316DOCSYNCD\r\n01092063\r\n014921802.10\r\n";
        let file = String::from_utf8(write(said, Charset::Windows1252).unwrap()).unwrap();
        assert_eq!(file.replace("00090", &format!("{:05}", file.len())), file);
        assert_eq!(file.replace(&format!("{:05}", file.len()), "00090"), expected);
        // A template may put the encoding elsewhere.
        let moved = String::from_utf8(write("80006310\n921802.10\n92067\n", Charset::Windows1252).unwrap()).unwrap();
        assert!(moved.ends_with("014921802.10\r\n01092063\r\n"), "{moved}");
    }

    #[test]
    fn what_does_not_fit_is_refused_by_its_field() {
        let long = |letters: usize| write(&format!("80006310\n6227{}\n", "ü".repeat(letters)), Charset::Windows1252);
        assert!(long(990).unwrap().starts_with(b"01380006310\r\n014810001036\r\n01092063\r\n9996227\xfc"));
        assert_eq!(long(991), Err(Fault::ValueTooLong { field: "6227".to_owned(), most: 990 }));
        let many = format!("80006310\n{}", format!("6227{}\n", "x".repeat(990)).repeat(101));
        assert_eq!(write(&many, Charset::Windows1252), Err(Fault::FileTooLong { most: 99_999 }));
        assert_eq!(write("80006310\n310\n", Charset::Windows1252), Err(Fault::NoField { line: 2 }));
        assert_eq!(write("8000é310\n31é1x\n", Charset::Windows1252), Err(Fault::NoField { line: 2 }));
        let lacks = write("80006310\n\n3101\u{1f600}\n", Charset::Windows1252);
        assert_eq!(lacks, Err(Fault::Lacks { line: 3, field: Some("3101".to_owned()) }));
    }

    /// Reads a file by the rules alone: lengths first, then fields.
    fn read(mut file: &[u8]) -> Vec<(String, Vec<u8>)> {
        let whole = file.len();
        let mut fields = Vec::new();
        while !file.is_empty() {
            let length: usize = std::str::from_utf8(&file[..3]).unwrap().parse().unwrap();
            let (line, rest) = file.split_at(length);
            assert_eq!(&line[length - 2..], b"\r\n");
            fields.push((String::from_utf8(line[3..7].to_vec()).unwrap(), line[7..length - 2].to_vec()));
            file = rest;
        }
        assert_eq!(fields[1], ("8100".to_owned(), format!("{whole:05}").into_bytes()));
        fields
    }

    proptest! {
        #[test]
        fn another_reader_finds_the_fields_that_were_written(
            values in proptest::collection::vec(("[0-9]{4}", "[ -~äöüßéÄÖÜ]{0,60}"), 1..30)
        ) {
            let text: String = values.iter().map(|(field, value)| format!("{field}{value}\n")).collect();
            let mut found = read(&write(&text, Charset::Windows1252).unwrap());
            prop_assert_eq!(found.iter().filter(|(field, _)| field == "9206").count(), 1);
            prop_assert_eq!(found.iter().filter(|(field, _)| field == "8100").count(), 1);
            found.retain(|(field, _)| field != "8100" && field != "9206");
            let expected: Vec<_> = values
                .iter()
                .filter(|(field, _)| field != "8100" && field != "9206")
                .map(|(field, value)| (field.clone(), Charset::Windows1252.encode(value).unwrap()))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
