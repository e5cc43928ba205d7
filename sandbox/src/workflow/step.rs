//! The steps of `audioWorkflowStepV3` in version 1.1.0, and their order. The transitions are "not shown", so they are
//! the sandbox's choice.

use crate::error::SandboxError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    AudioRecording,
    Transcription,
    Transcribed,
    Edition,
    Validated,
    Failed,
}

impl Step {
    pub const ALL: [Self; 6] =
        [Self::AudioRecording, Self::Transcription, Self::Transcribed, Self::Edition, Self::Validated, Self::Failed];

    /// The name in the description.
    pub fn name(self) -> &'static str {
        match self {
            Self::AudioRecording => "audio_recording",
            Self::Transcription => "transcription",
            Self::Transcribed => "transcribed",
            Self::Edition => "edition",
            Self::Validated => "validated",
            Self::Failed => "failed",
        }
    }

    pub fn named(name: &str) -> Result<Self, SandboxError> {
        let found = Self::ALL.into_iter().find(|step| step.name() == name);
        found.ok_or_else(|| SandboxError::NoSuchStep { step: name.to_owned() })
    }

    /// The next step if all goes well; `None` at the end. From every step with a next one, an audio can also fail.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::AudioRecording => Some(Self::Transcription),
            Self::Transcription => Some(Self::Transcribed),
            Self::Transcribed => Some(Self::Edition),
            Self::Edition => Some(Self::Validated),
            Self::Validated | Self::Failed => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::records::STEPS_1_1;

    #[test]
    fn the_steps_are_those_of_the_description() {
        assert_eq!(Step::ALL.map(Step::name), *STEPS_1_1);
        for name in STEPS_1_1 {
            assert_eq!(Step::named(name).unwrap().name(), *name);
        }
        assert!(Step::named("lost").unwrap_err().to_string().contains("audio_recording"));
    }

    #[test]
    fn every_way_ends() {
        let way: Vec<Step> = std::iter::successors(Some(Step::AudioRecording), |step| step.next()).collect();
        assert_eq!(way, Step::ALL.split_last().map(|(_failed, way)| way.to_vec()).unwrap());
        assert_eq!(Step::Failed.next(), None);
    }
}
