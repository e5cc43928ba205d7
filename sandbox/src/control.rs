//! What the sandbox's owner does to its documents, as opposed to what a client may.

use std::path::PathBuf;

use rusqlite::Transaction;

use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::invent::{DOCUMENTS_INVENTED, Dice, insert_contacts, insert_document};
use crate::new_document::{DocumentSummary, NewDocument};
use crate::options::Options;
use crate::quirks::DateFormat;
use crate::shared::Shared;
use crate::store::{Content, DocumentRow, FileRow, NewFile, Store, UserRow, counter, forget_keys, set_counter};

/// The counter of PDF versions, for fresh uuids.
const PDFS_REPLACED: &str = "pdfs replaced";

/// Signs the users in, and makes the first documents: someone's own files, then invented ones up to the wanted number.
pub(crate) async fn populate(
    store: &Store,
    seed_config: &crate::invent::SeedConfig,
    options: &Options,
    own_files: Vec<PathBuf>,
    now: i64,
) -> Result<(), SandboxError> {
    let keys = options.api_keys.clone();
    let people: Vec<String> = options.users.iter().map(|account| account.email.clone()).collect();
    let seed_config = seed_config.clone();
    let wanted = options.documents as u64;
    store
        .run(move |transaction| {
            forget_keys(transaction)?;
            for key in &keys {
                let user = user(transaction, seed_config.seed, &key.email)?;
                user.give_key(transaction, &key.key)?;
                insert_contacts(transaction, seed_config.seed, &user)?;
            }
            for email in &people {
                let user = user(transaction, seed_config.seed, email)?;
                insert_contacts(transaction, seed_config.seed, &user)?;
            }
            for path in own_files {
                plant_own_file(transaction, &seed_config, path, now)?;
            }
            let present = counter(transaction, DOCUMENTS_INVENTED)?;
            for _ in present..wanted {
                insert_document(transaction, &seed_config, NewDocument::default(), now)?;
            }
            Ok(())
        })
        .await
}

/// The user with this email address, made up if there is none yet.
fn user(transaction: &Transaction<'_>, seed: u64, email: &str) -> Result<UserRow, SandboxError> {
    match UserRow::by_uuid(transaction, &crate::invent::user_uuid(seed, email))? {
        Some(known) => Ok(known),
        None => UserRow::put(transaction, crate::invent::invent_user(seed, email)),
    }
}

/// One document for a file of `--pdf-dir`; a restart with the same store finds it there already.
fn plant_own_file(
    transaction: &Transaction<'_>,
    seed_config: &crate::invent::SeedConfig,
    path: PathBuf,
    now: i64,
) -> Result<(), SandboxError> {
    if FileRow::path_known(transaction, &path)? {
        return Ok(());
    }
    let file_name = path.file_name().map_or_else(|| "document.pdf".into(), |name| name.to_string_lossy().into_owned());
    let wish = NewDocument { pdf: crate::new_document::NewPdf::None, ..NewDocument::default() };
    let uuid = insert_document(transaction, seed_config, wish, now)?;
    let document = find(transaction, &uuid)?;
    let new = NewFile {
        uuid: fresh_pdf_uuid(transaction, seed_config.seed)?,
        name: file_name.clone(),
        file_name,
        created_at: document.created_at.key,
        declared_size: None,
        content: Content::Path(path),
    };
    new.attach(transaction, document.id)?;
    announce(transaction, Event::DocumentUpdated, document.owner_id, document.id, now)
}

fn find(transaction: &Transaction<'_>, uuid: &str) -> Result<DocumentRow, SandboxError> {
    DocumentRow::by_uuid(transaction, uuid)?.ok_or_else(|| SandboxError::NoDocument { uuid: uuid.to_owned() })
}

fn fresh_pdf_uuid(transaction: &Transaction<'_>, seed: u64) -> Result<String, SandboxError> {
    let number = counter(transaction, PDFS_REPLACED)?;
    set_counter(transaction, PDFS_REPLACED, number + 1)?;
    Ok(Dice::new(seed, "pdf", number).uuid())
}

pub(crate) async fn add_documents(shared: &Shared, count: usize) -> Result<Vec<String>, SandboxError> {
    let seed_config = shared.seed_config.clone();
    let now = shared.clock.key();
    let uuids = shared
        .store
        .run(move |transaction| {
            (0..count).map(|_| insert_document(transaction, &seed_config, NewDocument::default(), now)).collect()
        })
        .await?;
    shared.deliveries.notify_one();
    Ok(uuids)
}

