//! Opens the engine once the data folder is unlocked, and offers remedies if it does not open.
//! Nothing is deleted, and every failure is shown.

use std::time::Instant;

use engine::api::{ApiError, Changed, Event};
use engine::{Engine, Events, OpenError, Options, UnlockSecret, UnlockedFolder};
use tauri::{AppHandle, Manager};

use crate::access::folder_access::{AccessState, FolderAccess};
use crate::access::lock_conditions::{LockConditions, LockRules};
use crate::core::Core;
use crate::local_api::LocalApi;
use crate::shell_store::ShellStore;
use crate::task_bar::TaskBar;
use crate::{closing, dialogs, window};

/// Remedy for an engine that does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    TryAgain,
    RestoreBackup,
    StartFresh,
    Quit,
}

/// A question to the user.
struct OpenProblem {
    title: &'static str,
    message: String,
    remedies: Vec<Remedy>,
}

/// Opens the engine for the waiting commands, or quits if the user chooses so. A protected folder
/// is unlocked by the keychain or by the page first.
pub(crate) async fn open(app: AppHandle) {
    let access = app.state::<FolderAccess>();
    let mut options = access.options().clone();
    if access.is_protected() {
        options.keys = Some(match access.state() {
            AccessState::Locked { .. } => access.keys_from_page(None).await,
            _ => keys_with(&access, UnlockSecret::Keychain).await,
        });
    }
    open_engine(&app, options).await;
}

/// Opens the engine again after a conversion has failed. `secret` unlocks the folder if that is
/// needed now.
pub(crate) async fn reopen(app: AppHandle, secret: UnlockSecret) {
    let access = app.state::<FolderAccess>();
    access.set(AccessState::Opening);
    let mut options = access.options().clone();
    if access.is_protected() {
        options.keys = Some(keys_with(&access, secret).await);
    }
    open_engine(&app, options).await;
}

/// The keys that `secret` unlocks. If it does not, the page must give another one.
async fn keys_with(access: &FolderAccess, secret: UnlockSecret) -> UnlockedFolder {
    match Engine::unlock(access.options(), secret).await {
        Ok(keys) => keys,
        Err(error) => {
            tracing::warn!(%error, "the data folder stays locked");
            access
                .keys_from_page(Some(ApiError::from(error).to_string()))
                .await
        }
    }
}

async fn open_engine(app: &AppHandle, mut options: Options) {
    let access = app.state::<FolderAccess>();
    loop {
        match Engine::open(options.clone()).await {
            Ok(engine) => {
                hand_over(app, engine);
                warm_up(app).await;
                return;
            }
            Err(OpenError::Protected { message, hint }) => {
                let problem = format!("Your data cannot be opened: {message}. {hint}");
                options.keys = Some(access.keys_from_page(Some(problem)).await);
            }
            Err(error) => {
                tracing::error!(class = class(&error), "the engine did not open");
                if !ask_for_remedy(app, &options, problem(&error)).await {
                    closing::quit(app, 1);
                    return;
                }
            }
        }
    }
}

/// Gives the engine to the waiting commands.
fn hand_over(app: &AppHandle, engine: Engine) {
    let conditions = app.state::<LockConditions>();
    conditions.replies.clear();
    conditions.mark_active(Instant::now());
    tauri::async_runtime::spawn(follow(app.clone(), engine.subscribe()));
    app.state::<LocalApi>().start(engine.clone());
    app.state::<Core>().set(engine);
    app.state::<FolderAccess>().set(AccessState::Open);
}

/// Loads the model and prefills the prompt after the window is shown, because on few cores both
/// would slow each other down.
async fn warm_up(app: &AppHandle) {
    let core = app.state::<Core>();
    core.wait_until_visible().await;
    let engine = core.engine().await;
    engine.warm_up_in_background();
    engine.resume_interrupted_downloads();
    engine.resume_interrupted_moves();
}

/// Asks until a remedy works. Returns `false` if the user quits.
async fn ask_for_remedy(app: &AppHandle, options: &Options, mut problem: OpenProblem) -> bool {
    loop {
        let labels: Vec<_> = problem.remedies.iter().map(|way| way.label()).collect();
        let chosen = dialogs::ask(app, problem.title, &problem.message, &labels).await;
        let outcome = match problem.remedies.get(chosen) {
            Some(Remedy::TryAgain) => return true,
            Some(Remedy::RestoreBackup) => Engine::restore_newest(options)
                .await
                .map(|restored| restored.aside.map(Into::into)),
            Some(Remedy::StartFresh) => Engine::set_aside(options).await,
            Some(Remedy::Quit) | None => return false,
        };
        match outcome {
            Ok(kept) => {
                if let Some(kept) = kept {
                    dialogs::show_error(
                        app,
                        "The damaged file is kept",
                        &format!("It is now in\n{}", kept.display()),
                    );
                }
                return true;
            }
            Err(error) => {
                problem.message = format!("That did not work: {error}\n\n{}", problem.message)
            }
        }
    }
}

