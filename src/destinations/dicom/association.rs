//! An association with an archive (DICOM PS3.8) and its messages (PS3.7), over our own connection: dicom-ul reads and
//! writes the PDUs, and nothing larger than [`MOST`] is accepted.

use std::collections::VecDeque;
use std::time::Duration;

use dicom_ul::pdu::{
    AssociationRJResult, AssociationRQ, PDataValue, PDataValueType, Pdu, PresentationContextProposed,
    PresentationContextResultReason, UserVariableItem, read_pdu, write_pdu,
};
use tokio::time::{Instant, timeout};

use super::dimse::{C_STORE, MESSAGE};
use super::element::{self, Elements};
use super::object::implementation;
use super::{EXPLICIT, IMPLICIT};
use crate::destinations::DicomHost;
use crate::destinations::line::{Line, Lost};
use crate::system::tls::Tls;

/// Bytes of the head of a PDU.
const HEAD: usize = 6;
/// PS3.7, A.2.1
const APPLICATION_CONTEXT: &str = "1.2.840.10008.3.1.1.1";
/// The largest PDU, and the largest message, that is accepted, in bytes. Answers are small.
const MOST: u32 = 64 * 1024;
/// The most fragments of an answer.
const MOST_FRAGMENTS: usize = 1024;
/// The most that one PDU sends, in bytes.
const LARGEST: usize = 64 * 1024;
/// Bytes of a fragment besides its data.
const FRAGMENT_HEAD: usize = 6;
/// The longest wait for the archive's answer to a release.
const GOODBYE: Duration = Duration::from_secs(2);

/// Why there is no association.
pub(super) enum NoAssociation {
    /// There is no connection: a code and our words.
    Down(&'static str, String),
    /// The association was rejected; whether permanently.
    Rejected(bool),
    /// The connection was lost.
    Lost(Lost),
}

/// The presentation context of a message, and whether its elements name their type (Explicit VR).
#[derive(Clone, Copy)]
pub(super) struct Context {
    id: u8,
    pub(super) is_explicit: bool,
}

/// A received message: its command, and its data set if it has one.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Message {
    /// In Implicit VR, as every command is.
    pub command: Vec<u8>,
    /// In the transfer syntax of the context.
    pub data: Vec<u8>,
}

impl Message {
    /// The status of the answer to the only message in progress; `None` if it answers another message.
    pub(super) fn status_of(&self, command: u16) -> Option<u16> {
        let is_its = element::number(&self.command, element::COMMAND) == Some(command | 0x8000)
            && element::number(&self.command, element::ANSWERED_ID) == Some(MESSAGE);
        element::number(&self.command, element::STATUS).filter(|_| is_its)
    }

    /// The status of an answer to C-STORE of this instance.
    pub fn stored(&self, instance: &str) -> Option<u16> {
        let told = element::uid(&self.command, element::AFFECTED_INSTANCE);
        self.status_of(C_STORE).filter(|_| told.is_none_or(|told| told == instance))
    }
}

/// The bytes that an archive sends on an association.
#[derive(Debug, Default)]
pub struct Answers {
    bytes: Vec<u8>,
    fragments: VecDeque<PDataValue>,
    message: Message,
    has_command: bool,
    taken: usize,
}

