//! A DICOM archive in this process: it keeps the PDF of each object once, by what identifies it and its patient, shows
//! what it keeps, and fails on demand. Over associations it is a [`Peer`]; [`DicomWeb`] is the same for the server of
//! [`crate::peer`].

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use dicom_ul::pdu::{
    AbortRQSource, AssociationAC, AssociationRJ, AssociationRJResult, AssociationRJServiceUserReason,
    AssociationRJSource, PDataValue, PDataValueType, Pdu, PresentationContextResult, PresentationContextResultReason,
    UserVariableItem, read_pdu, write_pdu,
};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::double::Double;
use crate::peer::Received;

const PDF_STORAGE: &str = "1.2.840.10008.5.1.4.1.1.104.1";
const FIND: &str = "1.2.840.10008.5.1.4.1.2.2.1";
const EXPLICIT: &str = "1.2.840.10008.1.2.1";
const MOST: u32 = 1 << 20;

/// What happens to a letter, or to the association that brings it, instead of the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is kept, and answered with this status.
    Say(u16),
    /// The same, and it is not kept.
    Refuse(u16),
    /// The association is rejected: whether for good.
    Reject(bool),
    /// It is kept, and the association aborted.
    Abort,
    /// The connection ends after so many bytes of it.
    CutAfter(usize),
    /// Nothing is read after so many bytes of it.
    StallAfter(usize),
    /// It is kept, and not answered.
    Silence,
    /// It is kept; the answer is these bytes, and then nothing.
    Bytes(Vec<u8>),
    /// It is kept, and half of the answer comes before the connection ends.
    Half,
    /// It is kept; the answer is that of another instance, or of another message.
    OtherInstance,
    OtherMessage,
    /// It is said to be kept before it came whole, and then the association ends.
    Early,
}

/// An object that came whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub elements: BTreeMap<(u16, u16), Vec<u8>>,
    /// Whether each element said of what kind it is.
    pub is_explicit: bool,
    /// The most that came in one PDU.
    pub largest: usize,
}

impl Object {
    /// Elements of a data set, whose sequences stay as they are.
    pub fn parse(mut bytes: &[u8], is_explicit: bool) -> Self {
        let mut elements = BTreeMap::new();
        let mut before = None;
        while !bytes.is_empty() {
            let short = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            let tag = (short(0), short(2));
            assert!(Some(tag) > before, "{tag:04x?} stands behind {before:04x?}");
            before = Some(tag);
            let long = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let (begin, length) = match (is_explicit, &bytes[4..6]) {
                (false, _) => (8, long(4)),
                (true, b"OB" | b"SQ") => (12, long(8)),
                (true, _) => (8, usize::from(short(6))),
            };
            assert_eq!(length % 2, 0, "{tag:04x?} is odd");
            elements.insert(tag, bytes[begin..begin + length].to_vec());
            bytes = &bytes[begin + length..];
        }
        Self { elements, is_explicit, largest: 0 }
    }

    /// The text of an element, without what makes it even.
    pub fn text(&self, group: u16, element: u16) -> String {
        let bytes = self.elements.get(&(group, element)).unwrap_or_else(|| panic!("no ({group:04x},{element:04x})"));
        String::from_utf8(bytes.clone()).expect("ISO_IR 192").trim_matches(['\0', ' ']).to_owned()
    }

    pub fn instance(&self) -> String {
        self.text(0x0008, 0x0018)
    }

    pub fn study(&self) -> String {
        self.text(0x0020, 0x000d)
    }

    pub fn pdf(&self) -> Vec<u8> {
        let length = u32::from_le_bytes(self.elements[&(0x0042, 0x0015)].clone().try_into().expect("four bytes"));
        let padded = &self.elements[&(0x0042, 0x0011)];
        assert_eq!(padded.len(), (length as usize).next_multiple_of(2));
        padded[..length as usize].to_vec()
    }

    /// As archives do: what has another patient, study or series is another object.
    pub fn identity(&self) -> String {
        let parts = [(0x0010, 0x0020), (0x0020, 0x000d), (0x0020, 0x000e), (0x0008, 0x0018)];
        parts.map(|(group, element)| self.text(group, element)).join("/")
    }
}

