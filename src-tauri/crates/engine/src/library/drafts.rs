//! Drafts of forms, of message edits and of the composer. They survive a closed window and a killed
//! process.

use domain::ChatId;
use store::{ReadTransaction, StoreError};
use uuid::Uuid;

use crate::api::{Draft, DraftKind, DraftPlace, SavedDraft};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input};
use crate::base::handle::Base;

/// Maximum size of a draft: more than any form of the app can hold.
const MAX_BYTES: usize = 16 << 20;
/// Maximum length of the ids and keys of a place, in bytes.
const MAX_NAME: usize = 400;

/// Text that the user has typed and not sent or saved. Clones share one state.
#[derive(Clone)]
pub(crate) struct Drafts {
    base: Base,
}

impl Drafts {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    /// The drafts of an owner, newest first.
    pub(crate) async fn drafts(&self, kind: DraftKind, owner: String) -> ApiResult<Vec<Draft>> {
        let found = self
            .base()
            .store()
            .read(move |store| of(store, kind, &owner))
            .await?;
        Ok(found)
    }

    /// Stores a draft in the place of `before`, the id of the same window's last save. Text of
    /// other windows stays.
    ///
    /// # Errors
    /// `NotFound` if the owner was deleted; `BadInput` if the text is too long.
    pub(crate) async fn write_draft(
        &self,
        place: DraftPlace,
        text: String,
        base: String,
        before: Option<String>,
    ) -> ApiResult<SavedDraft> {
        if text.len() > MAX_BYTES
            || [&base, &place.owner, &place.target]
                .iter()
                .any(|name| name.len() > MAX_NAME)
        {
            return Err(bad_input(
                "The text is too long to be kept as a draft.",
                "Save it, or make it shorter.",
            ));
        }
        let id = Uuid::now_v7();
        let saved = self.base().now();
        let kind = place.kind;
        let before = before.and_then(|id| Uuid::parse_str(&id).ok());
        let stored = stored_place(&place);
        let others = self.base().store().write(move |store| {
            let owner = stored.owner.clone();
            store.drafts_mut().write(
                &store::Draft {
                    id,
                    place: stored,
                    text,
                    base,
                    saved,
                },
                before,
            )?;
            of(store, kind, &owner)
        });
        let id = id.to_string();
        let others = others
            .await?
            .into_iter()
            .filter(|other| other.id != id && other.place == place)
            .collect();
        Ok(SavedDraft { id, others })
    }

    /// Removes a draft, because its text was stored or is not wanted. A draft that does not exist
    /// is no error.
    pub(crate) async fn discard_draft(&self, id: String) -> ApiResult<()> {
        let Ok(id) = Uuid::parse_str(&id) else {
            return Ok(());
        };
        Ok(self
            .base()
            .store()
            .write(move |store| store.drafts_mut().discard(id))
            .await?)
    }

    /// Removes the drafts of parts of an item that are deleted.
    pub(crate) async fn forget_drafts(
        &self,
        kind: DraftKind,
        owner: String,
        targets: Vec<String>,
    ) -> ApiResult<()> {
        let forget = self.base().store().write(move |store| {
            targets
                .iter()
                .try_for_each(|target| store.drafts_mut().forget(&kind.name(), &owner, target))
        });
        Ok(forget.await?)
    }

    /// Stores the text of the composer. `known` is the text that this window stored or saw last: if
    /// another text is stored by now, it becomes a draft of its own. Returns such drafts, newest
    /// first.
    pub(crate) async fn replace_draft(
        &self,
        id: ChatId,
        text: String,
        known: &str,
    ) -> ApiResult<Vec<Draft>> {
        let saved = self.base().now();
        let known = known.to_owned();
        let owner = id.to_string();
        let place = stored_place(&DraftPlace {
            kind: DraftKind::Composer,
            owner: owner.clone(),
            target: String::new(),
        });
        let write = self.base().store().write(move |store| {
            let stored = store
                .chats()
                .get(id)?
                .map(|chat| chat.draft)
                .unwrap_or_default();
            for own in [&text, &known] {
                store.drafts_mut().discard_text(&place.kind, &owner, own)?;
            }
            if stored != known && stored != text && !stored.trim().is_empty() {
                let other = store::Draft {
                    id: Uuid::now_v7(),
                    place,
                    text: stored,
                    base: String::new(),
                    saved,
                };
                store.drafts_mut().write(&other, None)?;
            }
            store.chats_mut().set_draft(id, &text)?;
            of(store, DraftKind::Composer, &owner)
        });
        Ok(write.await?)
    }
}

fn stored_place(place: &DraftPlace) -> store::DraftPlace {
    store::DraftPlace {
        kind: place.kind.name(),
        owner: place.owner.clone(),
        target: place.target.clone(),
    }
}

fn of(store: &ReadTransaction<'_>, kind: DraftKind, owner: &str) -> Result<Vec<Draft>, StoreError> {
    let shown = |draft: store::Draft| Draft {
        id: draft.id.to_string(),
        place: DraftPlace {
            kind,
            owner: draft.place.owner,
            target: draft.place.target,
        },
        text: draft.text,
        base: draft.base,
        saved: rfc3339(draft.saved),
    };
    Ok(store
        .drafts()
        .of(&kind.name(), owner)?
        .into_iter()
        .map(shown)
        .collect())
}
