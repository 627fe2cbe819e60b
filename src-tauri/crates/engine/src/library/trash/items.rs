//! The trash. Deleted chats, characters and lorebooks can be restored for thirty days, and prompts
//! and recall exclude them.

use std::collections::HashSet;

use domain::Timestamp;
use store::{BackupKind, Before, StoreError, TrashId, Trashed};

use crate::api::{Changed, DeletedForGood, TrashItem, TrashKind, TrashRef};
use crate::base::clock::rfc3339;
use crate::base::error::ApiResult;
use crate::library::backups::backup::name;
use crate::library::chats::manifest;
use crate::library::trash::Trash;

/// How long deleted items can be restored.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// Selects the items that a purge at `now` removes: expired trash, and messages and memories
/// deleted before `now`.
pub(crate) fn purged_at(now: Timestamp) -> Before {
    Before {
        trash: Timestamp(now.0 - KEPT_MS),
        ..Before::all(now)
    }
}

impl Trash {
    pub(crate) async fn trash(&self) -> ApiResult<Vec<TrashItem>> {
        let trashed = self
            .base()
            .store()
            .read(|store| store.trash().list())
            .await?;
        if trashed.is_empty() {
            return Ok(Vec::new());
        }
        let ids = trashed.iter().map(|thing| thing.id).collect();
        let backups = self.base().store().backups_holding(ids).await?;
        // A backup and its copy in the second folder are reported as one.
        let holding = |at: usize| {
            let holders = backups
                .iter()
                .filter(|(backup, held)| backup.own && held.get(at) == Some(&true));
            holders
                .map(|(backup, _)| name(backup))
                .collect::<HashSet<_>>()
                .len() as u32
        };
        Ok(trashed
            .into_iter()
            .enumerate()
            .map(|(at, thing)| item(thing, holding(at)))
            .collect())
    }

    pub(crate) async fn restore_from_trash(&self, items: Vec<TrashRef>) -> ApiResult<()> {
        let ids = parse(items)?;
        let restored = ids.clone();
        self.base()
            .store()
            .write(move |store| restored.iter().try_for_each(|id| restore(store, *id)))
            .await?;
        self.trash_changed();
        Ok(())
    }

    /// Permanently removes items in the trash from the database and the picture folder. With
    /// `backups`, makes a new backup and deletes every backup that contains one of them.
    ///
    /// # Errors
    /// `NotFound` if one of them is not in the trash. In that case nothing changes.
    pub(crate) async fn delete_from_trash(
        &self,
        items: Vec<TrashRef>,
        backups: bool,
    ) -> ApiResult<DeletedForGood> {
        let ids = parse(items)?;
        let condemned = ids.clone();
        self.base()
            .store()
            .write(move |store| {
                condemned
                    .iter()
                    .try_for_each(|id| store.trash_mut().mark_for_purge(*id))
            })
            .await?;
        self.purge_now(Before::ONLY_CONDEMNED).await?;
        let things = ids.len() as u32;
        if !backups {
            return Ok(DeletedForGood {
                things,
                ..DeletedForGood::default()
            });
        }
        let removed = self.remove_holders(ids).await?;
        Ok(DeletedForGood {
            things,
            backups: removed,
            second_place_missing: self.backups().second_place_missing().await,
        })
    }

    /// Permanently removes everything in the trash, and the messages, memories and documents
    /// deleted in this session. With `backups`, makes a new backup and deletes all others.
    pub(crate) async fn empty_trash(&self, backups: bool) -> ApiResult<DeletedForGood> {
        let things = self
            .base()
            .store()
            .read(|store| store.trash().list())
            .await?
            .len() as u32;
        self.purge_now(Before::everything_deleted(self.base().now()))
            .await?;
        if !backups {
            return Ok(DeletedForGood {
                things,
                ..DeletedForGood::default()
            });
        }
        let new = self.backups().back_up(BackupKind::ByHand).await?.path;
        // It is unknown which backups contain the deleted messages and memories, so all older ones
        // go.
        let all = self.base().store().backups_holding(Vec::new()).await?;
        let older = all.into_iter().map(|(backup, _)| backup);
        let older: Vec<_> = older
            .filter(|backup| backup.own && new.file_name() != Some(name(backup)))
            .collect();
        let removed = older.len() as u32;
        self.base().store().remove_backups(older).await?;
        Ok(DeletedForGood {
            things,
            backups: removed,
            second_place_missing: self.backups().second_place_missing().await,
        })
    }

    async fn purge_now(&self, before: Before) -> ApiResult<()> {
        self.base()
            .store()
            .purge(before, manifest::without_words)
            .await?;
        if let Err(error) = self.stale_caches().drop_stale_caches().await {
            tracing::warn!(%error, "a saved cache may contain purged text");
        }
        self.forget_what_is_gone().await;
        self.trash_changed();
        Ok(())
    }

    /// Makes the new backup first, so that a backup always exists.
    async fn remove_holders(&self, ids: Vec<TrashId>) -> ApiResult<u32> {
        self.backups().back_up(BackupKind::ByHand).await?;
        let holding = self.base().store().backups_holding(ids).await?;
        let holding: Vec<_> = holding
            .into_iter()
            .filter(|(backup, held)| backup.own && held.contains(&true))
            .map(|(backup, _)| backup)
            .collect();
        let removed = holding.len() as u32;
        self.base().store().remove_backups(holding).await?;
        Ok(removed)
    }

    fn trash_changed(&self) {
        self.characters().library_changed();
        self.base().events().changed(Changed::Lorebooks, None);
    }
}

fn restore(store: &mut store::WriteTransaction<'_>, id: TrashId) -> Result<(), StoreError> {
    match id {
        TrashId::Chat(id) => {
            store.chats_mut().restore(id)?;
            store.memories_mut().reattach_to_chat(id)
        }
        TrashId::Character(id) => store.characters_mut().restore(id),
        TrashId::Lorebook(id) => store.lorebooks_mut().restore(id),
    }
}

fn parse(items: Vec<TrashRef>) -> ApiResult<Vec<TrashId>> {
    let parse = |TrashRef { kind, id }: TrashRef| {
        Ok(match kind {
            TrashKind::Chat => TrashId::Chat(id.parse()?),
            TrashKind::Character => TrashId::Character(id.parse()?),
            TrashKind::Lorebook => TrashId::Lorebook(id.parse()?),
        })
    };
    items.into_iter().map(parse).collect()
}

fn item(thing: Trashed, backups: u32) -> TrashItem {
    let (kind, id) = match thing.id {
        TrashId::Chat(id) => (TrashKind::Chat, id.to_string()),
        TrashId::Character(id) => (TrashKind::Character, id.to_string()),
        TrashId::Lorebook(id) => (TrashKind::Lorebook, id.to_string()),
    };
    TrashItem {
        kind,
        id,
        name: thing.name,
        with: thing.with,
        messages: thing.messages,
        deleted: rfc3339(thing.deleted),
        purged: rfc3339(Timestamp(thing.deleted.0.saturating_add(KEPT_MS))),
        backups,
    }
}
