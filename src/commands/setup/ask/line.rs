//! A line that a person types at a terminal, with the usual keys of a shell (tui-input), and Esc to go back.
//!
//! The crate of the menus is not used for it: it types the letter of an unknown control key (Ctrl-U types "u"), even
//! into a key that nobody sees.

use std::io::{self, Write as _};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::style::Print;
use crossterm::terminal::{self, Clear, ClearType};
use crossterm::{cursor, queue};
use tui_input::Input;
use tui_input::backend::crossterm::EventHandler as _;

use super::super::super::harmless::harmless;
use super::super::super::output::folded;

/// The width of a terminal that does not tell it.
const USUAL_WIDTH: u16 = 80;
/// The least columns for the typed text, beside the question.
const LEAST_ROOM: usize = 24;

/// A question.
pub(super) struct Prompt<'a> {
    pub(super) words: &'a str,
    /// A line below the question.
    pub(super) help: &'a str,
    /// What Enter alone means. Stands in brackets behind the question.
    pub(super) usual: Option<&'a str>,
    /// Whether the typed text is hidden.
    pub(super) is_secret: bool,
    /// Whether to use colours.
    pub(super) colours: bool,
}

/// How a line ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Text(String),
    Back,
    Interrupted,
}

pub(super) fn width() -> usize {
    // A terminal that was never told its width reports 0.
    let columns = terminal::size().ok().map(|(columns, _)| columns).filter(|columns| *columns > 0);
    columns.unwrap_or(USUAL_WIDTH).max(20).into()
}

/// Handles an event of the terminal. Returns how the line ended, if it did.
fn take(line: &mut Input, event: &Event) -> Option<Typed> {
    if let Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press | KeyEventKind::Repeat, .. }) = event {
        match (code, *modifiers) {
            (KeyCode::Enter, _) | (KeyCode::Char('j' | 'm'), KeyModifiers::CONTROL) => {
                return Some(Typed::Text(line.value().to_owned()));
            }
            (KeyCode::Esc, _) => return Some(Typed::Back),
            (KeyCode::Char('c'), KeyModifiers::CONTROL) => return Some(Typed::Interrupted),
            (KeyCode::Char('d'), KeyModifiers::CONTROL) if line.value().is_empty() => return Some(Typed::Interrupted),
            _ => {}
        }
    }
    line.handle_event(event);
    None
}

/// Raw mode: the terminal passes on each key at once, as long as this lives.
struct Raw;

impl Raw {
    fn begin() -> io::Result<Self> {
        terminal::enable_raw_mode().map(|()| Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // If the terminal is gone, nothing is left to restore.
        let _ = terminal::disable_raw_mode();
    }
}

/// The text in a colour of ECMA-48 (SGR).
fn painted(colours: bool, code: u8, text: &str) -> String {
    if colours { format!("\u{1b}[{code}m{text}\u{1b}[39m") } else { text.to_owned() }
}

/// Asks, and clears the question afterwards: [`answered`] shows the answer.
pub(super) fn ask(prompt: &Prompt<'_>) -> io::Result<Typed> {
    let (_raw, mut terminal, mut line, mut above) = (Raw::begin()?, io::stderr().lock(), Input::default(), 0);
    let typed = loop {
        above = draw(&mut terminal, prompt, &line, above)?;
        if let Some(typed) = take(&mut line, &event::read()?) {
            break typed;
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

/// Draws the question over the previous drawing. Returns how many lines are above the cursor.
fn draw(terminal: &mut impl io::Write, prompt: &Prompt<'_>, line: &Input, above: u16) -> io::Result<u16> {
    let width = width();
    let usual = prompt.usual.map(|usual| format!(" ({usual})")).unwrap_or_default();
    let mut head = folded(&harmless(&format!("? {}{usual} ", prompt.words)), Some(width));
    let columns = |text: &str| text.rsplit('\n').next().unwrap_or_default().chars().count();
    if columns(&head) + LEAST_ROOM > width {
        head.push_str("\n  ");
    }
    let room = width.saturating_sub(columns(&head) + 1).max(2);
    let from = line.visual_scroll(room - 1);
    let text: String = line.value().chars().skip(from).take(room).collect();
    let text = if prompt.is_secret { "*".repeat(text.chars().count()) } else { text };
    let help = if prompt.help.is_empty() { String::new() } else { format!("\n[{}]", prompt.help) };
    let help = folded(&harmless(&help), Some(width));
    let rows = |text: &str| u16::try_from(text.matches('\n').count()).unwrap_or(0);
    begin_anew(terminal, above)?;
    let column = u16::try_from(columns(&head) + line.visual_cursor().saturating_sub(from)).unwrap_or(u16::MAX);
    let shown = painted(prompt.colours, 92, "?") + head.get(1..).unwrap_or_default() + &text;
    queue!(terminal, Print((shown + &painted(prompt.colours, 96, &help)).replace('\n', "\r\n")))?;
    if rows(&help) > 0 {
        queue!(terminal, cursor::MoveUp(rows(&help)))?;
    }
    queue!(terminal, cursor::MoveToColumn(column))?;
    terminal.flush()?;
    Ok(rows(&head))
}

/// Shows the question with its answer.
pub(super) fn answered(prompt: &Prompt<'_>, answer: &str) -> io::Result<()> {
    let said = folded(&harmless(&format!("> {} {answer}", prompt.words)), Some(width()));
    let said = painted(prompt.colours, 92, ">") + said.get(1..).unwrap_or_default().trim_end();
    writeln!(io::stderr().lock(), "{said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    /// The content of a line after these keys: `^U` is Ctrl-U, `<` the left arrow, `#` Backspace.
    fn typed(keys: &str) -> String {
        let mut line = Input::default();
        let mut control = false;
        for letter in keys.chars() {
            if letter == '^' {
                control = true;
                continue;
            }
            let pressed = match letter {
                '<' => key(KeyCode::Left, KeyModifiers::NONE),
                '#' => key(KeyCode::Backspace, KeyModifiers::NONE),
                letter if control => key(KeyCode::Char(letter.to_ascii_lowercase()), KeyModifiers::CONTROL),
                letter => key(KeyCode::Char(letter), KeyModifiers::NONE),
            };
            control = false;
            assert_eq!(take(&mut line, &pressed), None, "{keys}");
        }
        line.value().to_owned()
    }

    #[test]
    fn the_keys_of_a_shell_change_the_line_and_no_control_key_types_a_letter() {
        for (keys, holds) in [
            ("nonsense^Uhttps", "https"),
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
        let press = |code, modifiers| take(&mut Input::default(), &key(code, modifiers));
        assert_eq!(press(KeyCode::Esc, KeyModifiers::NONE), Some(Typed::Back));
        assert_eq!(press(KeyCode::Enter, KeyModifiers::NONE), Some(Typed::Text(String::new())));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Typed::Interrupted));
        // AltGr on Windows.
        let mut line = Input::default();
        take(&mut line, &key(KeyCode::Char('\\'), KeyModifiers::CONTROL | KeyModifiers::ALT));
        assert_eq!(line.value(), "\\");
    }
}
