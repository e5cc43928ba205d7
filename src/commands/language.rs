//! The language for a person: `--lang`, otherwise the setting `language`, otherwise the system's.

use crate::commands::cli::Spoken;
use crate::config::{ConfigError, Loaded};
use crate::formats::language::Language;

/// The language for this command and this configuration.
pub(super) fn of(spoken: Spoken, loaded: &Loaded) -> Language {
    spoken.lang.or(loaded.config.language).unwrap_or_else(of_system)
}

/// [`of`], if there may be no configuration.
pub(super) fn of_loaded(spoken: Spoken, loaded: &Result<Loaded, ConfigError>) -> Language {
    match loaded {
        Ok(loaded) => of(spoken, loaded),
        Err(_) => spoken.lang.unwrap_or_else(of_system),
    }
}

/// The language of an answer. What a program reads is the same on every machine.
pub(super) fn of_answer(spoken: Spoken, json: bool, loaded: &Result<Loaded, ConfigError>) -> Language {
    if json { spoken.lang.unwrap_or_default() } else { of_loaded(spoken, loaded) }
}

/// The language of this user; English for a language that docsyncd does not speak.
#[cfg(unix)]
pub(super) fn of_system() -> Language {
    // The first that is not empty counts (POSIX, "Environment Variables", 8.2).
    let values = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(std::env::var_os);
    let locale = values.map(|value| value.to_string_lossy().into_owned()).find(|value| !value.is_empty());
    locale.as_deref().and_then(Language::parse).unwrap_or_default()
}

/// The display language of Windows for this user.
#[cfg(windows)]
pub(super) fn of_system() -> Language {
    // SAFETY: it takes nothing and returns a number.
    let language = unsafe { windows_sys::Win32::Globalization::GetUserDefaultUILanguage() };
    // The lower ten bits are the language, the others the country ("Language Identifiers").
    match language & 0x3ff {
        0x07 => Language::German,
        0x0c => Language::French,
        _ => Language::English,
    }
}
