//! Folders of chats and characters through the engine.

use domain::ChatId;
use engine::api::{
    ApiError, Folder, FolderColor, FolderDraft, FolderKind, ListPlace, TrashKind, TrashRef,
};
use tests::headless::Headless;

fn folder(name: &str, parent: Option<&Folder>) -> FolderDraft {
    FolderDraft {
        id: None,
        kind: FolderKind::Chat,
        parent: parent.map(|parent| parent.id),
        name: name.to_owned(),
        color: Some(FolderColor::Green),
        collapsed: false,
        tag: None,
    }
}

async fn place(app: &Headless) -> ListPlace {
    app.engine.list_chats().await.unwrap().remove(0).place
}

#[tokio::test]
async fn deleted_folder_leaves_its_content_in_its_parent() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let outer = app
        .engine
        .save_folder(folder("Evenings", None))
        .await
        .unwrap();
    let inner = app
        .engine
        .save_folder(folder("By the sea", Some(&outer)))
        .await
        .unwrap();
    app.engine
        .move_to_folder(FolderKind::Chat, vec![chat.to_string()], Some(inner.id))
        .await
        .unwrap();
    assert_eq!(place(&app).await.folder, Some(inner.id));

    let deleted = app.engine.delete_folder(inner.id).await.unwrap();
    assert_eq!(place(&app).await.folder, Some(outer.id));
    app.engine.restore_folder(deleted).await.unwrap();
    assert_eq!(place(&app).await.folder, Some(inner.id));
    assert_eq!(app.engine.list_folders().await.unwrap(), [inner, outer]);
}

#[tokio::test]
async fn folder_cannot_contain_itself() {
    let app = Headless::new().await;
    let mut outer = app.engine.save_folder(folder("Outer", None)).await.unwrap();
    let inner = app
        .engine
        .save_folder(folder("Inner", Some(&outer)))
        .await
        .unwrap();
    outer.parent = Some(inner.id);
    assert!(matches!(
        app.engine.save_folder(outer.into()).await,
        Err(ApiError::BadInput { .. })
    ));
    assert!(matches!(
        app.engine.save_folder(folder(" ", None)).await,
        Err(ApiError::BadInput { .. })
    ));
}

#[tokio::test]
async fn folder_levels_are_limited() {
    let app = Headless::new().await;
    let mut above = app.engine.save_folder(folder("1", None)).await.unwrap();
    for level in 2..=8 {
        above = app
            .engine
            .save_folder(folder(&level.to_string(), Some(&above)))
            .await
            .unwrap();
    }
    assert!(matches!(
        app.engine.save_folder(folder("9", Some(&above))).await,
        Err(ApiError::BadInput { .. })
    ));
}

#[tokio::test]
async fn smart_and_foreign_folders_take_no_chats() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let smart = FolderDraft {
        tag: Some("cozy".into()),
        ..folder("Cozy", None)
    };
    let foreign = FolderDraft {
        kind: FolderKind::Character,
        ..folder("Friends", None)
    };
    for refused in [smart, foreign] {
        let refused = app.engine.save_folder(refused).await.unwrap();
        let moved = app
            .engine
            .move_to_folder(FolderKind::Chat, vec![chat.to_string()], Some(refused.id))
            .await;
        assert!(matches!(moved, Err(ApiError::BadInput { .. })));
    }
    assert_eq!(place(&app).await, ListPlace::default());
}

#[tokio::test]
async fn archived_chat_is_marked_and_still_found() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.reply("The zephyr rises.");
    app.send(chat, "What is this wind?").await;
    app.engine
        .archive_items(FolderKind::Chat, vec![chat.to_string()], true)
        .await
        .unwrap();
    app.engine
        .pin_items(FolderKind::Chat, vec![chat.to_string()], true)
        .await
        .unwrap();
    assert_eq!(
        place(&app).await,
        ListPlace {
            folder: None,
            pinned: true,
            archived: true
        }
    );
    assert_eq!(
        app.engine
            .search_messages("zephyr".into(), None, 0)
            .await
            .unwrap()
            .hits
            .len(),
        1
    );
    app.engine
        .archive_items(FolderKind::Chat, vec![chat.to_string()], false)
        .await
        .unwrap();
    assert!(!place(&app).await.archived);
}

#[tokio::test]
async fn one_undo_restores_the_places_of_many() {
    let app = Headless::new().await;
    let first = app.first_chat().await;
    let second = app.engine.new_chat(first.character).await.unwrap().id;
    let both = vec![first.id.to_string(), second.to_string()];
    let kind = FolderKind::Chat;
    let [sea, sky] =
        [folder("Sea", None), folder("Sky", None)].map(|one| app.engine.save_folder(one));
    let (sea, sky) = (sea.await.unwrap().id, sky.await.unwrap().id);
    app.engine
        .move_to_folder(kind, vec![second.to_string()], Some(sea))
        .await
        .unwrap();
    let former = app
        .engine
        .move_to_folder(kind, both.clone(), Some(sky))
        .await
        .unwrap();
    assert_eq!(former.len(), 2);
    let pins = app
        .engine
        .pin_items(kind, both.clone(), true)
        .await
        .unwrap();
    assert_eq!(
        app.engine
            .pin_items(kind, both.clone(), true)
            .await
            .unwrap(),
        [],
        "they are pinned already"
    );
    app.engine.restore_places(kind, pins).await.unwrap();
    app.engine
        .restore_places(kind, former.clone())
        .await
        .unwrap();
    let places = |id: ChatId| {
        let engine = app.engine.clone();
        async move {
            engine
                .list_chats()
                .await
                .unwrap()
                .into_iter()
                .find(|one| one.id == id)
                .unwrap()
                .place
        }
    };
    assert_eq!(places(first.id).await, ListPlace::default());
    assert_eq!(places(second).await.folder, Some(sea));
    // The folder is gone when the change is undone.
    app.engine.delete_folder(sea).await.unwrap();
    app.engine.restore_places(kind, former).await.unwrap();
    assert_eq!(places(second).await, ListPlace::default());
}

#[tokio::test]
async fn many_chats_are_deleted_together_or_not_at_all() {
    let app = Headless::new().await;
    let first = app.first_chat().await;
    let second = app.engine.new_chat(first.character).await.unwrap().id;
    let both = vec![first.id, second];
    assert_eq!(app.engine.learned_in(both.clone()).await.unwrap(), 0);
    let unknown = ChatId(uuid::Uuid::nil());
    let refused = app.engine.delete_chats(vec![second, unknown], false).await;
    assert!(
        matches!(refused, Err(ApiError::NotFound { .. })),
        "{refused:?}"
    );
    assert_eq!(app.engine.list_chats().await.unwrap().len(), 2);
    app.engine.delete_chats(both.clone(), true).await.unwrap();
    assert_eq!(app.engine.list_chats().await.unwrap(), []);
    let items = both
        .into_iter()
        .map(|id| TrashRef {
            kind: TrashKind::Chat,
            id: id.to_string(),
        })
        .collect();
    app.engine.restore_from_trash(items).await.unwrap();
    assert_eq!(app.engine.list_chats().await.unwrap().len(), 2);
}
