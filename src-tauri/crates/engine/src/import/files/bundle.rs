//! Imports the files in a ZIP one by one, as if they were in a folder.

use std::path::Path;

use domain::archive::ArchiveError;
use domain::bundle::Bundle;
use tokio::sync::mpsc;

use crate::api::{ImportReport, Refused, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::import::chats::assistants::packed_assistant;
use crate::import::files::FileImports;
use crate::import::files::any_file::CHATS;
use crate::import::sillytavern::card_notes::{NO_CARD, refusal};

/// Name and content of a file in the archive.
type Unpacked = (String, Result<Vec<u8>, ArchiveError>);

impl FileImports {
    /// Imports the files in an archive and unpacks only one at a time. Returns `bytes` if they are
    /// not a bundle.
    pub(crate) async fn import_bundle(
        &self,
        file: &str,
        bytes: Vec<u8>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<Vec<u8>>> {
        let look = move || {
            if let Some(export) = packed_assistant(&bytes) {
                return (bytes, Err(export));
            }
            let about = Bundle::open(&bytes).map(|bundle| bundle.map(|bundle| bundle.left_out()));
            (bytes, Ok(about))
        };
        let (bytes, about) = tokio::task::spawn_blocking(look)
            .await
            .map_err(|_| internal("an archive could not be read"))?;
        let about = match about {
            Ok(about) => about,
            Err(export) => {
                drop(bytes);
                self.chat_imports
                    .import_packed_assistant(file, export, report)
                    .await?;
                return Ok(None);
            }
        };
        // Invalid archives fall through to the card import, which reports the error.
        let Ok(Some(left_out)) = about else {
            return Ok(Some(bytes));
        };
        let (send, mut unpacked) = mpsc::channel(1);
        let unpacking = tokio::task::spawn_blocking(move || unpack(&bytes, &send));
        while let Some((name, read)) = unpacked.recv().await {
            self.import_packed(name, read, report).await?;
        }
        unpacking
            .await
            .map_err(|_| internal("an archive could not be read"))?;
        if left_out > 0 {
            let reason = format!(
                "{left_out} more files in it are left out; unpack it and import the folder"
            );
            report.skipped.push(Skipped {
                id: String::new(),
                file: file.to_owned(),
                reason,
            });
        }
        Ok(None)
    }

    async fn import_packed(
        &self,
        name: String,
        read: Result<Vec<u8>, ArchiveError>,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let file = Path::new(&name)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                let kind = refusal(&error.clone().into()).into();
                let reason = error.to_string();
                report.refused.push(Refused { file, kind, reason });
                return Ok(());
            }
        };
        let ending = Path::new(&name)
            .extension()
            .unwrap_or_default()
            .to_ascii_lowercase();
        if CHATS.iter().any(|known| ending == *known) {
            return self
                .chat_imports
                .import_chat(file, bytes, None, report)
                .await;
        }
        let before = report.refused.len();
        self.import_one(file, bytes, report).await?;
        // Archives often contain ordinary pictures next to cards, so these are skipped instead of
        // refused.
        let is_plain = |last: &mut Refused| last.kind == NO_CARD;
        if report.refused.len() > before
            && let Some(Refused { file, reason, .. }) = report.refused.pop_if(is_plain)
        {
            report.skipped.push(Skipped {
                id: String::new(),
                file,
                reason,
            });
        }
        Ok(())
    }
}

/// Sends the files one by one and waits until the receiver takes each. Blocks.
fn unpack(bytes: &[u8], send: &mpsc::Sender<Unpacked>) {
    let Ok(Some(mut bundle)) = Bundle::open(bytes) else {
        return;
    };
    for name in bundle.names().to_vec() {
        let read = bundle.read(&name);
        if send.blocking_send((name, read)).is_err() {
            return;
        }
    }
}
