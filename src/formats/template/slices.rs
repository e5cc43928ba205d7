//! Slices, such as `patient.lastName[:3]`. The engine does not tell which variables they are taken of.

/// The template with an item in place of each slice, to be asked for its variables: `patient.lastName[- 3]`. It is no
/// template to render.
pub(super) fn as_items(source: &str) -> String {
    let mut items = String::with_capacity(source.len());
    // The open brackets of an expression, the quotation mark of a text in it, and whether the end of a slice is missing
    // so far.
    let (mut brackets, mut quote, mut is_inside, mut is_endless) = (Vec::new(), None, false, false);
    let mut letters = source.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let mut takes_next = false;
        let is_slice = quote.is_none() && letter == ':' && brackets.last() == Some(&'[');
        match (quote, letter) {
            (Some(_), '\\') => takes_next = true,
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') if is_inside => quote = Some(letter),
            (None, '{') if !is_inside => (is_inside, takes_next) = [matches!(next, Some('{' | '%')); 2].into(),
            (None, '}' | '%') if brackets.is_empty() && next == Some('}') => (is_inside, takes_next) = (false, true),
            (None, '[' | '(' | '{') if is_inside => brackets.push(letter),
            (None, ']' | ')' | '}') => drop(brackets.pop()),
            _ => {}
        }
        if is_endless && letter == ']' {
            items.push('0');
        }
        is_endless = is_slice || is_endless && letter.is_whitespace();
        items.push(if is_slice { '-' } else { letter });
        items.extend(is_slice.then_some(' '));
        items.extend(letters.next_if(|_| takes_next));
    }
    items
}
