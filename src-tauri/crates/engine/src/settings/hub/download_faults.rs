//! Why a download stops, and whether another attempt may help.

use std::path::Path;
use std::time::Duration;

use provider::download::DownloadError;
use provider::hub::{HubError, HubFault};

use crate::api::ApiError;

/// Why a try ended.
pub(super) enum Fault {
    /// The user paused or cancelled it, or the app ends.
    Stopped,
    /// Another try may succeed, after this pause if the hub asks for one.
    Retry {
        reason: String,
        hint: String,
        after: Option<Duration>,
    },
    /// The user must act.
    Final { reason: String, hint: String },
}

pub(super) fn unwritable(path: &Path, source: &std::io::Error) -> Fault {
    Fault::Final {
        reason: format!("{} cannot be written: {source}.", path.display()),
        hint: "Free some space on the disk, or make the folder writable, then try again.".into(),
    }
}

pub(super) fn final_fault(error: ApiError) -> Fault {
    let (reason, hint) = match error {
        ApiError::BadInput { message, hint }
        | ApiError::Provider { message, hint, .. }
        | ApiError::Storage { message, hint }
        | ApiError::Keychain { message, hint } => (message, hint),
        other => (other.to_string(), String::new()),
    };
    Fault::Final { reason, hint }
}

pub(super) fn fault(error: DownloadError) -> Fault {
    if let DownloadError::Refused {
        host,
        status,
        fault,
    } = error
    {
        return refusal(HubError { host, fault }, status.as_u16());
    }
    let reason = crate::base::error::sentence(&error.to_string());
    match error {
        DownloadError::Stopped { .. } => Fault::Stopped,
        DownloadError::Broken { .. } => Fault::Retry {
            reason: "The connection was lost.".into(),
            hint: "Check the network. The download resumes where it stopped.".into(),
            after: None,
        },
        DownloadError::Expired { .. } => Fault::Retry {
            reason: "The link to the file has expired.".into(),
            hint: "The download gets a new link from the hub, and resumes where it stopped.".into(),
            after: None,
        },
        DownloadError::Full { .. } => Fault::Final {
            reason: "The disk is full. What was downloaded is deleted.".into(),
            hint: "Free some space, or choose another download folder, then try again.".into(),
        },
        DownloadError::Size { .. } | DownloadError::TooLong { .. } => Fault::Final {
            reason: reason + " It was deleted.",
            hint: "Search for the model again. If it happens again, choose another one.".into(),
        },
        DownloadError::Address { .. }
        | DownloadError::File { .. }
        | DownloadError::Refused { .. } => Fault::Final {
            reason,
            hint: "Make the download folder writable, then try again.".into(),
        },
    }
}

pub(super) fn refusal(error: HubError, status: u16) -> Fault {
    let reason = crate::base::error::sentence(&error.to_string());
    let hint = error.hint().to_owned();
    match error.fault {
        HubFault::RateLimited(after) => Fault::Retry {
            reason,
            hint,
            after,
        },
        HubFault::Server(_) | HubFault::Timeout | HubFault::Unreachable => Fault::Retry {
            reason,
            hint,
            after: None,
        },
        // The part was longer than the file; it is deleted, and the next try starts over.
        HubFault::Refused(_) if status == 416 => Fault::Retry {
            reason,
            hint,
            after: None,
        },
        _ => Fault::Final { reason, hint },
    }
}
