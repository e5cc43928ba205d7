//! The pages of docs/fr and docs/de say what the English ones say: the same parts in the same order, the same settings,
//! commands, numbers and links; and what they quote is what the program shows in that language.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of a language, and how it opens and ends a quotation.
const LANGUAGES: [(&str, [char; 2]); 2] = [("fr", ['«', '»']), ("de", ['„', '“'])];
const PAGES: [&str; 5] = ["first-hour", "status-page", "alerts", "patients", "security"];

fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The English page, and the translated one.
fn pairs() -> impl Iterator<Item = (String, String, String)> {
    let page = |name: &str, folder: &str| (read(format!("docs/{name}.md")), read(format!("docs/{folder}/{name}.md")));
    LANGUAGES.iter().flat_map(move |(folder, _)| {
        PAGES.iter().map(move |name| {
            let (english, translated) = page(name, folder);
            (format!("docs/{folder}/{name}.md"), english, translated)
        })
    })
}

/// What a page consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Heading(usize),
    Item,
    Row,
    Code,
    Picture,
    Paragraph,
}

/// The blocks of a page with their text. A fence with a console is none of them: a page has those of its own language.
fn blocks(page: &str) -> Vec<(Block, String)> {
    let mut found: Vec<(Block, String)> = Vec::new();
    let (mut fence, mut is_open) = (None, false);
    for line in page.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            fence = fence.is_none().then_some(kind);
            if fence.is_some_and(|kind| kind != "console") {
                found.push((Block::Code, String::new()));
            }
            is_open = false;
            continue;
        }
        if fence.is_some() {
            if fence != Some("console") {
                let (_, text) = found.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            continue;
        }
        let text = line.trim_start();
        let is_numbered = text.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        let block = match text.chars().next() {
            None => None,
            Some('#') => Some(Block::Heading(text.chars().take_while(|char| *char == '#').count())),
            Some('|') => Some(Block::Row),
            Some('!') => Some(Block::Picture),
            _ if line.starts_with("    ") && (!is_open || found.last().is_some_and(|last| last.0 == Block::Code)) => {
                Some(Block::Code)
            }
            _ if text.starts_with("- ") || is_numbered => Some(Block::Item),
            _ => Some(Block::Paragraph),
        };
        let goes_on = is_open && matches!(block, Some(Block::Paragraph | Block::Code));
        match block {
            Some(_) if goes_on => {
                let (last, said) = found.last_mut().unwrap();
                said.push(if *last == Block::Code { '\n' } else { ' ' });
                said.push_str(text);
            }
            Some(block) => found.push((block, text.to_owned())),
            None => {}
        }
        is_open = block.is_some_and(|block| !matches!(block, Block::Heading(_) | Block::Row | Block::Picture));
    }
    found
}

/// What stands between backticks; words in capitals (`UUID`, `NAME`) and the language are said in each language.
fn code(text: &str) -> Vec<String> {
    let named = |span: &str| {
        let parts = span.split_inclusive(|char: char| !char.is_alphanumeric());
        let placed = |part: &str| match part.trim_end_matches(|char: char| !char.is_alphanumeric()) {
            word if !word.is_empty() && word.chars().all(char::is_uppercase) => part.replace(word, "X"),
            _ => part.to_owned(),
        };
        parts.map(placed).collect::<String>()
    };
    let spans = text.split('`').skip(1).step_by(2);
    let mut spans: Vec<String> = spans
        .filter(|span| !span.contains("patients.csv (") && !span.to_lowercase().starts_with(", dat"))
        .map(|span| match ["--lang ", "language = "].iter().find(|start| span.starts_with(**start)) {
            Some(start) => (*start).to_owned(),
            None => named(span),
        })
        .collect();
    spans.sort();
    spans
}

/// The settings and commands in a block of code, without remarks.
fn settings(text: &str) -> Vec<String> {
    let is_setting = |line: &&str| {
        line.contains(" = ") || line.starts_with("docsyncd ") || (line.starts_with('[') && *line != "[...]")
    };
    let bare = |line: &str| line.split(" #").next().unwrap().split("  ").next().unwrap().trim().to_owned();
    text.lines().filter(is_setting).map(bare).collect()
}

