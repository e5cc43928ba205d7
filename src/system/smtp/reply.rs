//! A server's answers. Only their codes and keywords leave this file, because the words may quote a patient.

use std::fmt;
use std::io::ErrorKind;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

use super::Why;

/// The most bytes of an answer with all its lines. RFC 5321, section 4.5.3.1.5, limits a line to 512.
const MOST: u64 = 64 * 1024;

/// An enhanced status code (RFC 3463): class, subject, detail.
pub type Enhanced = (u16, u16, u16);

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// 200 to 599
    pub code: u16,
    /// The enhanced code, if there is one of the same class.
    pub enhanced: Option<Enhanced>,
    lines: Vec<String>,
}

impl Reply {
    /// Reads one answer, and nothing after it.
    ///
    /// # Errors
    /// [`Why::Io`] if the connection ends before the answer does; [`Why::NotSmtp`] if it is too long or no answer.
    pub async fn read(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Self, Why> {
        let mut from = from.take(MOST);
        let (mut first, mut lines) = (None, Vec::new());
        loop {
            let mut line = Vec::new();
            from.read_until(b'\n', &mut line).await.map_err(Why::Io)?;
            if line.last() != Some(&b'\n') {
                let is_too_long = from.limit() == 0;
                return Err(if is_too_long { Why::NotSmtp } else { Why::Io(ErrorKind::UnexpectedEof.into()) });
            }
            let (code, is_last, text) = parse(&line).ok_or(Why::NotSmtp)?;
            if *first.get_or_insert(code) != code {
                return Err(Why::NotSmtp);
            }
            lines.push(text);
            if is_last {
                let enhanced = lines.first().and_then(|line| enhanced(line)).filter(|found| found.0 == code / 100);
                return Ok(Self { code, enhanced, lines });
            }
        }
    }

    /// The keywords of an answer to EHLO, with their parameters (RFC 5321, section 4.1.1.1).
    pub(super) fn keywords(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        self.lines.iter().skip(1).filter_map(|line| {
            let mut words = line.split_ascii_whitespace().map(str::to_ascii_uppercase);
            Some((words.next()?, words.collect()))
        })
    }
}

/// For people.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code {}", self.code)?;
        self.enhanced.map_or(Ok(()), |(class, subject, detail)| write!(f, " {class}.{subject}.{detail}"))
    }
}

/// The code of a line, whether the line is the last, and its text.
fn parse(line: &[u8]) -> Option<(u16, bool, String)> {
    let line = line.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (digits, rest) = line.split_at_checked(3)?;
    let code = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    let code: u16 = code.parse().ok().filter(|code| (200..600).contains(code))?;
    let (is_last, text) = match rest.split_first() {
        None => (true, rest),
        Some((b' ', text)) => (true, text),
        Some((b'-', text)) => (false, text),
        Some(_) => return None,
    };
    Some((code, is_last, String::from_utf8_lossy(text).into_owned()))
}

fn enhanced(line: &str) -> Option<Enhanced> {
    let number = |text: &str| text.parse().ok().filter(|_| text.len() <= 3 && text.bytes().all(|b| b.is_ascii_digit()));
    let mut parts = line.split_ascii_whitespace().next()?.split('.');
    let found = (number(parts.next()?)?, number(parts.next()?)?, number(parts.next()?)?);
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<Reply, Why> {
        Reply::read(&mut &*bytes).await
    }

    #[tokio::test]
    async fn codes_are_read_and_the_words_are_not_shown() {
        for (bytes, shown) in [
            (&b"250 ok\r\n"[..], "code 250"),
            (b"250\r\n", "code 250"),
            (b"550 5.1.1 no such Canary\r\n", "code 550 5.1.1"),
            (b"550-5.1.1 no such\r\n550 5.1.1 Canary\r\n", "code 550 5.1.1"),
            (b"450 5.1.1 another class\r\n", "code 450"),
            (b"550 1.2.3.4\r\n", "code 550"),
            (b"452 4.2.2\n", "code 452 4.2.2"),
            (b"554 \xff\xfe\r\n", "code 554"),
        ] {
            assert_eq!(read(bytes).await.unwrap().to_string(), shown);
        }
    }

    #[tokio::test]
    async fn what_is_no_answer_is_none() {
        let endless = [b"250-".as_slice(), &vec![b'x'; 100_000], b"\r\n250 ok\r\n"].concat();
        let many = b"250-x\r\n".repeat(20_000);
        for bytes in [
            &endless[..],
            &many,
            b"HTTP/1.1 200\r\n",
            b"25 ok\r\n",
            b"650 ok\r\n",
            b"250ok\r\n",
            b"250-a\r\n350 b\r\n",
            b"\r\n",
        ] {
            assert!(
                matches!(read(bytes).await, Err(Why::NotSmtp)),
                "{}",
                String::from_utf8_lossy(bytes.get(..20).unwrap_or(bytes))
            );
        }
        for cut in [&b""[..], b"2", b"250 ok", b"250-ok\r\n"] {
            assert!(matches!(read(cut).await, Err(Why::Io(_))));
        }
    }

    #[tokio::test]
    async fn keywords_stand_behind_the_greeting() {
        let reply = read(b"250-SIZE 5 is my name\r\n250- \r\n250-size 100\r\n250 AUTH PLAIN login\r\n").await.unwrap();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let expected = [("SIZE".to_owned(), words(&["100"])), ("AUTH".to_owned(), words(&["PLAIN", "LOGIN"]))];
        assert_eq!(reply.keywords().collect::<Vec<_>>(), expected);
    }
}
