//! Texts for people and for other programs. Pure, as `domain` is.

pub mod language;
pub mod sidecar;
pub mod template;
pub mod vdds;
pub mod zip;
