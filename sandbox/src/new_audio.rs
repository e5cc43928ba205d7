//! Recordings that a test dictates.

use serde::Deserialize;
use serde_json::Value;

use crate::json::given;

/// An audio to record. Whatever is left at its default is invented. In JSON its members have the API's names.
///
/// ```
/// use docsyncd_sandbox::NewAudio;
/// let recording = NewAudio { language_spoken: Some("en".into()), ..NewAudio::default() };
/// # let _ = recording;
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct NewAudio {
    /// The uuid.
    pub uuid: Option<String>,
    /// The API key whose user recorded it; the first key by default.
    pub owner: Option<String>,
    /// The patient. A string is the uuid of an existing one, and `Some(Value::Null)` is none. The members of an object
    /// replace those of an invented patient.
    #[serde(deserialize_with = "given")]
    pub patient: Option<Value>,
    /// `meeting`, a uuid.
    pub meeting: Option<String>,
    /// `languageSpoken`; the documents made from the recording are in French or English accordingly.
    pub language_spoken: Option<String>,
    /// `summary`, which also becomes the note's content.
    pub summary: Option<String>,
    /// The first step of the workflow, `audio_recording` by default. A recording that starts as `validated` has its
    /// documents from the start.
    #[serde(rename = "audioWorkflowStepV3")]
    pub step: Option<String>,
}
