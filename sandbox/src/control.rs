//! What the sandbox's owner may do to its documents, unlike a client.

use std::path::PathBuf;
use std::sync::PoisonError;

use rusqlite::Transaction;
use serde_json::{Map, Value, json};

use crate::error::SandboxError;
use crate::hooks::{Event, announce};
use crate::invent::{DOCUMENTS_INVENTED, Dice, insert_contacts, insert_document, insert_document_of, owner};
use crate::new_document::{DocumentSummary, NewDocument};
use crate::new_user::NewUser;
use crate::oauth::Account;
use crate::options::Options;
use crate::pdf_dir;
use crate::quirks::DateFormat;
use crate::shared::Shared;
use crate::store::{
    Content, DocumentRow, FileRow, NewFile, OrganizationRow, Store, UserRow, counter, empty, forget_keys, set_counter,
};

/// The counter of PDF versions, for fresh uuids.
const PDFS_REPLACED: &str = "pdfs replaced";

/// Creates the users and the first documents: someone's own files, then invented ones up to the wanted number.
pub(crate) async fn populate(
    store: &Store,
    seed_config: &crate::invent::SeedConfig,
    options: &Options,
    now: i64,
) -> Result<(), SandboxError> {
    let (seed_config, options) = (seed_config.clone(), options.clone());
    store.run(move |transaction| fill(transaction, &seed_config, &options, now)).await
}

fn fill(
    transaction: &Transaction<'_>,
    seed_config: &crate::invent::SeedConfig,
    options: &Options,
    now: i64,
) -> Result<(), SandboxError> {
    let own_files = match &options.pdf_dir {
        Some(folder) => pdf_dir::pdf_files(folder)?,
        None => Vec::new(),
    };
    forget_keys(transaction)?;
    for key in &options.api_keys {
        let user = user(transaction, seed_config.seed, &key.email)?;
        user.give_key(transaction, &key.key)?;
        insert_contacts(transaction, seed_config.seed, &user)?;
    }
    for account in &options.users {
        let user = user(transaction, seed_config.seed, &account.email)?;
        insert_contacts(transaction, seed_config.seed, &user)?;
    }
    for path in own_files {
        plant_own_file(transaction, seed_config, path, now)?;
    }
    let present = counter(transaction, DOCUMENTS_INVENTED)?;
    let missing = (options.documents as u64).saturating_sub(present);
    invent(transaction, seed_config, usize::try_from(missing).unwrap_or(usize::MAX), now).map(drop)
}

/// Inserts this many invented documents. Returns their uuids.
fn invent(
    transaction: &Transaction<'_>,
    seed_config: &crate::invent::SeedConfig,
    count: usize,
    now: i64,
) -> Result<Vec<String>, SandboxError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let owner = owner(transaction, &seed_config.first_key)?;
    (0..count).map(|_| insert_document_of(transaction, seed_config, &owner, NewDocument::default(), now)).collect()
}

/// Restores the state of the start. The keys that sign tokens and addresses stay.
pub(crate) async fn reset(shared: &Shared) -> Result<(), SandboxError> {
    shared.clock.reset();
    shared.faults.begin_with(&shared.begun_with.faults);
    let (seed_config, options, now) = (shared.seed_config.clone(), shared.begun_with.clone(), shared.clock.key());
    shared
        .store
        .run(move |transaction| {
            empty(transaction)?;
            fill(transaction, &seed_config, &options, now)
        })
        .await?;
    let begun = &shared.begun_with;
    *shared.quirks.lock().unwrap_or_else(PoisonError::into_inner) = begun.quirks.clone();
    *shared.oauth.accounts.lock().unwrap_or_else(PoisonError::into_inner) =
        crate::sandbox::accounts(&begun.users, &begun.api_keys);
    shared.journal.forget_all();
    shared.deliveries.notify_one();
    shared.recordings.notify_one();
    Ok(())
}

/// Creates a user, or changes the one with this email address.
pub(crate) async fn put_user(shared: &Shared, wish: NewUser) -> Result<Map<String, Value>, SandboxError> {
    let seed = shared.seed_config.seed;
    let fresh = shared.fresh_uuid();
    let account = wish.password.as_ref().map(|password| Account::new(&wish.email).with_password(password));
    let record = shared
        .store
        .run(move |transaction| {
            let known = UserRow::by_email(transaction, &wish.email)?;
            if let Some(uuid) = wish.members.get("uuid").and_then(Value::as_str) {
                let is_known = known.as_ref().map(UserRow::uuid) == Some(uuid);
                if !is_known && (known.is_some() || UserRow::by_uuid(transaction, uuid)?.is_some()) {
                    return Err(SandboxError::OtherUser { uuid: uuid.to_owned(), email: wish.email });
                }
            }
            let mut record = known.map_or_else(|| crate::invent::invent_user(seed, &wish.email), |known| known.record);
            if let Some(uuid) = &wish.organization {
                let practice = OrganizationRow::by_uuid(transaction, uuid)?
                    .ok_or_else(|| SandboxError::NoOrganization { uuid: uuid.clone() })?;
                record.insert("organizations".into(), json!([practice.record]));
            }
            let mut members = wish.members;
            if let Some(Value::Array(practices)) = members.get_mut("organizations") {
                for (index, practice) in practices.iter_mut().enumerate() {
                    let present = record.get("organizations").and_then(|all| all.get(index));
                    *practice = whole_practice(transaction, seed, practice.take(), present, &fresh)?;
                }
            }
            record.extend(members);
            let user = UserRow::put(transaction, record)?;
            if let Some(role) = &wish.role {
                user.give_role(transaction, role)?;
            }
            if let Some(key) = &wish.api_key {
                user.give_key(transaction, key)?;
            }
            insert_contacts(transaction, seed, &user)?;
            Ok(user.record)
        })
        .await?;
    if let Some(account) = account {
        let mut accounts = shared.oauth.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.retain(|known| !known.email.eq_ignore_ascii_case(&account.email));
        accounts.push(account);
    }
    Ok(record)
}