pub(crate) async fn add(shared: &Shared, wish: NewDocument) -> Result<String, SandboxError> {
    let seed_config = shared.seed_config.clone();
    let now = shared.clock.key();
    let uuid = shared.store.run(move |transaction| insert_document(transaction, &seed_config, wish, now)).await?;
    shared.deliveries.notify_one();
    Ok(uuid)
}

/// Gives a document a new version of its file, or its first one; returns the PDF's uuid.
pub(crate) async fn set_pdf(shared: &Shared, uuid: &str, bytes: Vec<u8>) -> Result<String, SandboxError> {
    let uuid = uuid.to_owned();
    let seed = shared.seed_config.seed;
    let at = shared.clock.key();
    let (new_uuid, old) = shared
        .store
        .run(move |transaction| {
            let document = find(transaction, &uuid)?;
            let new_uuid = fresh_pdf_uuid(transaction, seed)?;
            let (name, file_name) = match &document.file {
                Some(old) => (old.name.clone(), old.file_name.clone()),
                None => (format!("{new_uuid}.pdf"), format!("document-{new_uuid}.pdf")),
            };
            let new = NewFile {
                uuid: new_uuid.clone(),
                name,
                file_name,
                created_at: at,
                declared_size: None,
                content: Content::Bytes(bytes),
            };
            new.attach(transaction, document.id)?;
            document.touch(transaction, at)?;
            announce(transaction, Event::DocumentUpdated, document.owner_id, document.id, at)?;
            Ok((new_uuid, document.file.map(|file| file.uuid)))
        })
        .await?;
    shared.deliveries.notify_one();
    if let Some(old) = old {
        shared.letters.forget(&old);
    }
    Ok(new_uuid)
}

pub(crate) async fn remove(shared: &Shared, uuid: &str) -> Result<(), SandboxError> {
    let uuid = uuid.to_owned();
    let now = shared.clock.key();
    let file = shared
        .store
        .run(move |transaction| {
            let document = find(transaction, &uuid)?;
            announce(transaction, Event::DocumentDeleted, document.owner_id, document.id, now)?;
            document.delete(transaction)?;
            Ok(document.file)
        })
        .await?;
    shared.deliveries.notify_one();
    if let Some(file) = file {
        shared.letters.forget(&file.uuid);
    }
    Ok(())
}

pub(crate) async fn set_listed(shared: &Shared, uuid: &str, listed: bool) -> Result<(), SandboxError> {
    let uuid = uuid.to_owned();
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let document = find(transaction, &uuid)?;
            if document.synchronized == listed {
                document.set_synchronized(transaction, !listed)?;
                announce(transaction, Event::DocumentUpdated, document.owner_id, document.id, now)?;
            }
            Ok(())
        })
        .await?;
    shared.deliveries.notify_one();
    Ok(())
}

pub(crate) async fn pdf_bytes(shared: &Shared, uuid: &str) -> Result<Vec<u8>, SandboxError> {
    let wanted = uuid.to_owned();
    let document = shared.store.run(move |transaction| find(transaction, &wanted)).await?;
    let no_pdf = || SandboxError::NoPdf { uuid: uuid.to_owned() };
    let file = document.file.ok_or_else(no_pdf)?;
    let bytes = shared.file_bytes(&file.uuid).await?.ok_or_else(no_pdf)?;
    Ok(bytes.to_vec())
}

pub(crate) async fn documents(shared: &Shared, format: DateFormat) -> Result<Vec<DocumentSummary>, SandboxError> {
    let rows = shared.store.run(DocumentRow::all).await?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let patient = row.patient.as_ref().map(|patient| patient.record()).unwrap_or_default();
            let of_patient = |name: &str| crate::invent::name_member(&patient, name);
            DocumentSummary {
                patient: of_patient("uuid"),
                patient_first_name: of_patient("firstName"),
                patient_last_name: of_patient("lastName"),
                created_at: row.created_at.show(format),
                document_type: row.document_type,
                pdf: row.file.map(|file| file.uuid),
                synchronized: row.synchronized,
                uuid: row.uuid,
            }
        })
        .collect())
}
