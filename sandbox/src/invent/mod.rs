//! Invented people and documents.
//!
//! Everything follows from a seed and a running number, never from the clock, so that two sandboxes with the same seed
//! hold the same uuids, names, dates and PDF bytes.

mod contacts;
mod dice;
mod document;
mod insert;
mod names;
mod people;
mod recording;

pub(crate) use contacts::insert_contacts;
pub(crate) use dice::Dice;
pub(crate) use insert::{DOCUMENTS_INVENTED, SeedConfig, insert_document, insert_document_of, owner, plant_from};
pub(crate) use people::{invent_organization, invent_user, name_member};
pub(crate) use recording::plant_audio;
