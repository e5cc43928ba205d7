//! Pages that shift (quirk [`crate::Quirks::page_shift`]): between two pages the list before them grew or shrank.

/// The offset of a page when so many items before it left the list (positive) or came in (negative) since the page
/// before. The first page has none before it.
pub(super) fn shifted(offset: u64, page: u64, items: i64) -> u64 {
    if page <= 1 { offset } else { offset.saturating_add_signed(items) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_after_the_first_shift_and_none_before_the_start() {
        assert_eq!(shifted(0, 1, 3), 0);
        assert_eq!(shifted(20, 2, 3), 23);
        assert_eq!(shifted(20, 2, -3), 17);
        assert_eq!(shifted(2, 2, -3), 0);
    }
}