/// Creates a practice, or changes the one with this uuid.
pub(crate) async fn put_organization(
    shared: &Shared,
    members: Map<String, Value>,
) -> Result<Map<String, Value>, SandboxError> {
    let (seed, fresh) = (shared.seed_config.seed, shared.fresh_uuid());
    let run = move |transaction: &Transaction<'_>| {
        let uuid = members.get("uuid").and_then(Value::as_str).unwrap_or(&fresh);
        let mut record = match OrganizationRow::by_uuid(transaction, uuid)? {
            Some(known) => known.record,
            None => crate::invent::invent_organization(seed, uuid),
        };
        record.extend(members);
        OrganizationRow::put(transaction, &record)?;
        Ok(record)
    };
    shared.store.run(run).await
}

/// A practice with every member of such a record: the given ones, then the present ones, then invented ones. Without a
/// uuid it is the user's present practice.
fn whole_practice(
    transaction: &Transaction<'_>,
    seed: u64,
    given: Value,
    present: Option<&Value>,
    fresh: &str,
) -> Result<Value, SandboxError> {
    let Value::Object(mut given) = given else {
        return Ok(given);
    };
    given.retain(|name, value| name != "uuid" || value.is_string());
    let uuid = |record: &Map<String, Value>| record.get("uuid").and_then(Value::as_str).map(str::to_owned);
    let uuid =
        uuid(&given).or_else(|| present.and_then(Value::as_object).and_then(uuid)).unwrap_or_else(|| fresh.to_owned());
    let mut whole = match OrganizationRow::by_uuid(transaction, &uuid)? {
        Some(known) => known.record,
        None => match present.and_then(Value::as_object) {
            Some(present) if present.get("uuid").and_then(Value::as_str) == Some(&*uuid) => present.clone(),
            _ => crate::invent::invent_organization(seed, &uuid),
        },
    };
    whole.extend(given);
    Ok(Value::Object(whole))
}

/// The user with this email address, who is invented if there is none.
fn user(transaction: &Transaction<'_>, seed: u64, email: &str) -> Result<UserRow, SandboxError> {
    match UserRow::by_email(transaction, email)? {
        Some(known) => Ok(known),
        None => UserRow::put(transaction, crate::invent::invent_user(seed, email)),
    }
}

/// One document for a file of `--pdf-dir`. After a restart with the same store it exists already.
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
    let uuids = shared.store.run(move |transaction| invent(transaction, &seed_config, count, now)).await?;
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

/// Gives a document a new version of its file, or its first file. Returns the PDF's uuid.
pub(crate) async fn set_pdf(shared: &Shared, uuid: &str, bytes: Vec<u8>) -> Result<String, SandboxError> {
    let uuid = uuid.to_owned();
    let seed = shared.seed_config.seed;
    let at = shared.clock.key();
    let new_uuid = shared
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
            Ok(new_uuid)
        })
        .await?;
    shared.deliveries.notify_one();
    Ok(new_uuid)
}

pub(crate) async fn remove(shared: &Shared, uuid: &str) -> Result<(), SandboxError> {
    let uuid = uuid.to_owned();
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let document = find(transaction, &uuid)?;
            announce(transaction, Event::DocumentDeleted, document.owner_id, document.id, now)?;
            document.delete(transaction)
        })
        .await?;
    shared.deliveries.notify_one();
    Ok(())
}

pub(crate) async fn set_patient_of(shared: &Shared, uuid: &str, other: &str) -> Result<(), SandboxError> {
    let (uuid, other) = (uuid.to_owned(), other.to_owned());
    let now = shared.clock.key();
    shared
        .store
        .run(move |transaction| {
            let document = find(transaction, &uuid)?;
            document.set_patient_of(transaction, &find(transaction, &other)?)?;
            document.touch(transaction, now)?;
            announce(transaction, Event::DocumentUpdated, document.owner_id, document.id, now)
        })
        .await?;
    shared.deliveries.notify_one();
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