impl Answers {
    /// Takes the next bytes.
    pub fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next complete PDU.
    fn pdu(&mut self) -> Result<Option<Pdu>, Lost> {
        let Some([kind, _, length @ ..]) = self.bytes.first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length);
        if !(2..=7).contains(kind) || length > MOST {
            return Err(Lost::Foreign);
        }
        let end = usize::try_from(length).map_err(|_| Lost::Foreign)? + HEAD;
        let Some(whole) = self.bytes.get(..end) else { return Ok(None) };
        let pdu = read_pdu(whole, MOST, true).ok().flatten().ok_or(Lost::Foreign);
        self.bytes.drain(..end);
        pdu.map(Some)
    }

    /// The next complete message; nothing else may come on an open association.
    ///
    /// # Errors
    /// `Cut` if the archive ends the association, `Foreign` if it sends something else, or too much.
    pub fn message(&mut self) -> Result<Option<Message>, Lost> {
        loop {
            while let Some(fragment) = self.fragments.pop_front() {
                if let Some(message) = self.joined(fragment)? {
                    return Ok(Some(message));
                }
            }
            match self.pdu()? {
                None => return Ok(None),
                Some(Pdu::PData { data }) => self.fragments.extend(data),
                Some(Pdu::AbortRQ { .. } | Pdu::ReleaseRQ) => return Err(Lost::Cut),
                Some(_) => return Err(Lost::Foreign),
            }
        }
    }

    fn joined(&mut self, fragment: PDataValue) -> Result<Option<Message>, Lost> {
        self.taken += 1;
        let is_command = fragment.value_type == PDataValueType::Command;
        let part = if is_command { &mut self.message.command } else { &mut self.message.data };
        part.extend(fragment.data);
        if is_command == self.has_command || part.len() > MOST as usize || self.taken > MOST_FRAGMENTS {
            return Err(Lost::Foreign);
        }
        self.has_command |= is_command && fragment.is_last;
        let ends =
            !is_command || element::number(&self.message.command, element::DATA_SET_TYPE) == Some(element::NO_DATA_SET);
        if !fragment.is_last || !ends {
            return Ok(None);
        }
        (self.has_command, self.taken) = (false, 0);
        Ok(Some(std::mem::take(&mut self.message)))
    }
}

/// An association.
pub(super) struct Association {
    line: Line,
    contexts: Vec<(&'static str, Context)>,
    /// The most data in a fragment.
    most: usize,
    answers: Answers,
}

impl Association {
    /// Connects, and proposes these abstract syntaxes.
    ///
    /// # Errors
    /// [`NoAssociation`]
    pub(super) async fn open(
        destination: &str,
        host: &DicomHost,
        tls: Option<&Tls>,
        wanted: &[&'static str],
    ) -> Result<Self, NoAssociation> {
        let opened = Line::open(destination, (&host.host, host.port), tls, host.timeout).await;
        let line = opened.map_err(|(code, words)| NoAssociation::Down(code, words))?;
        let mut association =
            Self { line, contexts: Vec::new(), most: LARGEST - FRAGMENT_HEAD, answers: Answers::default() };
        let ids = (1..).step_by(2);
        let asked: Vec<(u8, &'static str)> = ids.zip(wanted.iter().copied()).collect();
        let request = AssociationRQ {
            protocol_version: 1,
            calling_ae_title: host.calling.clone(),
            called_ae_title: host.called.clone(),
            application_context_name: APPLICATION_CONTEXT.to_owned(),
            presentation_contexts: asked
                .iter()
                .map(|(id, syntax)| PresentationContextProposed {
                    id: *id,
                    abstract_syntax: (*syntax).to_owned(),
                    transfer_syntaxes: transfer_syntaxes(syntax).map(str::to_owned).collect(),
                })
                .collect(),
            user_variables: vec![
                UserVariableItem::MaxLength(MOST),
                UserVariableItem::ImplementationClassUID(implementation()),
            ],
        };
        association.write(&[Pdu::AssociationRQ(request)]).await.map_err(NoAssociation::Lost)?;
        match association.read().await.map_err(NoAssociation::Lost)? {
            Pdu::AssociationAC(accepted) => {
                for result in accepted.presentation_contexts {
                    let of_it = asked.iter().find(|(id, _)| *id == result.id);
                    if let (Some((id, syntax)), PresentationContextResultReason::Acceptance) = (of_it, result.reason) {
                        // Some archives pad it to an even length, like a value.
                        let accepted = result.transfer_syntax.trim_end_matches('\0');
                        let is_offered = transfer_syntaxes(syntax).any(|offered| offered == accepted);
                        let context = Context { id: *id, is_explicit: accepted == EXPLICIT };
                        association.contexts.extend(is_offered.then_some((*syntax, context)));
                    }
                }
                let most = accepted.user_variables.iter().find_map(|item| match item {
                    UserVariableItem::MaxLength(most) => usize::try_from(*most).ok().filter(|most| *most > 0),
                    _ => None,
                });
                // Even, as every fragment must be.
                let most = most.unwrap_or(LARGEST).min(LARGEST).saturating_sub(FRAGMENT_HEAD) & !1;
                if most == 0 {
                    return Err(NoAssociation::Lost(Lost::Foreign));
                }
                association.most = most;
                Ok(association)
            }
            Pdu::AssociationRJ(rejected) => {
                Err(NoAssociation::Rejected(rejected.result == AssociationRJResult::Permanent))
            }
            Pdu::AbortRQ { .. } => Err(NoAssociation::Lost(Lost::Cut)),
            _ => Err(NoAssociation::Lost(Lost::Foreign)),
        }
    }

    /// The context of an abstract syntax, if the archive accepted it.
    pub(super) fn context(&self, syntax: &str) -> Option<Context> {
        self.contexts.iter().find(|(accepted, _)| *accepted == syntax).map(|(_, context)| *context)
    }

    /// Sends a command.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn command(&mut self, context: Context, command: Elements) -> Result<(), Lost> {
        self.send(context, PDataValueType::Command, &command.with_length(0x0000), true).await
    }

    /// Sends a part of a data set; its length is even.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn data(&mut self, context: Context, part: &[u8], is_last: bool) -> Result<(), Lost> {
        self.send(context, PDataValueType::Data, part, is_last).await
    }

