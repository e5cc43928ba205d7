//! Habits of the server that a fault changes for the requests it hits.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::quirks::Quirks;

/// A change to the [`Quirks`] for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Habit {
    /// [`Quirks::pdf_not_rendered`]
    PdfNotRendered,
    /// [`Quirks::pdf_elsewhere`]
    PdfElsewhere,
    /// [`Quirks::pdf_url_expires`], for the request that shows the address, not for that of the file.
    PdfUrlExpires(Duration),
    /// [`Quirks::tokens_expired`], for [`crate::Route::Token`].
    TokensExpired,
    /// [`Quirks::page_shift`]. Hits any page of a list, but changes only pages after the first.
    PageShift(i64),
    /// [`Quirks::touch_updated_at`]
    TouchUpdatedAt,
    /// [`Quirks::stays_listed`]
    StaysListed,
    /// Any quirks, as a merge patch over their JSON form; see [`Habit::quirks`].
    Quirks(QuirksPatch),
}

/// Checked changes to the quirks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuirksPatch(Map<String, Value>);

impl QuirksPatch {
    pub(super) fn members(&self) -> &Map<String, Value> {
        &self.0
    }
}

impl Habit {
    /// Any quirks, by the names and values of their JSON form.
    ///
    /// # Errors
    /// When a member is no quirk or its value cannot be one; the text names it.
    pub fn quirks(changes: Map<String, Value>) -> Result<Self, String> {
        if changes.is_empty() {
            return Err("no quirk is named".to_owned());
        }
        Quirks::default().merged(&changes)?;
        Ok(Self::Quirks(QuirksPatch(changes)))
    }

    /// Changes the quirks of a request.
    pub(crate) fn change(&self, quirks: &mut Quirks) {
        match self {
            Self::PdfNotRendered => quirks.pdf_not_rendered = true,
            Self::PdfElsewhere => quirks.pdf_elsewhere = true,
            Self::PdfUrlExpires(after) => quirks.pdf_url_expires = Some(*after),
            Self::TokensExpired => quirks.tokens_expired = true,
            Self::PageShift(items) => quirks.page_shift = *items,
            Self::TouchUpdatedAt => quirks.touch_updated_at = true,
            Self::StaysListed => quirks.stays_listed = true,
            Self::Quirks(patch) => {
                // It was checked when it was made, and each value stands for itself, so it cannot fail.
                if let Ok(changed) = quirks.merged(&patch.0) {
                    *quirks = changed;
                }
            }
        }
    }
}
