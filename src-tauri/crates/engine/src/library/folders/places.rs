//! The place of chats and characters in their lists: folder, pinned, archived. Every change applies
//! to many items in one transaction, and returns what undoes it.

use domain::FolderId;
use store::{Place, StoreError, WriteTransaction};
use uuid::Uuid;

use crate::api::{FolderKind, ListPlace, PlacedItem};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::library::folders::Folders;

/// Maximum number of items per call.
const MOST_ITEMS: usize = 50_000;

impl Folders {
    /// Puts chats or characters in a folder; without a folder, outside of all. Returns the former
    /// places of those that moved.
    ///
    /// # Errors
    /// `BadInput` if the folder is smart or belongs to the other list; `NotFound`. Nothing changes
    /// then.
    pub(crate) async fn move_to_folder(
        &self,
        kind: FolderKind,
        items: Vec<String>,
        folder: Option<FolderId>,
    ) -> ApiResult<Vec<PlacedItem>> {
        if let Some(id) = folder {
            let known = self
                .base()
                .store()
                .read(move |store| store.folders().get(id))
                .await?;
            let known = known.ok_or_else(|| not_found("folder"))?;
            if known.tag.is_some() {
                let hint = "Add the tag to the character instead, or choose another folder.";
                return Err(bad_input("A smart folder shows what has its tag.", hint));
            }
            if known.kind != kind {
                return Err(bad_input(
                    "This folder belongs to another list.",
                    "Choose another folder.",
                ));
            }
        }
        self.change_places(kind, items, move |place| Place { folder, ..place })
            .await
    }

    /// Keeps chats or characters at the top of their list, or no longer. Returns the former places
    /// of those that changed.
    pub(crate) async fn pin_items(
        &self,
        kind: FolderKind,
        items: Vec<String>,
        pinned: bool,
    ) -> ApiResult<Vec<PlacedItem>> {
        self.change_places(kind, items, move |place| Place { pinned, ..place })
            .await
    }

    /// Takes chats or characters out of their list, or puts them back. Returns the former places of
    /// those that changed.
    pub(crate) async fn archive_items(
        &self,
        kind: FolderKind,
        items: Vec<String>,
        archived: bool,
    ) -> ApiResult<Vec<PlacedItem>> {
        self.change_places(kind, items, move |place| Place { archived, ..place })
            .await
    }

    /// Undoes a change of places. Items that no longer exist are left out, and a folder that no
    /// longer exists is no folder.
    pub(crate) async fn restore_places(
        &self,
        kind: FolderKind,
        places: Vec<PlacedItem>,
    ) -> ApiResult<()> {
        check_count(places.len())?;
        let places = places
            .into_iter()
            .map(stored)
            .collect::<ApiResult<Vec<_>>>()?;
        let restore = move |store: &mut WriteTransaction<'_>| {
            for (item, place) in places {
                if !exists(store, kind, item)? {
                    continue;
                }
                let folder = match place.folder {
                    Some(id) => store.folders().get(id)?.map(|folder| folder.id),
                    None => None,
                };
                store
                    .folders_mut()
                    .set_place(kind, item, Place { folder, ..place })?;
            }
            Ok(())
        };
        self.base().store().write(restore).await?;
        self.characters.library_changed();
        Ok(())
    }

    async fn change_places(
        &self,
        kind: FolderKind,
        items: Vec<String>,
        change: impl Fn(Place) -> Place + Send + 'static,
    ) -> ApiResult<Vec<PlacedItem>> {
        check_count(items.len())?;
        let items = ids(&items)?;
        let change_all = move |store: &mut WriteTransaction<'_>| {
            let mut former = Vec::new();
            for item in items {
                if !exists(store, kind, item)? {
                    return Err(StoreError::NotFound { what: "item" });
                }
                let place = store.folders().place(kind, item)?;
                let new = change(place);
                if new != place {
                    store.folders_mut().set_place(kind, item, new)?;
                    former.push(shown(item, place));
                }
            }
            Ok(former)
        };
        let former = self.base().store().write(change_all).await?;
        self.characters.library_changed();
        Ok(former)
    }
}

fn check_count(items: usize) -> ApiResult<()> {
    if items > MOST_ITEMS {
        return Err(bad_input(
            format!("More than {MOST_ITEMS} items are selected."),
            "Choose fewer at once.",
        ));
    }
    Ok(())
}

pub(crate) fn exists(
    store: &WriteTransaction<'_>,
    kind: store::FolderKind,
    item: Uuid,
) -> Result<bool, StoreError> {
    Ok(match kind {
        store::FolderKind::Chat => store.chats().get(domain::ChatId(item))?.is_some(),
        store::FolderKind::Character => {
            store.characters().get(domain::CharacterId(item))?.is_some()
        }
    })
}

pub(crate) fn ids(items: &[String]) -> ApiResult<Vec<Uuid>> {
    items.iter().map(|id| id_of(id)).collect()
}

/// Chats and characters have ids of the same form.
fn id_of(item: &str) -> ApiResult<Uuid> {
    Ok(item.parse::<domain::ChatId>()?.0)
}

fn shown(
    item: Uuid,
    Place {
        folder,
        pinned,
        archived,
    }: Place,
) -> PlacedItem {
    let place = ListPlace {
        folder,
        pinned,
        archived,
    };
    PlacedItem {
        id: item.to_string(),
        place,
    }
}

fn stored(PlacedItem { id, place }: PlacedItem) -> ApiResult<(Uuid, Place)> {
    let folder = place.folder;
    Ok((
        id_of(&id)?,
        Place {
            folder,
            pinned: place.pinned,
            archived: place.archived,
        },
    ))
}
