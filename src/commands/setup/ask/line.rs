//! A line that a person types at a terminal: the keys that every shell has, and Esc to go back.
//!
//! The crate that shows the menus writes the letter of a control key it does not know (Ctrl-U types "u"), also into a
//! key that nobody sees.

use std::io::{self, Write as _};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{cursor, queue};

use super::super::super::output::folded;

/// Columns of a terminal that does not say.
const USUAL_WIDTH: u16 = 80;
/// The least room for what is typed, beside the question.
const LEAST_ROOM: usize = 24;

/// What is asked.
pub(super) struct Prompt<'a> {
    pub(super) words: &'a str,
    /// A line below it.
    pub(super) help: &'a str,
    /// Stands behind the question in brackets: what Enter alone means.
    pub(super) usual: Option<&'a str>,
    /// Whether what is typed is not shown.
    pub(super) is_secret: bool,
    /// Whether colours are wanted.
    pub(super) colours: bool,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    Back,
    Interrupted,
}

/// The width of the terminal.
pub(super) fn width() -> usize {
    // One that has not been told its width says 0.
    let columns = terminal::size().ok().map(|(columns, _)| columns).filter(|columns| *columns > 0);
    columns.unwrap_or(USUAL_WIDTH).max(20).into()
}

/// The line so far.
#[derive(Debug, Default)]
struct Line {
    letters: Vec<char>,
    at: usize,
}

impl Line {
    /// Takes a key; returns how the line ends, if it does.
    fn press(&mut self, key: KeyEvent) -> Option<Typed> {
        // Both together are AltGr, with which some keyboards have \ and @.
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT);
        let end = self.letters.len();
        match key.code {
            KeyCode::Enter => return Some(Typed::Text(self.letters.iter().collect())),
            KeyCode::Char('j' | 'm') if is_control => return Some(Typed::Text(self.letters.iter().collect())),
            KeyCode::Esc => return Some(Typed::Back),
            KeyCode::Char('c') if is_control => return Some(Typed::Interrupted),
            KeyCode::Char('d') if is_control && self.letters.is_empty() => return Some(Typed::Interrupted),
            KeyCode::Char('u') if is_control => self.remove(0, self.at),
            KeyCode::Char('k') if is_control => self.letters.truncate(self.at),
            KeyCode::Char('w') if is_control => self.remove(self.word_begins(), self.at),
            KeyCode::Char('h') if is_control => self.remove(self.at.saturating_sub(1), self.at),
            KeyCode::Char('d') if is_control => self.remove(self.at, (self.at + 1).min(end)),
            KeyCode::Char('a') if is_control => self.at = 0,
            KeyCode::Char('e') if is_control => self.at = end,
            KeyCode::Char('b') if is_control => self.at = self.at.saturating_sub(1),
            KeyCode::Char('f') if is_control => self.at = (self.at + 1).min(end),
            KeyCode::Char(_) if is_control => {}
            KeyCode::Backspace => self.remove(self.at.saturating_sub(1), self.at),
            KeyCode::Delete => self.remove(self.at, (self.at + 1).min(end)),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = end,
            KeyCode::Left => self.at = self.at.saturating_sub(1),
            KeyCode::Right => self.at = (self.at + 1).min(end),
            KeyCode::Char(letter) => {
                self.letters.insert(self.at, letter);
                self.at += 1;
            }
            _ => {}
        }
        None
    }

    fn remove(&mut self, from: usize, to: usize) {
        self.letters.drain(from..to);
        self.at = from;
    }

    fn word_begins(&self) -> usize {
        let before = self.letters.iter().take(self.at).collect::<String>();
        let without_gap = before.trim_end_matches(' ');
        without_gap.rfind(' ').map_or(0, |at| without_gap.get(..=at).unwrap_or_default().chars().count())
    }

    /// The part that has room, and where the cursor stands in it.
    fn shown(&self, room: usize) -> (String, usize) {
        let from = (self.at + 1).saturating_sub(room);
        (self.letters.iter().skip(from).take(room).collect(), self.at - from)
    }
}

/// The terminal gives every key as it is pressed, as long as this lives.
struct Raw;

impl Raw {
    fn begin() -> io::Result<Self> {
        terminal::enable_raw_mode().map(|()| Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = terminal::disable_raw_mode();
    }
}

/// In a colour of ECMA-48 (SGR).
fn painted(colours: bool, code: u8, text: &str) -> String {
    if colours { format!("\u{1b}[{code}m{text}\u{1b}[39m") } else { text.to_owned() }
}

/// Asks, and leaves nothing on the terminal: what was answered is shown by [`answered`].
pub(super) fn ask(prompt: &Prompt<'_>) -> io::Result<Typed> {
    let (_raw, mut terminal, mut line, mut above) = (Raw::begin()?, io::stderr().lock(), Line::default(), 0);
    let typed = loop {
        above = draw(&mut terminal, prompt, &line, above)?;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                if let Some(typed) = line.press(key) {
                    break typed;
                }
            }
            _ => {}
        }
    };
    begin_anew(&mut terminal, above)?;
    terminal.flush()?;
    Ok(typed)
}

