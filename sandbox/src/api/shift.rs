//! Pages that shift (quirk [`crate::Quirks::page_shift`]): between two pages, items before them leave the list or come
//! in.

/// The offset of a page when this many items before it left the list (positive) or came in (negative) since the
/// previous page. The first page is not affected.
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