#[derive(Debug, Default)]
pub struct State {
    /// For the next letters, one each.
    pub faults: VecDeque<Fault>,
    /// Every object that came whole, in order.
    pub received: Vec<Object>,
    /// Those that were kept.
    pub kept: BTreeMap<String, Object>,
    /// The questions that were asked.
    pub queries: usize,
    /// Queries are no context that it accepts.
    pub hides: bool,
    /// It rejects an association that is for nothing else.
    pub rejects_queries: bool,
    /// It aborts the association of whoever asks.
    pub aborts_queries: bool,
    /// It shows everything, whatever is asked for.
    pub filters_nothing: bool,
    /// What it says that the length of each PDF is.
    pub shows_length: Option<u32>,
    /// So many more queries show nothing.
    pub lags: usize,
    /// It takes no PDFs.
    pub takes_no_pdfs: bool,
    /// It knows no other form than the one that everybody has to know.
    pub is_implicit: bool,
    /// The most that a PDU to it has; 0: whatever.
    pub most: u32,
    /// The titles by which it was called, and by whom.
    pub called: Vec<(String, String)>,
}

impl State {
    /// Keeps an object, unless it has it.
    pub fn keep(&mut self, object: Object) {
        self.kept.entry(object.identity()).or_insert(object);
    }

    /// Of those that it keeps, the ones with this study and instance.
    fn shown(&mut self, study: &str, instance: &str) -> Vec<Object> {
        self.queries += 1;
        if self.lags > 0 {
            self.lags -= 1;
            return Vec::new();
        }
        let is_asked_for =
            |object: &&Object| self.filters_nothing || object.study() == study && object.instance() == instance;
        self.kept.values().filter(is_asked_for).cloned().collect()
    }
}

/// The archive.
pub type Peer = Double<State>;

impl Peer {
    pub async fn start() -> Self {
        Self::serving(|stream, state| serve(stream, state, None)).await
    }

    pub fn inject(&self, fault: Fault) {
        self.state().faults.push_back(fault);
    }

    pub fn received(&self) -> Vec<Object> {
        self.state().received.clone()
    }

    /// The PDF of each object that is kept.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().kept.iter().map(|(identity, object)| (identity.clone(), object.pdf())).collect()
    }
}

/// What becomes of an object that came, or of a question (`None`): the status that is answered, the object being kept
/// by the gate; `None`: nothing is answered.
pub type Gate = Arc<dyn Fn(Option<Object>) -> Pin<Box<dyn Future<Output = Option<u16>> + Send>> + Send + Sync>;

/// Serves one connection, by the rules of the gate if there is one.
pub async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin, state: Arc<Mutex<State>>, gate: Option<Gate>) {
    let _ = Serving { stream, state, gate, most: 0, largest: 0 }.associate().await;
}

struct Serving<S> {
    stream: S,
    state: Arc<Mutex<State>>,
    gate: Option<Gate>,
    most: usize,
    largest: usize,
}

/// What comes next is nothing, or not to be answered.
struct Ended;