/// The numbers in a text, without what is code.
fn numbers(text: &str) -> Vec<String> {
    let plain: String = text.split('`').step_by(2).collect();
    let (first, links) = plain.split_once("](").unwrap_or((plain.as_str(), ""));
    let links = links.split("](").filter_map(|link| link.split_once(')')).map(|two| two.1);
    let plain: String = std::iter::once(first).chain(links).collect();
    let mut found: Vec<String> =
        plain.split(|char: char| !char.is_ascii_digit()).filter(|run| !run.is_empty()).map(str::to_owned).collect();
    found.sort();
    found
}

#[test]
fn a_translated_page_has_every_part_setting_command_and_number_of_the_english_one() {
    for (name, english, translated) in pairs() {
        let (english, translated) = (blocks(&english), blocks(&translated));
        for (one, other) in english.iter().zip(&translated) {
            assert_eq!(one.0, other.0, "{name}:\n{}\n{}", one.1, other.1);
            match one.0 {
                Block::Code => assert_eq!(settings(&one.1), settings(&other.1), "{name}: {}", other.1),
                _ => {
                    assert_eq!(code(&one.1), code(&other.1), "{name}:\n{}\n{}", one.1, other.1);
                    assert_eq!(numbers(&one.1), numbers(&other.1), "{name}:\n{}\n{}", one.1, other.1);
                }
            }
        }
        assert_eq!(english.len(), translated.len(), "{name}");
        assert!(english.len() > 20, "{name}");
    }
}

/// What packaging/README.md says of removal, system by system, is docs/*/removal.md.
#[test]
fn the_removal_is_that_of_the_packages() {
    let english = read("packaging/README.md");
    let parts = english.split("### Remove\n").skip(1).map(|part| part.split("\n## ").next().unwrap());
    let steps = |text: &str| {
        let items = blocks(text).into_iter().filter(|block| block.0 == Block::Item);
        items.map(|(_, text)| code(&text)).collect::<Vec<_>>()
    };
    let english: Vec<_> = parts.flat_map(steps).collect();
    assert_eq!(english.len(), 6);
    for (folder, _) in LANGUAGES {
        assert_eq!(steps(&read(format!("docs/{folder}/removal.md"))), english, "{folder}");
    }
}

/// What the program says in a language: the lines of its texts, without what is filled in.
fn said(folder: &str) -> Vec<Vec<String>> {
    let mut lines: Vec<String> =
        read(format!("src/formats/language/{folder}.ftl")).lines().map(str::to_owned).collect();
    for file in std::fs::read_dir(repository().join("config/presets")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let words = text.lines().filter(|line| line.contains(&format!(".{folder} = ")));
        lines.extend(words.map(|line| line.replace('"', "")));
    }
    let text = |line: String| {
        let text = line.split_once(" = ").map_or(line.as_str(), |two| two.1);
        plain(text.trim_start_matches([' ', '*']))
    };
    // The first is empty where the text begins with what is filled in.
    let pieces = |line: String| {
        let parts = line.split(['{', '}']).step_by(2).map(str::trim).enumerate();
        parts.filter(|(at, part)| *at == 0 || !part.is_empty()).map(|(_, part)| part.to_owned()).collect::<Vec<_>>()
    };
    lines.into_iter().filter(|line| !line.starts_with('#')).map(text).map(pieces).collect()
}

/// With simple spaces, each alone.
fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_translated_page_quotes_is_what_the_program_shows() {
    for (folder, [opens, ends]) in LANGUAGES {
        let said = said(folder);
        let mut quoted = 0;
        for name in PAGES {
            let page = read(format!("docs/{folder}/{name}.md"));
            for (block, text) in blocks(&page) {
                if block == Block::Code {
                    continue;
                }
                for quote in text.split(opens).skip(1) {
                    let quote = plain(quote.split(ends).next().unwrap());
                    // The heading of a page that is in English only.
                    let is_shown = said.iter().flatten().any(|part| part.contains(&quote)) || quote == "Proof";
                    assert!(is_shown, "docs/{folder}/{name}.md quotes what the program does not show: {quote}");
                    quoted += 1;
                }
            }
        }
        assert!(quoted >= 8, "{folder}: {quoted}");
    }
}

