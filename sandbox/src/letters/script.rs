//! The form of what letters say; `french` and `english` hold the words.

/// All words of one language.
pub(super) struct Language {
    pub code: &'static str,
    pub months: [&'static str; 12],
    /// Day, month and year are put for `{d}`, `{m}`, `{y}`.
    pub date: &'static str,
    /// `{town}` and `{date}`.
    pub dateline: &'static str,
    pub page: &'static str,
    pub foot: &'static str,
    pub dentist: &'static str,
    pub patient: &'static str,
    pub born: &'static str,
    pub teeth: &'static str,
    pub unnamed: &'static str,
    pub tooth: &'static str,
    pub picture: &'static str,
    pub greetings: &'static [&'static str],
    pub signed: &'static str,
    pub colleagues: &'static [&'static str],
    pub laboratories: &'static [&'static str],
    pub towns: &'static [&'static str],
    pub to_patient: &'static str,
    pub whom_it_concerns: &'static str,
    /// By type; the last one serves documents without a known type.
    pub scripts: &'static [Script],
}

/// Whom a letter is addressed to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipient {
    Colleague,
    Laboratory,
    Patient,
    Whom,
}

/// What letters of one type say.
pub(super) struct Script {
    pub document_type: &'static str,
    pub title: &'static str,
    pub recipient: Recipient,
    pub salutation: &'static str,
    pub opening: &'static str,
    pub sections: &'static [Section],
    pub table: Option<Grid>,
    /// Up to so many teeth are described one by one; this is what makes some letters long.
    pub teeth: u32,
    pub radiograph: bool,
}

/// A heading with some of these sentences below it.
pub(super) struct Section {
    pub heading: &'static str,
    pub sentences: &'static [&'static str],
    pub count: u32,
}

/// A table with some of these rows.
pub(super) struct Grid {
    pub heading: &'static str,
    pub shares: &'static [f32],
    pub head: &'static [&'static str],
    pub rows: &'static [&'static [&'static str]],
    pub count: u32,
}

impl Language {
    pub fn script(&self, document_type: Option<&str>) -> Option<&'static Script> {
        let known = self.scripts.iter().find(|script| Some(script.document_type) == document_type);
        known.or_else(|| self.scripts.last())
    }
}