impl<S: AsyncRead + AsyncWrite + Unpin> Serving<S> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panicked with it")
    }

    async fn read(&mut self) -> Result<Pdu, Ended> {
        let mut pdu = vec![0; 6];
        self.stream.read_exact(&mut pdu).await.map_err(|_| Ended)?;
        let length = u32::from_be_bytes(pdu[2..].try_into().unwrap());
        pdu.resize(6 + length as usize, 0);
        self.stream.read_exact(&mut pdu[6..]).await.map_err(|_| Ended)?;
        if pdu[0] == 4 {
            self.largest = self.largest.max(length as usize);
            assert!(self.most == 0 || length as usize <= self.most, "a PDU of {length} bytes");
        }
        Ok(read_pdu(pdu.as_slice(), MOST, true).unwrap().expect("a whole PDU"))
    }

    async fn write(&mut self, pdu: Pdu) -> Result<(), Ended> {
        let mut bytes = Vec::new();
        write_pdu(&mut bytes, &pdu).unwrap();
        self.stream.write_all(&bytes).await.map_err(|_| Ended)
    }

    async fn abort<T>(&mut self) -> Result<T, Ended> {
        self.write(Pdu::AbortRQ { source: AbortRQSource::ServiceUser }).await?;
        Err(Ended)
    }

    async fn associate(&mut self) -> Result<(), Ended> {
        let Pdu::AssociationRQ(asked) = self.read().await? else { panic!("no association is asked for") };
        let mut forms = BTreeMap::new();
        let brings = asked.presentation_contexts.iter().any(|context| context.abstract_syntax == PDF_STORAGE)
            && asked.presentation_contexts.len() == 1;
        let (fault, answer) = {
            let mut state = self.lock();
            state.called.push((asked.called_ae_title.clone(), asked.calling_ae_title.clone()));
            let fault = if brings { state.faults.pop_front() } else { None };
            let results = asked.presentation_contexts.iter().map(|context| {
                let syntax = match state.is_implicit {
                    true => context.transfer_syntaxes.last(),
                    false => context.transfer_syntaxes.first(),
                };
                let syntax = syntax.expect("a syntax").clone();
                let is_refused = match context.abstract_syntax.as_str() {
                    PDF_STORAGE => state.takes_no_pdfs,
                    FIND => state.hides,
                    _ => false,
                };
                forms.insert(context.id, syntax == EXPLICIT);
                let reason = match is_refused {
                    true => PresentationContextResultReason::AbstractSyntaxNotSupported,
                    false => PresentationContextResultReason::Acceptance,
                };
                PresentationContextResult { id: context.id, reason, transfer_syntax: syntax }
            });
            let answer = AssociationAC {
                protocol_version: 1,
                calling_ae_title: asked.calling_ae_title.clone(),
                called_ae_title: asked.called_ae_title.clone(),
                application_context_name: asked.application_context_name.clone(),
                presentation_contexts: results.collect(),
                user_variables: vec![UserVariableItem::MaxLength(state.most)],
            };
            (fault, answer)
        };
        let most = self.lock().most as usize;
        self.most = most;
        let is_query = asked.presentation_contexts.iter().all(|context| context.abstract_syntax == FIND);
        let fault = if is_query && self.lock().rejects_queries { Some(Fault::Reject(true)) } else { fault };
        if let Some(Fault::Reject(for_good)) = fault {
            let source = AssociationRJSource::ServiceUser(AssociationRJServiceUserReason::CalledAETitleNotRecognized);
            let result = if for_good { AssociationRJResult::Permanent } else { AssociationRJResult::Transient };
            return self.write(AssociationRJ { result, source }.into()).await;
        }
        self.write(answer.into()).await?;
        let mut fault = fault;
        loop {
            let Some((id, command, data)) = self.message(&mut fault).await? else { return Ok(()) };
            let command = Object::parse(&command, false);
            let kind = u16::from_le_bytes(command.elements[&(0, 0x0100)].clone().try_into().unwrap());
            match kind {
                0x0001 => self.store(id, &command, &data, forms[&id], fault.take()).await?,
                0x0020 => self.find(id, &data).await?,
                0x0030 => self.say(id, 0x8030, 0x0000, &[], None).await?,
                other => panic!("command {other:04x}"),
            }
        }
    }

    /// The next message: its context, its command and its data set.
    async fn message(&mut self, fault: &mut Option<Fault>) -> Result<Option<(u8, Vec<u8>, Vec<u8>)>, Ended> {
        let (mut command, mut data, mut is_whole) = (Vec::new(), Vec::new(), false);
        loop {
            let fragments = match self.read().await? {
                Pdu::PData { data } => data,
                Pdu::ReleaseRQ => {
                    self.write(Pdu::ReleaseRP).await?;
                    return Ok(None);
                }
                other => panic!("{}", other.short_description()),
            };
            for fragment in fragments {
                assert_eq!(fragment.data.len() % 2, 0, "an odd fragment");
                let is_command = fragment.value_type == PDataValueType::Command;
                if is_command { &mut command } else { &mut data }.extend(fragment.data);
                match fault {
                    Some(Fault::CutAfter(bytes)) if !is_command && data.len() >= *bytes => return Err(Ended),
                    Some(Fault::StallAfter(bytes)) if !is_command && data.len() >= *bytes => {
                        std::future::pending::<()>().await;
                    }
                    Some(Fault::Early) if !is_command => {
                        let command = Object::parse(&command, false);
                        return self
                            .say(fragment.presentation_context_id, 0x8001, 0, &command.instance_of(), None)
                            .await
                            .and(Err(Ended));
                    }
                    _ => {}
                }
                is_whole |= is_command && fragment.is_last;
                if fragment.is_last && is_whole {
                    let has_data = Object::parse(&command, false).elements[&(0, 0x0800)] != [1, 1];
                    if has_data != is_command {
                        return Ok(Some((fragment.presentation_context_id, command, data)));
                    }
                }
            }
        }
    }

    async fn store(
        &mut self,
        id: u8,
        command: &Object,
        data: &[u8],
        is_explicit: bool,
        fault: Option<Fault>,
    ) -> Result<(), Ended> {
        let object = Object { largest: self.largest, ..Object::parse(data, is_explicit) };
        assert_eq!(command.instance_of(), object.instance());
        if let Some(gate) = &self.gate {
            let instance = object.instance();
            let status = gate(Some(object)).await.ok_or(Ended)?;
            return self.say(id, 0x8001, status, &instance, None).await;
        }
        {
            let mut state = self.lock();
            state.received.push(object.clone());
            if !matches!(fault, Some(Fault::Refuse(_))) {
                state.keep(object.clone());
            }
        }
        let instance = object.instance();
        match fault {
            None => self.say(id, 0x8001, 0x0000, &instance, None).await,
            Some(Fault::Say(status) | Fault::Refuse(status)) => self.say(id, 0x8001, status, &instance, None).await,
            Some(Fault::OtherInstance) => self.say(id, 0x8001, 0x0000, "1.2.3", None).await,
            Some(Fault::OtherMessage) => self.say(id, 0x8030, 0x0000, &instance, None).await,
            Some(Fault::Abort) => self.abort().await,
            Some(Fault::Bytes(bytes)) => {
                self.stream.write_all(&bytes).await.map_err(|_| Ended)?;
                std::future::pending().await
            }
            Some(Fault::Half) => {
                let answer = answer(id, 0x8001, 0x0000, &instance, None);
                let mut bytes = Vec::new();
                write_pdu(&mut bytes, &answer).unwrap();
                let half = bytes.len() / 2;
                self.stream.write_all(&bytes[..half]).await.map_err(|_| Ended)?;
                Err(Ended)
            }
            Some(Fault::Silence) => std::future::pending().await,
            Some(Fault::Reject(_) | Fault::CutAfter(_) | Fault::StallAfter(_) | Fault::Early) => Err(Ended),
        }
    }

    async fn find(&mut self, id: u8, data: &[u8]) -> Result<(), Ended> {
        if let Some(gate) = &self.gate {
            gate(None).await.ok_or(Ended)?;
        }
        if self.lock().aborts_queries {
            return self.abort().await;
        }
        let wanted = Object::parse(data, false);
        assert_eq!(wanted.text(0x0008, 0x0052), "IMAGE");
        let (found, length) = {
            let mut state = self.lock();
            (state.shown(&wanted.study(), &wanted.instance()), state.shows_length)
        };
        for object in found {
            let mut shown = Vec::new();
            for (tag, value) in [
                ((0x0008, 0x0018), object.elements[&(0x0008, 0x0018)].clone()),
                ((0x0010, 0x0010), b"Canaryworth ".to_vec()),
                ((0x0020, 0x000d), object.elements[&(0x0020, 0x000d)].clone()),
                (
                    (0x0042, 0x0015),
                    length.map_or_else(
                        || object.elements[&(0x0042, 0x0015)].clone(),
                        |length| length.to_le_bytes().to_vec(),
                    ),
                ),
            ] {
                put(&mut shown, tag, &value);
            }
            self.say(id, 0x8020, 0xff00, "", Some(shown)).await?;
        }
        self.say(id, 0x8020, 0x0000, "", None).await
    }

    async fn say(
        &mut self,
        id: u8,
        kind: u16,
        status: u16,
        instance: impl AsRef<[u8]>,
        data: Option<Vec<u8>>,
    ) -> Result<(), Ended> {
        let instance = String::from_utf8(instance.as_ref().to_vec()).unwrap();
        self.write(answer(id, kind, status, &instance, data)).await
    }
}