fn problem(error: &OpenError) -> OpenProblem {
    match error {
        OpenError::InUse { message } => OpenProblem {
            title: "Inglenook is already running",
            message: format!("{message}\n\nClose the other one and try again."),
            remedies: vec![Remedy::TryAgain, Remedy::Quit],
        },
        OpenError::Damaged {
            message,
            newest_backup,
        } => {
            let (backup, restore) = match newest_backup {
                Some(backup) => (
                    format!("The newest intact backup is\n{}", backup.display()),
                    vec![Remedy::RestoreBackup],
                ),
                None => ("There is no backup.".into(), vec![]),
            };
            OpenProblem {
                title: "The database is damaged",
                message: format!(
                    "{message}\n\n{backup}\n\nThe damaged file is kept whatever you choose."
                ),
                remedies: restore
                    .into_iter()
                    .chain([Remedy::StartFresh, Remedy::Quit])
                    .collect(),
            }
        }
        OpenError::Protected { message, hint } | OpenError::Storage { message, hint } => {
            OpenProblem {
                title: "Inglenook cannot open its data",
                message: format!("{message}\n\n{hint}"),
                remedies: vec![Remedy::TryAgain, Remedy::Quit],
            }
        }
    }
}

impl Remedy {
    fn label(self) -> &'static str {
        match self {
            Self::TryAgain => "Try again",
            Self::RestoreBackup => "Restore the backup",
            Self::StartFresh => "Keep it and start fresh",
            Self::Quit => "Quit",
        }
    }
}

fn class(error: &OpenError) -> &'static str {
    match error {
        OpenError::InUse { .. } => "in use",
        OpenError::Damaged { .. } => "damaged",
        OpenError::Protected { .. } => "protected",
        OpenError::Storage { .. } => "storage",
    }
}

/// Follows the engine's events: settings that the shell needs, downloads, and running replies.
async fn follow(app: AppHandle, mut news: Events) {
    let mut task_bar = TaskBar::default();
    apply_settings(&app).await;
    while let Some(event) = news.next().await {
        task_bar.show(&app, &event);
        app.state::<LockConditions>().replies.follow(&event);
        if matches!(
            event,
            Event::Changed {
                what: Changed::Settings,
                ..
            } | Event::Missed
        ) {
            apply_settings(&app).await;
        }
    }
}

async fn apply_settings(app: &AppHandle) {
    if let Ok(settings) = app.state::<Core>().engine().await.get_settings().await {
        app.state::<LockConditions>()
            .set_rules(LockRules::of(&settings));
        app.state::<ShellStore>().save_language(&settings.language);
        window::set_theme(app, settings.theme);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged(newest_backup: Option<&str>) -> OpenError {
        OpenError::Damaged {
            message: "/data/inglenook.db cannot be read: page 3 is torn".into(),
            newest_backup: newest_backup.map(Into::into),
        }
    }

    #[test]
    fn damaged_database_offers_remedies() {
        let problem = problem(&damaged(Some("/data/backups/monday.db")));
        assert!(problem.message.contains("/data/inglenook.db"));
        assert!(problem.message.contains("/data/backups/monday.db"));
        assert_eq!(
            problem.remedies,
            [Remedy::RestoreBackup, Remedy::StartFresh, Remedy::Quit]
        );
    }

    #[test]
    fn offers_no_restore_without_a_backup() {
        assert_eq!(
            problem(&damaged(None)).remedies,
            [Remedy::StartFresh, Remedy::Quit]
        );
    }

    #[test]
    fn closed_dialog_never_changes_files() {
        let storage = OpenError::Storage {
            message: String::new(),
            hint: String::new(),
        };
        for error in [
            damaged(Some("x")),
            damaged(None),
            OpenError::InUse {
                message: String::new(),
            },
            storage,
        ] {
            // `ask` returns the last option then.
            assert_eq!(problem(&error).remedies.last(), Some(&Remedy::Quit));
        }
    }
}
