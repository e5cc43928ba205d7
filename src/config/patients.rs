//! `[patients]`: the practice's own list. It exists if one of its keys differs from its default.

use std::path::PathBuf;

use jiff::fmt::strtime;

use super::build::Builder;
use super::layers::Merged;
use super::report::Origin;
use super::schema;
use super::settings;
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

/// `patients.encoding`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatientsEncoding {
    /// UTF-8 if it is valid, otherwise windows-1252.
    Auto,
    /// RFC 3629
    Utf8,
    /// Little-endian, unless a byte order mark says otherwise.
    Utf16,
    /// Called ANSI by Windows in Western Europe. It includes ISO 8859-1.
    Windows1252,
    /// With the euro sign and œ.
    Iso8859_15,
    /// DOS in the United States.
    Cp437,
    /// DOS in Western Europe.
    Cp850,
}

/// Whether the configuration has a list of patients, valid or not.
pub fn is_given(merged: &Merged) -> bool {
    let is_own = |key: &schema::Key| {
        let value = merged.get(key, None).map(|value| value.kind.to_string());
        value.is_some() && value.as_deref() != key.default
    };
    schema::keys_of(SECTION).any(is_own)
}

/// The list; `None` if there is none, or it has errors.
pub fn build(builder: &mut Builder<'_>) -> Result<Option<PatientsConfig>, &'static str> {
    let raw = settings::Patients::read(builder.merged, None)?;
    if !is_given(builder.merged) {
        return Ok(None);
    }
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
        missing(key, builder);
    }
    for (index, (key, name)) in names.iter().enumerate() {
        let before = names.iter().take(index).find(|(_, other)| name.is_some() && other == name);
        if let Some((other, _)) = before {
            is_sound = false;
            let fix = "Each needs a column of its own. If the export has last and first name in one column, make one that has two.";
            builder.error(SECTION, None, key, &format!("names the column of `patients.{other}`"), fix);
        }
    }
    let date_format = match raw.date_format.as_deref().map(str::trim) {
        None => None,
        Some(format) if format.eq_ignore_ascii_case("auto") => None,
        Some(format) if is_date_format(format) => Some(format.to_owned()),
        Some(_) => {
            is_sound = false;
            let fix = "Write \"auto\", \"%d/%m/%Y\", \"%d.%m.%Y\", \"%m/%d/%Y\", \"%Y-%m-%d\" or \"%Y%m%d\".";
            builder.error(SECTION, None, "date_format", "is no form of a whole date with a year of four digits", fix);
            None
        }
    };
    let file = raw.file.map(|path| builder.path(SECTION, None, "file", &path));
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
        encoding: encoding(raw.encoding.as_deref()),
        delimiter: raw.delimiter.and_then(|delimiter| delimiter.bytes().next().filter(|_| delimiter != "auto")),
        push: raw.push.unwrap_or(false),
    };
    Ok(is_sound.then_some(config))
}

/// Reports a required key of a list as missing, unless its value was already rejected.
fn missing(name: &str, builder: &mut Builder<'_>) {
    let Some(key) = schema::find(SECTION, name) else { return };
    if !builder.report.is_wrong(key.path) {
        let fix = format!("Below [{SECTION}] write {} ({}).", value::example(key), key.doc);
        builder.report.error(Origin::Default, format!("`{}` is missing", key.path), fix);
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

fn encoding(word: Option<&str>) -> PatientsEncoding {
    match word {
        Some("utf-8") => PatientsEncoding::Utf8,
        Some("utf-16") => PatientsEncoding::Utf16,
        Some("windows-1252" | "iso-8859-1") => PatientsEncoding::Windows1252,
        Some("iso-8859-15") => PatientsEncoding::Iso8859_15,
        Some("cp437") => PatientsEncoding::Cp437,
        Some("cp850") => PatientsEncoding::Cp850,
        _ => PatientsEncoding::Auto,
    }
}
