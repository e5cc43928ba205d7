//! `docsyncd config show` and `docsyncd config init`.

use std::fs::OpenOptions;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use super::output::{complain, docsyncd, folded, print, print_json, show_table, table, terminal_width};
use super::{Exit, Outcome};
use crate::config::{self, Loaded, Origin, Setting};
use crate::system::readers::{as_whom, current_user};

pub(super) fn show(path: &Path, loaded: &Loaded, json: bool) -> Outcome {
    for warning in &loaded.warnings {
        complain(&format!("warning: {warning}"));
    }
    if json {
        let settings: Vec<_> = loaded
            .effective
            .iter()
            .map(|setting| {
                json!({"key": setting.key, "value": setting.value, "origin": setting.place,
                       "is_default": setting.origin == Origin::Default})
            })
            .collect();
        return print_json(&settings);
    }
    if let Some(width) = terminal_width() {
        return show_table(&folded(&by_section(path, &loaded.effective), Some(width)));
    }
    // One value in each line, for programs such as grep.
    let mut rows = table(&["key", "value", "from"]);
    for setting in &loaded.effective {
        rows.add_row([&setting.key, &setting.value, &setting.place]);
    }
    show_table(&format!("{rows}\n"))
}

/// The settings for a person: by section, with the file's name once.
fn by_section(path: &Path, settings: &[Setting]) -> String {
    let parts = |setting: &Setting| {
        let (section, name) = setting.key.rsplit_once('.').unwrap_or(("", &setting.key));
        (section.to_owned(), name.to_owned())
    };
    let mut text = format!("{}\n", path.display());
    for settings in settings.chunk_by(|a, b| parts(a).0 == parts(b).0) {
        let width = settings.iter().map(|setting| parts(setting).1.chars().count()).max().unwrap_or(0);
        for (index, setting) in settings.iter().enumerate() {
            let (section, name) = parts(setting);
            if index == 0 {
                text.push_str(&format!("\n[{section}]\n"));
            }
            text.push_str(&format!("{name:width$}  {} ({})\n", setting.value, setting.origin));
        }
    }
    text
}

/// Prints the commented file, or writes it to `path`; a file that exists is never overwritten.
pub(super) fn init(path: Option<PathBuf>) -> Outcome {
    let Some(path) = path else {
        let printed = print(config::template());
        if std::io::stdout().is_terminal() {
            complain(&format!(
                "docsyncd: this was printed and written nowhere. docsyncd --config {} config init writes it; docsyncd setup \
                 asks what is needed and writes it, too",
                config::default_path().display()
            ));
        }
        return printed;
    };
    let mut created = Vec::new();
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let missing = folder.ancestors().filter(|above| !above.as_os_str().is_empty());
        created = missing.take_while(|above| !above.exists()).map(absolute).collect();
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}{}", folder.display(), as_whom()))?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).with_context(|| {
        if path.exists() {
            return format!("cannot write {}: it exists already and was left as it is", path.display());
        }
        format!("cannot write {}{}", path.display(), as_whom())
    })?;
    file.write_all(config::template().as_bytes())
        .and_then(|()| file.sync_all())
        .with_context(|| format!("cannot write {}", path.display()))?;
    let written = absolute(&path);
    for folder in created.iter().rev() {
        let whose = current_user().map(|user| format!("; it belongs to {user}")).unwrap_or_default();
        print(&format!("{} created{whose}\n", folder.display()))?;
    }
    let (check, setup) = (docsyncd("check"), docsyncd("setup"));
    print(&format!("{} written: edit it, then run {check} (or {setup}, which asks)\n", written.display()))?;
    Ok(Exit::Done)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
