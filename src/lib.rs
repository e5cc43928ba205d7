//! docsyncd, to be.
