//! `[patients]`: the practice's own list. It exists if one of its keys differs from its default.

use std::path::PathBuf;

use jiff::fmt::strtime;

use super::build::{At, Builder};
use super::layers::Merged;
use super::report::Origin;
use super::settings::{self, Section as _};
use super::validated::PatientsEncoding;
use super::value;

const SECTION: &str = "patients";

/// `[patients]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatientsConfig {
    /// The file that the practice's software exports.
    pub file: PathBuf,
    /// Name of the column with the patient's number.
    pub number: String,
    /// Name of the column with the last name.
    pub last_name: String,
    /// Name of the column with the first name.
    pub first_name: String,
    /// Name of the column with the date of birth.
    pub date_of_birth: String,
    /// Name of the column with a second last name.
    pub former_name: Option<String>,
    /// The format of dates, for strftime; `None`: recognised from the file.
    pub date_format: Option<String>,
    /// The encoding of the file, if it has no byte order mark.
    pub encoding: PatientsEncoding,
    /// The separator of values; `None`: recognised from the first line.
    pub delimiter: Option<u8>,
    /// Whether the numbers are sent to the cloud service.
    pub push: bool,
}

/// Whether the configuration has a list of patients, valid or not.
pub fn is_given(merged: &Merged) -> bool {
    merged.schema.keys_of(SECTION).any(|key| merged.is_own(key, None))
}

/// The list; `None` if there is none, or it has errors.
pub fn build(builder: &mut Builder<'_>) -> Result<Option<PatientsConfig>, &'static str> {
    let raw = settings::Patients::read(builder.merged, None)?;
    if !is_given(builder.merged) {
        return Ok(None);
    }
    let at = &mut builder.section(SECTION);
    let mut is_sound = true;
    let names = [
        ("number", &raw.number),
        ("last_name", &raw.last_name),
        ("first_name", &raw.first_name),
        ("date_of_birth", &raw.date_of_birth),
        ("former_name", &raw.former_name),
    ];
    let has_file = ("file", raw.file.is_some());
    let has_names = names.into_iter().take(4).map(|(key, name)| (key, name.is_some()));
    for (key, _) in [has_file].into_iter().chain(has_names).filter(|(_, is_there)| !is_there) {
        is_sound = false;
        missing(key, at);
    }
    for (index, (key, name)) in names.iter().enumerate() {
        let before = names.iter().take(index).find(|(_, other)| name.is_some() && other == name);
        if let Some((other, _)) = before {
            is_sound = false;
            let fix = "Each needs a column of its own. If the export has last and first name in one column, make one that has two.";
            at.error(key, &format!("names the column of `patients.{other}`"), fix);
        }
    }
    let date_format = match raw.date_format.trim() {
        format if format.eq_ignore_ascii_case("auto") => None,
        format if is_date_format(format) => Some(format.to_owned()),
        _ => {
            is_sound = false;
            let fix = "Write \"auto\", \"%d/%m/%Y\", \"%d.%m.%Y\", \"%m/%d/%Y\", \"%Y-%m-%d\" or \"%Y%m%d\".";
            at.error("date_format", "is no form of a whole date with a year of four digits", fix);
            None
        }
    };
    let file = raw.file.map(|path| at.path("file", &path));
    let (Some(file), Some(number), Some(last_name), Some(first_name), Some(date_of_birth)) =
        (file, raw.number, raw.last_name, raw.first_name, raw.date_of_birth)
    else {
        return Ok(None);
    };
    let config = PatientsConfig {
        file,
        number,
        last_name,
        first_name,
        date_of_birth,
        former_name: raw.former_name,
        date_format,
        encoding: raw.encoding,
        delimiter: raw.delimiter.bytes().next().filter(|_| raw.delimiter != "auto"),
        push: raw.push,
    };
    Ok(is_sound.then_some(config))
}

/// Reports a required key of a list as missing, unless its value was already rejected.
fn missing(name: &str, at: &mut At<'_, '_>) {
    let Some(key) = at.builder.merged.schema.find(SECTION, name) else { return };
    if !at.builder.report.is_wrong(key.path) {
        let fix = format!("Below [{SECTION}] write {} ({}).", value::example(key), key.doc);
        at.builder.report.error(Origin::Default, format!("`{}` is missing", key.path), fix);
    }
}

/// Whether a day in this format is read again as the same day, with all digits of its year.
fn is_date_format(format: &str) -> bool {
    let day = jiff::civil::date(1987, 12, 30);
    let written = strtime::format(format, day.at(0, 0, 0, 0));
    written.is_ok_and(|text| {
        text.contains("1987")
            && strtime::parse(format, &text).and_then(|read| read.to_date()).is_ok_and(|read| read == day)
    })
}
