//! Faults of the API and of the way to it, on each of the four calls: listing, reading a document, downloading its PDF,
//! reporting its status.
//!
//! A cell breaks the call for one document first (for one account, where it is the list), and looks what becomes of this
//! one, with which words, and that the others go on. Then it breaks it for all of them, and looks what is paused and that
//! nothing is reported that is not so. At the end the fault is gone, and everything is filed and reported, once.

mod cell;
mod document;
mod download;
mod gates;
mod list;
mod report;
