//! GDT fields in a sidecar: each line of the template is `FFFFvalue`, where the template itself gives the field.
//!
//! A mark precedes each value while its position is unknown.

use super::{BEGIN, TemplateError};
use crate::formats::sidecar::{field_of, lines};

/// The text without its marks. The error names the first line that does not begin with a field.
pub(super) fn settle(marked: &str) -> Result<String, TemplateError> {
    match lines(marked).find(|(_, line)| field_of(line).is_none()) {
        None => Ok(marked.replace(BEGIN, "")),
        Some((line, _)) => Err(TemplateError::new(format!(
            "line {line} of what it gives does not begin with the four digits of a field of GDT, as in 3101{{{{ patient.lastName }}}}"
        ))),
    }
}
