//! The versions of the interface ("Versioning").

/// A version label of the API description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 1.0.0: four workflow steps, no notes.
    V1_0,
    /// 1.1.0, which here also stands for 1.75.0, the label of the overall description.
    #[default]
    V1_1,
}

impl Version {
    /// How the label is written.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0.0",
            Self::V1_1 => "1.1.0",
        }
    }

    /// The label of the description if none was requested. For the newest version it is the label of the whole.
    #[must_use]
    pub(crate) fn described_as(self) -> &'static str {
        match self {
            Self::V1_0 => "1.0.0",
            Self::V1_1 => "1.75.0",
        }
    }
}

impl std::str::FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1.0.0" => Ok(Self::V1_0),
            "1.1.0" | "1.75.0" => Ok(Self::V1_1),
            _ => Err(format!("\"{text}\" is no version of this API; it has 1.0.0, 1.1.0 and 1.75.0")),
        }
    }
}
