//! Identifiers: the patient's number and uuids. They arrive unchanged or not at all, because another number is another
//! patient's. What makes words safe for a name, an encoding or an address would repair them.
//!
//! A filter of the administrator is their own will: `| replace("/", "-")` gives a word of theirs. Letter case does not
//! count here, so `| upper` gives an identifier still.

use std::borrow::Cow;

/// An identifier of a document or its patient.
#[derive(Clone)]
pub(super) struct Identifier {
    text: String,
    folded: String,
    is_number: bool,
}

/// A place cannot hold an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} has a character, a length or an end that is not possible here, and an identifier is never changed",
    if *is_number { "the patient's number" } else { "a uuid, or another identifier," }
)]
pub struct Changed {
    /// Whether it is the patient's number: then a person decides.
    pub is_number: bool,
}

impl Identifier {
    pub(super) fn number(number: &str) -> Self {
        Self { text: number.to_owned(), folded: folded(number).into_owned(), is_number: true }
    }

    pub(super) fn other(identifier: &str) -> Self {
        Self { is_number: false, ..Self::number(identifier) }
    }

    /// How often it stands in a folded text.
    fn count(&self, text: &str) -> usize {
        if self.folded.is_empty() { 0 } else { text.matches(self.folded.as_str()).count() }
    }

    fn changed(&self) -> Changed {
        Changed { is_number: self.is_number }
    }
}

/// In lower case. The signs of ohm, kelvin and angstrom stay what they are, although they have a letter's lower case.
fn folded(text: &str) -> Cow<'_, str> {
    let lower = |c: char| match c {
        '\u{2126}' | '\u{212a}' | '\u{212b}' => c.to_string(),
        c => c.to_lowercase().to_string(),
    };
    if text.chars().any(char::is_uppercase) { text.chars().map(lower).collect::<String>().into() } else { text.into() }
}

/// The context's `unchanged`.
pub(super) fn unchanged(identifiers: &[Identifier], before: &str, after: &str) -> Result<(), Changed> {
    if before == after {
        return Ok(());
    }
    let (before, after) = (folded(before), folded(after));
    let lost = identifiers.iter().find(|identifier| identifier.count(&before) > identifier.count(&after));
    lost.map_or(Ok(()), |lost| Err(lost.changed()))
}

/// The context's `held`.
pub(super) fn held(identifiers: &[Identifier], text: &str, holds: impl Fn(&str) -> bool) -> Result<(), Changed> {
    let text = folded(text);
    let lost = identifiers.iter().find(|identifier| identifier.count(&text) > 0 && !holds(&identifier.text));
    lost.map_or(Ok(()), |lost| Err(lost.changed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_letter_case_is_the_same_identifier_and_another_sign_is_not() {
        let is_kept = |number: &str, after: &str| unchanged(&[Identifier::number(number)], number, after).is_ok();
        assert!(is_kept("a12É", "A12é"));
        for (number, after) in [("\u{212a}1", "K1"), ("\u{212b}1", "Å1"), ("\u{2126}1", "Ω1")] {
            assert!(!is_kept(number, after), "{after}");
        }
    }
}