fn begin_anew(terminal: &mut impl io::Write, above: u16) -> io::Result<()> {
    if above > 0 {
        queue!(terminal, cursor::MoveUp(above))?;
    }
    queue!(terminal, cursor::MoveToColumn(0), Clear(ClearType::FromCursorDown))
}

/// Draws the question over what was drawn before; returns how many lines stand above the cursor.
fn draw(terminal: &mut impl io::Write, prompt: &Prompt<'_>, line: &Line, above: u16) -> io::Result<u16> {
    let width = width();
    let usual = prompt.usual.map(|usual| format!(" ({usual})")).unwrap_or_default();
    let mut head = folded(&format!("? {}{usual} ", prompt.words), Some(width));
    let columns = |text: &str| text.rsplit('\n').next().unwrap_or_default().chars().count();
    if columns(&head) + LEAST_ROOM > width {
        head.push_str("\n  ");
    }
    let room = width.saturating_sub(columns(&head) + 1).max(1);
    let (text, at) = line.shown(room);
    let text = if prompt.is_secret { "*".repeat(text.chars().count()) } else { text };
    let help = if prompt.help.is_empty() { String::new() } else { format!("\n[{}]", prompt.help) };
    let help = folded(&help, Some(width));
    let rows = |text: &str| u16::try_from(text.matches('\n').count()).unwrap_or(0);
    begin_anew(terminal, above)?;
    let column = u16::try_from(columns(&head) + at).unwrap_or(u16::MAX);
    let shown = painted(prompt.colours, 92, "?") + head.get(1..).unwrap_or_default() + &text;
    queue!(terminal, Print((shown + &painted(prompt.colours, 96, &help)).replace('\n', "\r\n")))?;
    if rows(&help) > 0 {
        queue!(terminal, cursor::MoveUp(rows(&help)))?;
    }
    queue!(terminal, cursor::MoveToColumn(column))?;
    terminal.flush()?;
    Ok(rows(&head))
}

/// Shows what was answered.
pub(super) fn answered(prompt: &Prompt<'_>, answer: &str) -> io::Result<()> {
    let said = folded(&format!("> {} {answer}", prompt.words), Some(width()));
    let said = painted(prompt.colours, 92, ">") + said.get(1..).unwrap_or_default().trim_end();
    writeln!(io::stderr().lock(), "{said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line holds after these keys: `^U` is Ctrl-U, `<` the left arrow, `#` Backspace.
    fn typed(keys: &str) -> String {
        let mut line = Line::default();
        let mut control = false;
        for letter in keys.chars() {
            if letter == '^' {
                control = true;
                continue;
            }
            let (code, modifiers) = match letter {
                '<' => (KeyCode::Left, KeyModifiers::NONE),
                '#' => (KeyCode::Backspace, KeyModifiers::NONE),
                letter if control => (KeyCode::Char(letter.to_ascii_lowercase()), KeyModifiers::CONTROL),
                letter => (KeyCode::Char(letter), KeyModifiers::NONE),
            };
            control = false;
            assert_eq!(line.press(KeyEvent::new(code, modifiers)), None, "{keys}");
        }
        line.letters.into_iter().collect()
    }

    #[test]
    fn the_keys_of_a_shell_change_the_line_and_no_control_key_types_a_letter() {
        for (keys, holds) in [
            ("nonsense^Uhttps", "https"),
            ("ab<^Uc", "cb"),
            ("ab<<^Kc", "c"),
            ("one two^W", "one "),
            ("one two  ^W3", "one 3"),
            ("bc^Aa^Ed", "abcd"),
            ("ab#^Hc", "c"),
            ("a^Xb^Pc^Td", "abcd"),
            ("#^W^U", ""),
        ] {
            assert_eq!(typed(keys), holds, "{keys}");
        }
        let press = |code, modifiers| Line::default().press(KeyEvent::new(code, modifiers));
        assert_eq!(press(KeyCode::Esc, KeyModifiers::NONE), Some(Typed::Back));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Typed::Interrupted));
        // AltGr of Windows.
        let mut line = Line::default();
        line.press(KeyEvent::new(KeyCode::Char('\\'), KeyModifiers::CONTROL | KeyModifiers::ALT));
        assert_eq!(line.letters, ['\\']);
    }

    #[test]
    fn of_a_long_line_the_part_around_the_cursor_is_shown() {
        let mut line = Line { letters: ('a'..='j').collect(), at: 10 };
        assert_eq!(line.shown(4), ("hij".to_owned(), 3));
        line.at = 0;
        assert_eq!(line.shown(4), ("abcd".to_owned(), 0));
    }
}
