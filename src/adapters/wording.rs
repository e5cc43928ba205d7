//! What a document's templates give in a folder, here or on another machine, and what is said where they give nothing that can be
//! used.

use super::candidate::MAX_NAMES;
use super::{Item, Outcome};
use crate::config::SidecarConfig;
use crate::failure::Code;
use crate::name;
use crate::template::{Context, TemplateError};

/// An option cannot be filled in.
pub(super) fn not_filled_in(destination: &str, option: &str, error: &TemplateError) -> Outcome {
    let reason = format!("destination `{destination}`: `{option}` cannot be filled in for this document: {error}");
    Outcome::permanent("not_filled_in", reason)
}

/// Every name is taken.
pub(super) fn no_name_left(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: {MAX_NAMES} files of the document's name are there: make `file_name` more specific"
    );
    Outcome::permanent("no_name_left", reason)
}

/// The server gives files other names than they are to have.
pub(super) fn put_elsewhere(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: its server says that the document has its name, and puts a file of such a name elsewhere: look in \
         its folder for a file with a part of the name, remove it, let `file_name` and `sidecar_name` give letters, digits, - and _ \
         only, and run docsyncd retry"
    );
    Outcome::permanent("put_elsewhere", reason)
}

/// The name and the text of the sidecar beside a PDF of this name.
pub(super) fn sidecar(
    destination: &str,
    config: &SidecarConfig,
    item: &Item,
    pdf_name: &str,
) -> Result<(String, String), Outcome> {
    let context = Context::new(&item.metadata).with_pdf(pdf_name, &item.pdf, &item.key);
    let name = config.name.render(&context).map_err(|error| not_filled_in(destination, "sidecar_name", &error))?;
    let name = name::file_name(&name);
    if name.eq_ignore_ascii_case(pdf_name) {
        let reason = "`sidecar_name` gives the PDF's own name: give it another extension";
        return Err(Outcome::permanent("sidecar_name", format!("destination `{destination}`: {reason}")));
    }
    let text = config.content.render(&context).map_err(|error| not_filled_in(destination, "sidecar", &error))?;
    Ok((name, text))
}

/// Another document's sidecar has the name; an error where that of the PDF's next name would have the same.
pub(super) fn sidecar_is_taken(
    destination: &str,
    config: &SidecarConfig,
    item: &Item,
    name: &str,
    next: &str,
) -> Result<(), Outcome> {
    if sidecar(destination, config, item, next)?.0 != name {
        return Ok(());
    }
    let reason = format!(
        "destination `{destination}`: another sidecar of the same name has not been imported yet; \
         put {{{{ file_stem }}}} into `sidecar_name` to give each document its own"
    );
    Err(Outcome::transient(Code::word("sidecar_in_the_way"), reason))
}
