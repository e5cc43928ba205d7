//! What a document's templates give in a folder, here or on another machine, and the messages if they give nothing
//! usable.

use std::borrow::Cow;

use super::candidate::{self, MAX_NAMES};
use super::{Item, Outcome};
use crate::destinations::SidecarConfig;
use crate::domain::document::Metadata;
use crate::domain::failure::Code;
use crate::domain::name;
use crate::formats::sidecar::Fault;
use crate::formats::template::{Changed, Context, Template, TemplateError};
use crate::patients::Unmatched;

/// An option cannot be filled in. If it would change the patient's number, a person decides.
pub(super) fn not_filled_in(destination: &str, option: &str, error: &TemplateError) -> Outcome {
    if error.changed().is_some_and(|changed| changed.is_number) {
        return Outcome::NeedsPerson(Unmatched::NotHeld);
    }
    let reason = format!("destination `{destination}`: `{option}` cannot be filled in for this document: {error}");
    match error.changed() {
        Some(_) => Outcome::Own { code: Code::word("not_filled_in"), reason },
        None => Outcome::permanent("not_filled_in", reason),
    }
}

/// The destination's format cannot contain the patient's identifier unchanged.
pub(super) fn not_said(destination: &str, metadata: &Metadata) -> Outcome {
    let changed = Changed { is_number: metadata.number.is_some() };
    not_filled_in(destination, "patient_id", &changed.into())
}

/// The identifier of the patient in the destination.
pub(super) fn patient_id(destination: &str, template: &Template, metadata: &Metadata) -> Result<String, Outcome> {
    let id = template.render(&Context::new(metadata));
    let id = id.map_err(|error| not_filled_in(destination, "patient_id", &error))?.trim().to_owned();
    if id.is_empty() {
        let reason = format!(
            "destination `{destination}`: the letter tells no number of its patient (`patient_id`): complete the patient's record, then \
             run `docsyncd retry`"
        );
        return Err(Outcome::Own { code: Code::word("patient_unknown"), reason });
    }
    // Values contain no control characters, so the template's own text does: the destination would read it as another
    // line.
    if id.chars().any(char::is_control) {
        let reason =
            format!("destination `{destination}`: `patient_id` gives more than one line, or a control character");
        return Err(Outcome::permanent("not_filled_in", reason));
    }
    Ok(id)
}

/// Every name is taken.
pub(super) fn no_name_left(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: {MAX_NAMES} files of the document's name are there: make `file_name` more specific"
    );
    Outcome::permanent("no_name_left", reason)
}

/// The server gives files other names than it was told.
pub(super) fn put_elsewhere(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: its server says that the document has its name, and puts a file of such a name elsewhere: look in \
         its folder for a file with a part of the name, remove it, let `file_name` and `sidecar_name` give letters, digits, - and _ \
         only, and run docsyncd retry"
    );
    Outcome::permanent("put_elsewhere", reason)
}

/// The metadata for the PDF's name. If the sidecar contains that name, the metadata is limited to characters that the
/// sidecar can have.
pub(super) fn for_name<'m>(sidecar: Option<&SidecarConfig>, metadata: &'m Metadata) -> Cow<'m, Metadata> {
    match sidecar.filter(|sidecar| sidecar.names_the_pdf()) {
        Some(sidecar) => sidecar.form.adapted(metadata),
        None => Cow::Borrowed(metadata),
    }
}

/// The name of the sidecar beside a PDF of this name; `number` if names are counted.
pub(super) fn sidecar_name(
    destination: &str,
    config: &SidecarConfig,
    item: &Item,
    pdf_name: &str,
    number: u16,
) -> Result<String, Outcome> {
    let context = Context::new(&item.metadata).with_pdf(pdf_name, &item.pdf, &item.key).with_number3(number);
    let name = config.name.render(&context).map_err(|error| not_filled_in(destination, "sidecar_name", &error))?;
    let name = name::file_name(&name);
    if name.eq_ignore_ascii_case(pdf_name) {
        let reason = "`sidecar_name` gives the PDF's own name: give it another extension";
        return Err(Outcome::permanent("sidecar_name", format!("destination `{destination}`: {reason}")));
    }
    Ok(name)
}

/// The content of the sidecar of a PDF with this path below the destination's folder.
pub(super) fn sidecar_content(
    destination: &str,
    config: &SidecarConfig,
    item: &Item,
    path: &str,
) -> Result<Vec<u8>, Outcome> {
    let (_, pdf_name) = candidate::split(path);
    let metadata = config.form.adapted(&item.metadata);
    let mut context = Context::new(&metadata).with_pdf(pdf_name, &item.pdf, &item.key);
    if let Some(visible_path) = &config.visible_path {
        context = context.with_visible_file(&visible_file(visible_path, path));
    }
    let text = config.content.render(&context).map_err(|error| not_filled_in(destination, "sidecar", &error))?;
    let held = context.held(&text, |identifier| config.form.charset.keeps(identifier));
    held.map_err(|changed| not_filled_in(destination, "sidecar", &changed.into()))?;
    config.form.bytes(&text).map_err(|fault| {
        let charset = config.form.charset;
        let (code, what) = match &fault {
            Fault::Lacks { .. } => {
                let lacking = config.content.variables_with(&context, |text| !charset.has(text));
                let lacking: Vec<String> = lacking.iter().map(|path| format!("`{path}`")).collect();
                let of = if lacking.is_empty() { String::new() } else { format!(", in {}", lacking.join(", ")) };
                ("not_in_encoding", format!("{fault}{of}: correct it there, or choose another `sidecar_encoding`"))
            }
            Fault::ValueTooLong { .. } | Fault::FileTooLong { .. } | Fault::NoField { .. } => {
                ("not_in_gdt", format!("{fault}: let `sidecar` shorten it"))
            }
        };
        let reason = format!("destination `{destination}`: `sidecar` cannot be written in {}: {what}", charset.word());
        Outcome::Own { code: Code::word(code), reason }
    })
}

/// The sidecar would prove its letter, or refuse it, before the software has seen it.
pub(super) fn says_what_is_waited_for(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: with what is known of this letter, `sidecar` itself says what `confirm` or `confirm_failed` waits \
         for: change the template"
    );
    Outcome::Own { code: Code::word("not_filled_in"), reason }
}

/// A path below the destination's folder as the practice's computers see it.
fn visible_file(folder: &str, path: &str) -> String {
    let separator = if folder.contains('/') && !folder.contains('\\') { "/" } else { "\\" };
    format!("{}{separator}{}", folder.trim_end_matches(['/', '\\']), path.replace('/', separator))
}

/// Another document's sidecar has the name. An error if the PDF's next name would give the sidecar the same name.
pub(super) fn sidecar_is_taken(
    destination: &str,
    config: &SidecarConfig,
    item: &Item,
    name: &str,
    next: &str,
) -> Result<(), Outcome> {
    if sidecar_name(destination, config, item, next, 1)? != name {
        Ok(())
    } else {
        Err(sidecar_in_the_way(destination))
    }
}

/// The delivery waits until an importer took the sidecar that has its name.
pub(super) fn sidecar_in_the_way(destination: &str) -> Outcome {
    let reason = format!(
        "destination `{destination}`: another sidecar of the same name has not been imported yet; \
         put {{{{ file_stem }}}} or {{{{ number3 }}}} into `sidecar_name` to give each document its own"
    );
    Outcome::transient(Code::word("sidecar_in_the_way"), reason)
}
