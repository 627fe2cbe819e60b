//! `forget`: removes everything about a character, a persona or a span of days.

use engine::Engine;
use engine::api::{
    ForgetCounts, ForgetPreview, ForgetRemainder, ForgetReport, ForgetSubject, RemainderKind,
};

use crate::cli::ForgetSubjectArgs;
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::tools::question::{StdinLines, can_ask};

pub(crate) async fn forget(
    engine: &Engine,
    args: ForgetSubjectArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let subject = subject(engine, &args).await?;
    let backups = !args.keep_backups;
    if !args.yes && !is_confirmed(engine, &subject, backups, out).await? {
        return Err(CommandError::reported(
            "notConfirmed",
            "Nothing was removed. Add --yes to remove it.",
        ));
    }
    out.answer(&engine.forget(subject, backups).await?, report_text)
}

async fn subject(engine: &Engine, args: &ForgetSubjectArgs) -> Result<ForgetSubject, CommandError> {
    if let Some(name) = &args.character {
        let id = find::character(engine, name).await?.id;
        return Ok(ForgetSubject::Character { id });
    }
    if let Some(name) = &args.persona {
        let id = find::persona(engine, name).await?.id;
        return Ok(ForgetSubject::Persona { id });
    }
    Ok(ForgetSubject::Days {
        first: args.from.clone().unwrap_or_default(),
        last: args.to.clone().unwrap_or_default(),
    })
}

/// Shows what would be removed. On a terminal, asks whether to do it.
async fn is_confirmed(
    engine: &Engine,
    subject: &ForgetSubject,
    backups: bool,
    out: &Output,
) -> Result<bool, CommandError> {
    let preview = engine.forget_preview(subject.clone()).await?;
    out.answer(&preview, |preview| preview_text(preview, backups))?;
    if out.is_json() || !can_ask() {
        return Ok(false);
    }
    out.print_note("This cannot be undone. Type yes to remove it:");
    let line = StdinLines::default().next().await.transpose()?;
    Ok(line.is_some_and(|line| line.trim() == "yes"))
}

fn preview_text(preview: &ForgetPreview, backups: bool) -> String {
    let fate = if backups { "removed too" } else { "kept" };
    let held = format!(
        "backups that contain it or cannot be read: {}, {fate}\n",
        preview.backups
    );
    let away = if preview.second_place_missing {
        "the second folder of the backups is not available\n"
    } else {
        ""
    };
    format!(
        "would be removed for good:\n{}{held}{away}",
        count_lines(preview.removed)
    )
}

fn report_text(report: &ForgetReport) -> String {
    let left: String = report.left.iter().map(left_line).collect();
    let left = if left.is_empty() {
        String::new()
    } else {
        format!("not removed:\n{left}")
    };
    format!(
        "removed for good:\n{}  backups: {}\n{left}\
         Files that you exported or copied yourself are not known to the app and stay.\n",
        count_lines(report.removed),
        report.backups
    )
}

/// One line for each kind of which there is something.
fn count_lines(counts: ForgetCounts) -> String {
    [
        ("characters", counts.characters),
        ("personas", counts.personas),
        ("chats", counts.chats),
        ("messages", counts.messages),
        ("versions of messages", counts.versions),
        ("texts before edits", counts.earlier_texts),
        ("memories", counts.memories),
        ("summaries", counts.summaries),
        ("search vectors", counts.vectors),
        ("stored prompts", counts.prompts),
        ("documents", counts.documents),
        ("drafts", counts.drafts),
        ("versions of cards", counts.card_versions),
        ("pictures and files", counts.files),
    ]
    .into_iter()
    .filter(|row| row.1 > 0)
    .map(|row| format!("  {}: {}\n", row.0, row.1))
    .collect()
}

fn left_line(left: &ForgetRemainder) -> String {
    let count = left.count;
    let what = match left.kind {
        RemainderKind::BackupsKept => format!("{count} backups, because they were to be kept"),
        RemainderKind::BackupFailed => {
            "the backups, because no new one could be made; the next backup removes them".to_owned()
        }
        RemainderKind::BackupsUnnoted => {
            "the backups, because it could not be noted which must go; delete them yourself"
                .to_owned()
        }
        RemainderKind::BackupLeft => "a backup; the next backup tries it again".to_owned(),
        RemainderKind::ForeignBackups => {
            format!("{count} backups of other data folders in the second folder")
        }
        RemainderKind::SecondPlaceAway => {
            "the second folder, which is away; it is done when the folder is back".to_owned()
        }
        RemainderKind::SecondPlaceKept => {
            "the second folder, which is away; its backups stay".to_owned()
        }
        RemainderKind::Traces => {
            "traces in the database file; it is tried again while the app is idle".to_owned()
        }
        RemainderKind::Files => "files of pictures; the next start tries it again".to_owned(),
        RemainderKind::Caches => {
            "a saved cache of a model; the next start tries it again".to_owned()
        }
    };
    if left.detail.is_empty() {
        format!("  {what}\n")
    } else {
        format!("  {what} ({})\n", left.detail)
    }
}