impl Object {
    /// (0000,1000)
    fn instance_of(&self) -> String {
        self.text(0x0000, 0x1000)
    }
}

fn put(bytes: &mut Vec<u8>, (group, element): (u16, u16), value: &[u8]) {
    let mut value = value.to_vec();
    value.resize(value.len().next_multiple_of(2), 0);
    bytes.extend(group.to_le_bytes());
    bytes.extend(element.to_le_bytes());
    bytes.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
    bytes.extend(value);
}

fn answer(id: u8, kind: u16, status: u16, instance: &str, data: Option<Vec<u8>>) -> Pdu {
    let mut command = Vec::new();
    let set: u16 = if data.is_some() { 0 } else { 0x0101 };
    for (element, value) in [(0x0100, kind), (0x0120, 1), (0x0800, set), (0x0900, status)] {
        put(&mut command, (0, element), &value.to_le_bytes());
    }
    put(&mut command, (0, 0x0902), b"Canaryworth is refused");
    if !instance.is_empty() {
        put(&mut command, (0, 0x1000), instance.as_bytes());
    }
    let fragment = |value_type, data| PDataValue { presentation_context_id: id, value_type, is_last: true, data };
    let mut fragments = vec![fragment(PDataValueType::Command, command)];
    fragments.extend(data.map(|data| fragment(PDataValueType::Data, data)));
    Pdu::PData { data: fragments }
}