    async fn send(&mut self, context: Context, kind: PDataValueType, part: &[u8], is_last: bool) -> Result<(), Lost> {
        let count = part.len().div_ceil(self.most);
        let pdus: Vec<Pdu> = part
            .chunks(self.most)
            .enumerate()
            .map(|(number, data)| Pdu::PData {
                data: vec![PDataValue {
                    presentation_context_id: context.id,
                    value_type: kind.clone(),
                    is_last: is_last && number + 1 == count,
                    data: data.to_vec(),
                }],
            })
            .collect();
        self.write(&pdus).await
    }

    /// Waits for an answer.
    ///
    /// # Errors
    /// [`Lost`]
    pub(super) async fn answer(&mut self) -> Result<Message, Lost> {
        let until = self.line.deadline();
        loop {
            match self.answers.message()? {
                Some(message) => return Ok(message),
                None => self.hear(until).await?,
            }
        }
    }

    /// Whether the archive has sent nothing yet, and is still connected.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.answers.bytes.is_empty() && self.line.read_now(&mut [0]).is_none()
    }

    /// Ends the association in agreement with the archive.
    pub(super) async fn release(mut self) {
        let parting = async {
            self.write(&[Pdu::ReleaseRQ]).await?;
            self.read().await
        };
        let _ = timeout(GOODBYE, parting).await;
    }

    async fn write(&mut self, pdus: &[Pdu]) -> Result<(), Lost> {
        let mut bytes = Vec::new();
        for pdu in pdus {
            write_pdu(&mut bytes, pdu).map_err(|_| Lost::Foreign)?;
        }
        self.line.write(&bytes).await
    }

    async fn read(&mut self) -> Result<Pdu, Lost> {
        let until = self.line.deadline();
        loop {
            match self.answers.pdu()? {
                Some(pdu) => return Ok(pdu),
                None => self.hear(until).await?,
            }
        }
    }

    async fn hear(&mut self, until: Instant) -> Result<(), Lost> {
        let mut piece = [0; 4096];
        let read = self.line.read(&mut piece, until).await?;
        self.answers.push(piece.get(..read).unwrap_or_default());
        Ok(())
    }
}

/// Queries use the syntax that every archive must support (PS3.5, section 10.1).
fn transfer_syntaxes(syntax: &str) -> impl Iterator<Item = &'static str> {
    [(syntax == super::PDF_STORAGE).then_some(EXPLICIT), Some(IMPLICIT)].into_iter().flatten()
}
