//! The decoded body of an answer (RFC 9110, section 8.4). A server may compress it whatever the request accepts, and in
//! several gzip members: all are read. A truncated body is an error.

use std::io::Write as _;

use flate2::write::MultiGzDecoder;
use hyper::body::Bytes;
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use thiserror::Error;

/// The body of an answer, read piece by piece.
#[derive(Debug)]
pub struct Body {
    response: Response,
    coding: Coding,
    /// Bytes that have arrived and are not decoded yet.
    encoded: Bytes,
}

/// Why a body cannot be read further.
#[derive(Debug, Error)]
pub enum BodyError {
    /// The connection failed.
    #[error(transparent)]
    Connection(#[from] reqwest::Error),
    /// The compressed data is damaged or truncated.
    #[error("its compression is broken")]
    Broken,
    /// The encoding was not requested.
    #[error("it is compressed in a way that was not asked for (Content-Encoding)")]
    Unknown,
}

#[derive(Debug)]
enum Coding {
    None,
    /// `None` before the first byte and after the last.
    Gzip(Option<Box<MultiGzDecoder<Vec<u8>>>>),
    Unknown,
}

impl Coding {
    /// A name that is no compression is ignored: S3 keeps whatever an uploader wrote, such as `base64`.
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(CONTENT_ENCODING).into_iter();
        let text = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect::<Vec<_>>().join(",");
        let names = text.split(',').map(|name| name.trim().to_ascii_lowercase());
        names.fold(Self::None, |before, name| match (before, name.as_str()) {
            // Both names mean the same (section 8.4.1.3).
            (Self::None, "gzip" | "x-gzip") => Self::Gzip(None),
            (_, "gzip" | "x-gzip" | "deflate" | "br" | "zstd" | "compress" | "x-compress") => Self::Unknown,
            (before, _) => before,
        })
    }
}

impl Body {
    /// The body of this answer.
    pub fn of(response: Response) -> Self {
        let coding = Coding::of(response.headers());
        Self { response, coding, encoded: Bytes::new() }
    }

    /// The length in bytes, if the server declares it. Unknown for a compressed body, whose declared length is the
    /// compressed one.
    pub fn length(&self) -> Option<u64> {
        self.response.content_length().filter(|_| matches!(self.coding, Coding::None))
    }

    /// The next bytes, decoded from at most tens of kilobytes; `None` at the end.
    ///
    /// # Errors
    /// [`BodyError`] if the rest cannot be read.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            if self.encoded.is_empty() {
                match (self.response.chunk().await?, &mut self.coding) {
                    (Some(chunk), Coding::None) => return Ok(Some(chunk)),
                    (Some(chunk), _) => self.encoded = chunk,
                    (None, Coding::Gzip(decoder)) => return decoder.take().map(|decoder| last(*decoder)).transpose(),
                    (None, _) => return Ok(None),
                }
                continue;
            }
            let Coding::Gzip(decoder) = &mut self.coding else { return Err(BodyError::Unknown) };
            let decoder = decoder.get_or_insert_with(|| Box::new(MultiGzDecoder::new(Vec::new())));
            match decoder.write(&self.encoded) {
                Ok(read @ 1..) => drop(self.encoded.split_to(read)),
                Ok(0) | Err(_) => return Err(BodyError::Broken),
            }
            let decoded = std::mem::take(decoder.get_mut());
            if !decoded.is_empty() {
                return Ok(Some(decoded.into()));
            }
        }
    }
}

/// The rest that the decoder still holds; possibly empty.
fn last(decoder: MultiGzDecoder<Vec<u8>>) -> Result<Bytes, BodyError> {
    decoder.finish().map(Bytes::from).map_err(|_| BodyError::Broken)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    /// The decoded body, or the error; and the size of the largest piece.
    async fn read(encodings: &[&str], body: Vec<u8>) -> (Result<Vec<u8>, String>, usize) {
        let mut answer = hyper::Response::new(body);
        for encoding in encodings {
            answer.headers_mut().append(CONTENT_ENCODING, encoding.parse().unwrap());
        }
        let mut body = Body::of(answer.into());
        let (mut whole, mut largest) = (Vec::new(), 0);
        loop {
            match body.chunk().await {
                Ok(Some(chunk)) => {
                    largest = largest.max(chunk.len());
                    whole.extend_from_slice(&chunk);
                }
                Ok(None) => return (Ok(whole), largest),
                Err(error) => return (Err(error.to_string()), largest),
            }
        }
    }

    #[tokio::test]
    async fn all_parts_of_what_is_compressed_are_read() {
        let two = [packed(b"%PDF-1.7 one "), packed(b"and two")].concat();
        for encodings in
            [&["gzip"][..], &["GZIP"], &["x-gzip"], &["identity, X-Gzip"], &["", "gzip"], &["gzip", "base64"]]
        {
            assert_eq!(read(encodings, two.clone()).await.0.unwrap(), b"%PDF-1.7 one and two", "{encodings:?}");
            assert_eq!(read(encodings, Vec::new()).await.0.unwrap(), b"", "an empty body is no error");
        }
        for encodings in [&[][..], &["identity"], &["utf-8"], &["base64", "Binary"]] {
            assert_eq!(read(encodings, two.clone()).await.0.unwrap(), two, "{encodings:?}");
        }
    }

    #[tokio::test]
    async fn what_breaks_off_or_is_damaged_is_a_failure_wherever_that_is() {
        let two = [packed(b"%PDF-1.7 one "), packed(&b"and two".repeat(100))].concat();
        for length in 1..two.len() {
            let is_whole = length == packed(b"%PDF-1.7 one ").len();
            assert_eq!(read(&["gzip"], two[..length].to_vec()).await.0.is_ok(), is_whole, "{length}");
        }
        for at in [0, 12, two.len() - 3] {
            let mut damaged = two.clone();
            damaged[at] ^= 0xff;
            assert_eq!(read(&["gzip"], damaged).await.0.unwrap_err(), "its compression is broken", "{at}");
        }
        for more in [&b"more"[..], b"%PDF-1.7"] {
            assert!(read(&["gzip"], [two.as_slice(), more].concat()).await.0.is_err());
        }
    }

    #[tokio::test]
    async fn what_was_not_asked_for_is_a_failure_in_our_own_words() {
        for encodings in [&["br"][..], &["ZSTD"], &["deflate"], &["compress"], &["gzip, gzip"], &["br", "gzip"]] {
            let (read, _) = read(encodings, b"%PDF-1.7 Canary".to_vec()).await;
            let says = "it is compressed in a way that was not asked for (Content-Encoding)";
            assert_eq!(read.unwrap_err(), says, "{encodings:?}");
        }
    }

    #[tokio::test]
    async fn little_is_in_memory_at_a_time_however_much_it_becomes() {
        let bomb = packed(&vec![b' '; 30 << 20]);
        let (whole, largest) = read(&["gzip"], bomb).await;
        assert_eq!(whole.unwrap().len(), 30 << 20);
        assert!(largest <= 128 << 10, "{largest}");
    }
}
