//! Prints the status of the protection, and what a conversion did.

use engine::api::{ProtectionReport, ProtectionStatus, SwapProtection};
use serde::Serialize;

use crate::failure::CommandError;
use crate::output::Output;

/// A conversion that has ended. The report knows the leftovers.
#[derive(Serialize)]
struct EndedConversion<'c> {
    #[serde(flatten)]
    status: &'c ProtectionStatus,
    #[serde(flatten)]
    report: ProtectionReport,
}

pub(super) fn status(status: &ProtectionStatus, out: &Output) -> Result<(), CommandError> {
    out.answer(status, status_text)
}

/// # Errors
/// `incomplete` if something stays as it was.
pub(super) fn converted(
    status: &ProtectionStatus,
    report: ProtectionReport,
    out: &Output,
) -> Result<(), CommandError> {
    let converted = EndedConversion { status, report };
    out.answer(&converted, text)?;
    let report = &converted.report;
    if report.failed.is_empty() && report.plain_leftovers.is_empty() {
        return Ok(());
    }
    let left = report.failed.len() + report.plain_leftovers.len();
    Err(CommandError::reported(
        "incomplete",
        format!("{left} files stay as they were; see the list"),
    ))
}

fn text(converted: &EndedConversion<'_>) -> String {
    let EndedConversion { status, report } = converted;
    let mut lines = vec![
        status_text(status),
        format!("databases and backups converted: {}", report.databases),
        format!("pictures and other files converted: {}", report.files),
    ];
    let failed = report.failed.iter();
    lines.extend(
        failed.map(|failure| format!("not converted: {} ({})", failure.file, failure.reason)),
    );
    let leftovers = report.plain_leftovers.iter();
    lines.extend(leftovers.map(|file| format!("not encrypted: {file}")));
    if report.second_place_missing {
        lines.push(
            "the second folder for backups is not available; its backups stay as they are"
                .to_owned(),
        );
    }
    lines.join("\n")
}

fn status_text(status: &ProtectionStatus) -> String {
    if !status.protected {
        return "not protected".to_owned();
    }
    let since = status.since.as_ref().map(|since| format!(" since {since}"));
    let mut lines = vec![format!("protected{}", since.unwrap_or_default())];
    lines.extend(status.kdf.as_ref().map(|kdf| {
        let passes = kdf.passes;
        format!(
            "{} with {} KiB and {passes} passes",
            kdf.algorithm, kdf.memory_kib
        )
    }));
    if status.unlock_at_login {
        lines.push("the keychain of this system unlocks it".to_owned());
    }
    if status.unfinished.is_some() {
        lines.push(
            "a conversion was interrupted; any command with the passphrase finishes it".to_owned(),
        );
    }
    lines.extend(status.key_file_problem.clone());
    if status.swap == SwapProtection::Plain {
        lines.push(
            "The swap space of this system is not encrypted. Parts of your chats and keys can be written to it. Encrypt it, or turn it off."
                .to_owned(),
        );
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_swap_is_a_warning_for_protected_folders() {
        let shown = |protected: bool, swap: SwapProtection| {
            let status = ProtectionStatus {
                protected,
                swap,
                ..ProtectionStatus::default()
            };
            status_text(&status)
        };
        assert!(shown(true, SwapProtection::Plain).contains("is not encrypted"));
        assert_eq!(shown(true, SwapProtection::Encrypted), "protected");
        assert_eq!(shown(false, SwapProtection::Plain), "not protected");
    }
}
