//! What a mail server answers, one reply after the other.

use docsyncd::system::smtp::{Reply, Why};
use futures_util::FutureExt as _;

/// The longest reply; bytes.
const MOST: usize = 64 * 1024;

/// Whatever comes is a reply whose words stay with it, or none.
pub fn check(input: &[u8]) {
    let mut rest = input;
    loop {
        let before = rest;
        match Reply::read(&mut rest).now_or_never().expect("all of it is there") {
            Ok(reply) => reply_is_what_was_said(&reply, &before[..before.len() - rest.len()]),
            Err(Why::NotSmtp | Why::Io(_)) => return assert!(before.len() - rest.len() <= MOST, "too much was read"),
            Err(why) => panic!("{why:?}"),
        }
    }
}

/// A second opinion (RFC 5321, section 4.2).
fn reply_is_what_was_said(reply: &Reply, said: &[u8]) {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said.lines().collect();
    assert!(said.ends_with('\n') && said.len() <= 3 * MOST, "{said:?}");
    assert!((200..600).contains(&reply.code));
    assert!(lines.iter().all(|line| line.starts_with(&reply.code.to_string())), "{said:?}");
    let (last, before) = lines.split_last().expect("a line");
    assert!(before.iter().all(|line| line.as_bytes().get(3) == Some(&b'-')) && last.as_bytes().get(3) != Some(&b'-'));
    if let Some((class, ..)) = reply.enhanced {
        assert_eq!(class, reply.code / 100, "a class of its own: {said:?}");
    }
    let shown = reply.to_string();
    let is_code = |c: char| c.is_ascii_digit() || matches!(c, '.' | ' ');
    assert!(shown.strip_prefix("code ").is_some_and(|code| code.chars().all(is_code)), "its words: {shown}");
}