/// An archive over DICOMweb, as a part of a server of HTTP.
#[derive(Debug, Default)]
pub struct DicomWeb {
    pub archive: State,
    /// The status and the answer to the next letter, in which `INSTANCE` stands for its own; whether it is kept.
    pub says: Option<(u16, Value, bool)>,
    /// What a search is refused with.
    pub hides: Option<u16>,
}

/// An answer to STOW-RS that says that these are kept, and that these are not, and why.
pub fn stored(kept: &[&str], failed: &[(&str, u16)]) -> Value {
    let of = |instance: &str| json!({"vr": "UI", "Value": [instance]});
    let kept: Vec<Value> = kept.iter().map(|instance| json!({"00081155": of(instance)})).collect();
    let failed: Vec<Value> = failed
        .iter()
        .map(|(instance, reason)| json!({"00081155": of(instance), "00081197": {"vr": "US", "Value": [reason]}}))
        .collect();
    json!({"00081198": {"vr": "SQ", "Value": failed}, "00081199": {"vr": "SQ", "Value": kept}})
}

impl DicomWeb {
    /// The status and the body.
    pub(crate) fn answer(&mut self, request: &Received) -> (u16, Vec<u8>) {
        let url = url::Url::parse(&format!("http://localhost{}", request.path)).expect("a path");
        match (request.method.as_str(), url.path()) {
            ("POST", "/dicom-web/studies") => {
                let object = part(request);
                let instance = object.instance();
                self.archive.received.push(object.clone());
                let (status, body, keeps) = self.says.take().unwrap_or((200, stored(&[&instance], &[]), true));
                if keeps {
                    self.archive.keep(object);
                }
                (status, body.to_string().replace("INSTANCE", &instance).into_bytes())
            }
            ("GET", "/dicom-web/instances") => match self.hides {
                Some(status) => (status, b"Canaryworth is not welcome".to_vec()),
                None => {
                    let of =
                        |name: &str| url.query_pairs().find(|(key, _)| key == name).expect("all three").1.into_owned();
                    let shown = self.archive.shown(&of("StudyInstanceUID"), &of("SOPInstanceUID"));
                    let length = self.archive.shows_length;
                    let entry = |object: Object| {
                        let length = length.unwrap_or_else(|| u32::try_from(object.pdf().len()).unwrap());
                        json!({"00080018": {"vr": "UI", "Value": [object.instance()]},
                            "0020000D": {"vr": "UI", "Value": [object.study()]},
                            "00420015": {"vr": "UL", "Value": [length]}})
                    };
                    match shown.is_empty() {
                        true => (204, Vec::new()),
                        false => (200, Value::from_iter(shown.into_iter().map(entry)).to_string().into_bytes()),
                    }
                }
            },
            _ => (404, b"{}".to_vec()),
        }
    }
}

/// The object in a body of STOW-RS.
fn part(request: &Received) -> Object {
    let kind = request.header("content-type").expect("a type");
    let boundary = kind.split_once("boundary=\"").expect("a boundary").1.trim_end_matches('"');
    assert!(kind.starts_with("multipart/related; type=\"application/dicom\";") && boundary.len() <= 70, "{kind}");
    let begin = format!("--{boundary}\r\nContent-Type: application/dicom\r\n\r\n");
    let end = format!("\r\n--{boundary}--\r\n");
    let body = request.body.strip_prefix(begin.as_bytes()).expect("one part");
    let file = body.strip_suffix(end.as_bytes()).expect("its end");
    assert_eq!(&file[128..132], b"DICM");
    // (0002,0000) tells how long the rest of the head is.
    let length = u32::from_le_bytes(file[140..144].try_into().unwrap()) as usize;
    let meta = Object::parse(&file[132..144 + length], true);
    assert_eq!(meta.text(0x0002, 0x0010), EXPLICIT);
    let object = Object::parse(&file[144 + length..], true);
    assert_eq!(meta.text(0x0002, 0x0003), object.instance());
    object
}
