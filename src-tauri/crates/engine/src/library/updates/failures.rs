//! Explains the errors of updates to the user.

use provider::download::DownloadError;
use provider::hub::HubFault;
use updates::{FetchError, InstallError, ManifestError, Refusal};

use crate::api::{ApiError, ProviderClass};
use crate::base::error::{bad_input, sentence};

const LATER: &str =
    "Try again in a few hours. If it happens again, look for a new version where you got this one.";
const RESUME: &str = "Check the network, then try again. A download resumes where it stopped.";
const SPACE: &str = "Free some space on the disk, then try again. This version stays as it is.";
const WRITABLE: &str =
    "Make the folder of the app writable, then try again. This version stays as it is.";
const DOWNLOAD_AGAIN: &str = "Download the update again. This version stays as it is.";

pub(super) fn of_manifest(error: ManifestError) -> ApiError {
    tracing::warn!(%error, "a manifest of updates was refused");
    bad_input(sentence(&error.to_string()), LATER)
}

pub(super) fn of_refusal(refusal: Refusal) -> ApiError {
    tracing::warn!(%refusal, "an update was refused");
    bad_input(sentence(&refusal.to_string()), LATER)
}

pub(super) fn of_fetch(error: FetchError) -> ApiError {
    tracing::warn!(%error, "a download of an update failed");
    let message = sentence(&error.to_string());
    match error {
        FetchError::NoRoom { needed, free } => storage(no_room(needed, free), SPACE),
        FetchError::File { .. } => storage(message, WRITABLE),
        FetchError::Redirected { .. }
        | FetchError::NotText
        | FetchError::Size { .. }
        | FetchError::Checksum => bad_input(message, LATER),
        FetchError::Download(error) => of_download(error, message),
    }
}

pub(super) fn of_install(error: InstallError) -> ApiError {
    tracing::warn!(%error, "an update was not installed");
    let message = sentence(&error.to_string());
    match error {
        InstallError::Full { .. } => storage(message, SPACE),
        InstallError::File { .. } => storage(message, WRITABLE),
        InstallError::Checksum | InstallError::Damaged { .. } | InstallError::Entry { .. } => {
            bad_input(message, DOWNLOAD_AGAIN)
        }
        InstallError::NoPrevious => bad_input(message, "Keep this version."),
    }
}

/// The app ends while the server is asked.
pub(super) fn closing() -> ApiError {
    ApiError::Busy {
        message: "The app is closing.".into(),
        hint: "Check again after the next start.".into(),
    }
}

fn of_download(error: DownloadError, message: String) -> ApiError {
    match error {
        DownloadError::Full { .. } => storage("The disk is full.".into(), SPACE),
        DownloadError::File { .. } => storage(message, WRITABLE),
        DownloadError::Refused { fault, .. } => ApiError::Provider {
            message,
            hint: LATER.into(),
            class: class(fault),
        },
        DownloadError::Broken { .. } | DownloadError::Expired { .. } => ApiError::Provider {
            message: "The server of updates cannot be reached, or the connection was lost.".into(),
            hint: RESUME.into(),
            class: ProviderClass::Unreachable,
        },
        DownloadError::Address { .. }
        | DownloadError::Stopped { .. }
        | DownloadError::Size { .. }
        | DownloadError::TooLong { .. } => bad_input(message, LATER),
    }
}

fn class(fault: HubFault) -> ProviderClass {
    match fault {
        HubFault::NotFound => ProviderClass::NotFound,
        HubFault::RateLimited(_) => ProviderClass::RateLimited,
        HubFault::Server(_) => ProviderClass::Server,
        _ => ProviderClass::BadRequest,
    }
}

fn storage(message: String, hint: &str) -> ApiError {
    ApiError::Storage {
        message,
        hint: hint.to_owned(),
    }
}

fn no_room(needed: u64, free: u64) -> String {
    let gigabytes = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
    format!(
        "The update needs {}, but the disk has {} free.",
        gigabytes(needed),
        gigabytes(free)
    )
}