/// The questions of setup, and what it says to the answers, in the terminal of docs/*/first-hour.md.
#[test]
fn the_terminal_of_a_translated_first_hour_says_what_the_program_says() {
    for (folder, _) in LANGUAGES {
        let said = said(folder);
        let page = read(format!("docs/{folder}/first-hour.md"));
        let mut lines: Vec<String> = Vec::new();
        let mut goes_on = false;
        let terminals = page.split("```text\n").skip(1).map(|text| text.split("```").next().unwrap());
        for line in terminals.take(2).flat_map(str::lines) {
            match line.strip_prefix("      ") {
                Some(more) if goes_on => *lines.last_mut().unwrap() += &format!(" {more}"),
                None if line.starts_with("> ") || line.starts_with("    ") => {
                    lines.push(line[2..].to_owned());
                    goes_on = true;
                }
                _ => goes_on = false,
            }
        }
        assert!(lines.len() >= 14, "{lines:?}");
        for line in lines.iter().map(|line| plain(line)) {
            let is_it = |pieces: &Vec<String>| {
                let mut rest = line.strip_prefix(pieces[0].as_str());
                for piece in &pieces[1..] {
                    rest = rest.and_then(|rest| rest.split_once(piece.as_str())).map(|two| two.1);
                }
                rest.is_some() && pieces.concat().len() >= 8
            };
            assert!(said.iter().any(is_it), "docs/{folder}/first-hour.md: the program does not say: {line}");
        }
    }
}

/// The mail that a page shows is one that is sent: `src/surfaces/alerts/message/snapshots`.
#[test]
fn the_mail_of_a_page_is_one_that_is_sent() {
    let of = |page: &str, language: &str| (page.to_owned(), language.to_owned());
    for (page, language) in [of("docs/alerts.md", "de"), of("docs/de/alerts.md", "de"), of("docs/fr/alerts.md", "fr")] {
        let sent = read(format!(
            "src/surfaces/alerts/message/snapshots/docsyncd__surfaces__alerts__message__tests__messages_{language}.snap"
        ));
        let text = read(&page);
        let (_, mail) = text.split_once("\n```\n").unwrap();
        let paragraphs: Vec<String> = mail.split("```").next().unwrap().split("\n\n").map(plain).collect();
        assert_eq!(paragraphs.len(), 6, "{page}");
        for paragraph in [0, 1, 2, 5].map(|at| &paragraphs[at]) {
            let paragraph = paragraph.replace("EMPFANG", "vm").replace("ACCUEIL", "vm");
            let paragraph = paragraph.replace("depuis 10:12", "TIME").replace("seit 10:12 Uhr", "TIME");
            let subject = ["Subject: ", "Betreff: ", "Objet : "].iter().find_map(|label| paragraph.strip_prefix(label));
            assert!(plain(&sent).contains(subject.unwrap_or(&paragraph)), "{page}: {paragraph}");
        }
    }
}

/// Where a heading is found: GitHub's name of it.
fn anchors(page: &str) -> BTreeSet<String> {
    let name = |heading: &str| -> String {
        let kept = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .collect::<String>();
        kept.trim().replace(' ', "-")
    };
    page.lines().filter(|line| line.starts_with('#')).map(|line| name(line.trim_start_matches('#'))).collect()
}

/// Every link of the documentation leads to a file, and to a heading of it; and each translated page is linked.
#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let root = repository();
    let mut pages: Vec<PathBuf> = vec![root.join("README.md"), root.join("packaging/README.md")];
    for folder in ["docs", "docs/fr", "docs/de"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|file| file.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    let mut linked = BTreeSet::new();
    for page in &pages {
        // Without what stands between backticks.
        let text: String = std::fs::read_to_string(page).unwrap().split('`').step_by(2).collect();
        for link in text.split("](").skip(1).filter_map(|link| link.split_once(')')).map(|two| two.0) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let there = match path {
                "" => page.clone(),
                path => page.parent().unwrap().join(path),
            };
            let there = there.canonicalize().unwrap_or_else(|_| panic!("{}: {link}", page.display()));
            let leads = anchor.is_empty() || anchors(&std::fs::read_to_string(&there).unwrap()).contains(anchor);
            assert!(leads, "{}: {link}", page.display());
            if there != page.canonicalize().unwrap()
                && !page.starts_with(root.join("docs/fr"))
                && !page.starts_with(root.join("docs/de"))
            {
                linked.insert(there);
            }
        }
    }
    for page in pages.iter().skip(2) {
        assert!(linked.contains(&page.canonicalize().unwrap()), "nothing links to {}", page.display());
    }
}
