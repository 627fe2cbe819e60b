//! Deleted items can be restored for a while and appear in no prompt. A purge erases them from
//! every file.

use std::path::Path;

use domain::ChatId;
use engine::api::{TrashKind, TrashRef};
use tests::headless::Headless;

pub(crate) const CANARY: &str = "the-canary-sings-at-dawn";

/// The files below `folder` that contain the canary.
pub(crate) fn canary_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(canary_in(&path));
        } else if std::fs::read(&path)
            .unwrap()
            .windows(CANARY.len())
            .any(|window| window == CANARY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

async fn a_chat_about_it(app: &Headless) -> ChatId {
    let chat = app.engine.startup().await.unwrap().chat.unwrap();
    app.model.reply("Does it?");
    app.send(chat, &format!("Listen, {CANARY}.")).await;
    chat
}

fn chat_ref(id: ChatId) -> Vec<TrashRef> {
    vec![TrashRef {
        kind: TrashKind::Chat,
        id: id.to_string(),
    }]
}

#[tokio::test]
async fn deleted_chat_can_be_restored_after_a_restart() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await;
    app.engine.delete_chat(chat).await.unwrap();
    let app = app.restart().await;
    assert!(
        app.engine
            .list_chats()
            .await
            .unwrap()
            .iter()
            .all(|listed| listed.id != chat)
    );
    let trash = app.engine.trash().await.unwrap();
    assert_eq!(
        (trash.len(), &trash[0].id, trash[0].backups),
        (1, &chat.to_string(), 1),
        "the session ended with a backup"
    );
    app.engine.restore_from_trash(chat_ref(chat)).await.unwrap();
    assert!(app.engine.trash().await.unwrap().is_empty());
    let back = app.engine.whole_chat(chat).await.unwrap();
    assert!(
        back.page
            .messages
            .iter()
            .any(|message| message.swipes[0].text.contains(CANARY))
    );
}

#[tokio::test]
async fn purged_text_is_in_no_file() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await;
    app.engine.backup().await.unwrap();
    app.engine.delete_chat(chat).await.unwrap();
    assert_eq!(app.engine.trash().await.unwrap()[0].backups, 1);
    let gone = app
        .engine
        .delete_from_trash(chat_ref(chat), true)
        .await
        .unwrap();
    assert_eq!((gone.things, gone.backups), (1, 1));
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
    assert_eq!(
        app.engine.list_backups().await.unwrap().len(),
        1,
        "there is a new backup"
    );
}

#[tokio::test]
async fn backups_keep_deleted_items_by_default() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await;
    let backup = app.engine.backup().await.unwrap();
    app.engine.delete_chat(chat).await.unwrap();
    app.engine
        .delete_from_trash(chat_ref(chat), false)
        .await
        .unwrap();
    assert_eq!(canary_in(app.dir.path()), [backup.file]);
}

#[tokio::test]
async fn emptying_the_trash_includes_single_messages() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await;
    app.engine.backup().await.unwrap();
    let messages = app.engine.whole_chat(chat).await.unwrap().page.messages;
    let said = messages
        .iter()
        .find(|message| message.swipes[0].text.contains(CANARY))
        .unwrap();
    app.engine.delete_message(said.id).await.unwrap();
    let gone = app.engine.empty_trash(true).await.unwrap();
    assert_eq!((gone.things, gone.backups), (0, 1));
    assert_eq!(canary_in(app.dir.path()), [""; 0]);
}

#[tokio::test]
async fn only_items_in_the_trash_can_be_purged() {
    let app = Headless::new().await;
    let chat = a_chat_about_it(&app).await;
    app.engine
        .delete_from_trash(chat_ref(chat), true)
        .await
        .unwrap_err();
    assert!(app.engine.whole_chat(chat).await.is_ok());
}

#[tokio::test]
async fn restore_previews_changes_and_runs_at_next_start() {
    let app = Headless::new().await;
    let backup = app.engine.backup().await.unwrap();
    let chat = a_chat_about_it(&app).await;
    let preview = app
        .engine
        .preview_restore(backup.file.clone())
        .await
        .unwrap();
    assert_eq!(
        (
            preview.messages.lost,
            preview.messages.gained,
            preview.chats.lost
        ),
        (2, 0, 0)
    );
    app.engine
        .preview_restore("/etc/passwd".into())
        .await
        .unwrap_err();
    app.engine
        .restore_at_next_start("/etc/passwd".into())
        .await
        .unwrap_err();
    app.engine.restore_at_next_start(backup.file).await.unwrap();
    assert!(app.engine.backups().await.unwrap().restore_pending);
    let app = app.restart().await;
    assert_eq!(
        app.engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages
            .len(),
        1,
        "only the greeting"
    );
    assert!(
        app.engine
            .startup()
            .await
            .unwrap()
            .notices
            .iter()
            .any(|notice| notice.contains("was restored"))
    );
}
