//! What the page says to a person who has just pressed a button.

use maud::{Markup, html};

use crate::formats::language::Language;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notice {
    Retried,
    RetriedAll,
    Polled,
    Closed,
    Unknown,
    Assigned,
    AssignedOthers,
    NotAssigned,
    SharedNumber,
    NoNumber,
    Undone,
    NotUndone,
    Arrived,
    Mended,
    NotMended,
    Trying,
    Locked,
    FiledAnew,
    SameNumber,
    NotRead,
}

impl Notice {
    const ALL: [Self; 20] = [
        Self::Retried,
        Self::RetriedAll,
        Self::Polled,
        Self::Closed,
        Self::Unknown,
        Self::Assigned,
        Self::AssignedOthers,
        Self::NotAssigned,
        Self::SharedNumber,
        Self::NoNumber,
        Self::Undone,
        Self::NotUndone,
        Self::Arrived,
        Self::Mended,
        Self::NotMended,
        Self::Trying,
        Self::Locked,
        Self::FiledAnew,
        Self::SameNumber,
        Self::NotRead,
    ];

    /// Whether the button did nothing.
    fn is_bad(self) -> bool {
        matches!(
            self,
            Self::Unknown
                | Self::NotAssigned
                | Self::SharedNumber
                | Self::NoNumber
                | Self::NotUndone
                | Self::NotMended
                | Self::SameNumber
                | Self::NotRead
        )
    }

    /// The notice of this word.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == word)
    }

    /// The word in the address; its text's name ends with it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Notice::Retried => "retried",
            Notice::RetriedAll => "retried-all",
            Notice::Polled => "polled",
            Notice::Closed => "closed",
            Notice::Unknown => "unknown",
            Notice::Assigned => "assigned",
            Notice::AssignedOthers => "assigned-others",
            Notice::NotAssigned => "not-assigned",
            Notice::SharedNumber => "shared-number",
            Notice::NoNumber => "no-number",
            Notice::Undone => "undone",
            Notice::NotUndone => "not-undone",
            Notice::Arrived => "arrived",
            Notice::Mended => "mended",
            Notice::NotMended => "not-mended",
            Notice::Trying => "trying",
            Notice::Locked => "locked",
            Notice::FiledAnew => "filed-anew",
            Notice::SameNumber => "same-number",
            Notice::NotRead => "not-read",
        }
    }
}

/// The text about what the button did.
pub(super) fn show(language: Language, notice: Option<Notice>) -> Markup {
    html! {
        // The page shows a decision below, as long as it can be taken back.
        @if let Some(notice) = notice.filter(|notice| *notice != Notice::Assigned) {
            p .notice .bad[notice.is_bad()] role="status" { (language.text(&format!("page-notice-{}", notice.as_str()))) }
        }
    }
}
