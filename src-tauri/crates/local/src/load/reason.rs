//! Why a model is not loaded as wished, as facts that every front end puts into its own words.

use provider::{ProviderError, ProviderErrorKind};
use serde::{Deserialize, Serialize};

/// The reason why graphics devices or memory could not be used as wished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum LoadReason {
    /// The worker died while it used the devices. `detail` is technical: the signal and the last
    /// output.
    Crashed {
        detail: String,
    },
    /// The driver failed when the devices were listed. `detail` is technical.
    DriverFailed {
        detail: String,
    },
    /// The worker, which lists the devices, could not be started. `detail` is technical.
    WorkerNotStarted {
        detail: String,
    },
    /// The driver did not answer.
    DriverSilent {
        seconds: u32,
    },
    /// There is no graphics device that the worker can use, or none with this name.
    NoDevice {
        device: Option<String>,
    },
    OutOfMemory,
    /// llama.cpp did not load the model, and does not say why.
    Refused,
}

impl std::fmt::Display for LoadReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let after = |detail: &str| {
            if detail.is_empty() {
                String::new()
            } else {
                format!(" ({detail})")
            }
        };
        match self {
            Self::Crashed { detail } => {
                write!(f, "the graphics driver ended the worker{}", after(detail))
            }
            Self::DriverFailed { detail } => {
                write!(f, "the graphics driver failed{}", after(detail))
            }
            Self::WorkerNotStarted { detail } => {
                write!(f, "the worker could not be started{}", after(detail))
            }
            Self::DriverSilent { seconds } => {
                write!(
                    f,
                    "the graphics driver did not answer within {seconds} seconds"
                )
            }
            Self::NoDevice { device: Some(name) } => {
                write!(
                    f,
                    "this machine has no graphics device {name} that the worker can use"
                )
            }
            Self::NoDevice { device: None } => {
                f.write_str("this machine has no graphics device that the worker can use")
            }
            Self::OutOfMemory => f.write_str("the memory is not enough"),
            Self::Refused => f.write_str("it could not be loaded otherwise"),
        }
    }
}

/// How a worker died, in technical words: the source of the error that its death causes.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DeathDetail(pub(crate) String);

impl DeathDetail {
    fn of(error: &ProviderError) -> Option<&Self> {
        error
            .source
            .as_ref()
            .and_then(|source| source.downcast_ref())
    }
}

/// Whether the worker ended by itself: not by another program or the system, which ends it if
/// memory is short.
pub(crate) fn died_by_itself(error: &ProviderError) -> bool {
    let killed = || DeathDetail::of(error).is_some_and(|detail| detail.0.starts_with("SIGKILL"));
    error.kind == ProviderErrorKind::WorkerDied && !killed()
}

impl From<&ProviderError> for LoadReason {
    fn from(error: &ProviderError) -> Self {
        match error.kind {
            ProviderErrorKind::WorkerDied => {
                let detail = DeathDetail::of(error);
                Self::Crashed {
                    detail: detail.map(ToString::to_string).unwrap_or_default(),
                }
            }
            ProviderErrorKind::OutOfMemory => Self::OutOfMemory,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_become_facts() {
        let failed = |kind| ProviderError::new(kind, "an English sentence", "");
        assert_eq!(
            LoadReason::from(&failed(ProviderErrorKind::OutOfMemory)),
            LoadReason::OutOfMemory
        );
        assert_eq!(
            LoadReason::from(&failed(ProviderErrorKind::Model)),
            LoadReason::Refused
        );
        let died = failed(ProviderErrorKind::WorkerDied).caused_by(DeathDetail("SIGABRT".into()));
        let reason = LoadReason::from(&died);
        assert_eq!(
            reason,
            LoadReason::Crashed {
                detail: "SIGABRT".into()
            }
        );
        assert_eq!(
            reason.to_string(),
            "the graphics driver ended the worker (SIGABRT)"
        );
        let killed =
            failed(ProviderErrorKind::WorkerDied).caused_by(DeathDetail("SIGKILL; loading".into()));
        assert!(died_by_itself(&died) && !died_by_itself(&killed));
        assert!(!died_by_itself(&failed(ProviderErrorKind::Model)));
        let unknown = LoadReason::from(&failed(ProviderErrorKind::WorkerDied));
        assert_eq!(unknown.to_string(), "the graphics driver ended the worker");
    }
}
