//! Removes the prompts of a chat that are older than a time.
//!
//! A manifest stores only what an earlier one does not contain. Before the earlier one is removed,
//! the later one is therefore stored completely.

use std::collections::{HashMap, HashSet};

use domain::{ChatId, SwipeId, Timestamp};
use serde::Deserialize;
use store::{ReadTransaction, StoreError, WriteTransaction};

use super::{SharedPrefix, chain_of, recorded, to_json};

/// A stored manifest without its report.
#[derive(Deserialize)]
struct Link {
    #[serde(default)]
    bare: bool,
    shared: Option<SharedPrefix>,
}

impl Link {
    fn target(&self) -> Option<SwipeId> {
        self.shared.as_ref()?.swipe.parse().ok()
    }
}

/// Removes the prompts of replies that were made before `time`; their figures stay. Returns how
/// many.
pub(crate) fn remove_older(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    time: Timestamp,
) -> Result<usize, StoreError> {
    let old = store.manifests().made_before(chat, time)?;
    if old.is_empty() {
        return Ok(0);
    }
    for swipe in dependent(&links_since(store, chat, time)?, &old) {
        store_completely(store, swipe)?;
    }
    for swipe in &old {
        store.manifests_mut().set_json(*swipe, "")?;
    }
    Ok(old.len())
}

fn links_since(
    store: &ReadTransaction<'_>,
    chat: ChatId,
    time: Timestamp,
) -> Result<HashMap<SwipeId, Link>, StoreError> {
    let mut links = HashMap::new();
    store.manifests().visit_since(chat, time, |swipe, json| {
        if let Ok(link) = serde_json::from_str(json) {
            links.insert(swipe, link);
        }
    })?;
    Ok(links)
}

/// The manifests with texts that share text with one of `old`: directly, or by way of manifests
/// without texts. Those without texts stay readable by themselves.
fn dependent(links: &HashMap<SwipeId, Link>, old: &HashSet<SwipeId>) -> Vec<SwipeId> {
    let shares_with_old = |link: &Link| {
        let bare = |swipe: &SwipeId| links.get(swipe).filter(|link| link.bare);
        let way = std::iter::successors(link.target(), |swipe| bare(swipe)?.target());
        // Each step leads to an earlier reply. The limit is for manipulated links in a circle.
        way.take(links.len() + 1).any(|swipe| old.contains(&swipe))
    };
    links
        .iter()
        .filter(|(_, link)| !link.bare && shares_with_old(link))
        .map(|(swipe, _)| *swipe)
        .collect()
}

/// Stores a manifest without a reference to an earlier one. An unreadable one is removed.
fn store_completely(store: &mut WriteTransaction<'_>, swipe: SwipeId) -> Result<(), StoreError> {
    let whole = recorded(swipe, chain_of(store, swipe)?);
    let json = whole.map_or_else(String::new, |whole| to_json(&whole.report, None));
    store.manifests_mut().set_json(swipe, &json)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn swipe(number: u128) -> SwipeId {
        SwipeId(Uuid::from_u128(number))
    }

    fn link(bare: bool, target: Option<u128>) -> Link {
        let shared = target.map(|target| SharedPrefix {
            swipe: swipe(target).to_string(),
            segments: 1,
            blocks: 1,
            links: 1,
            checksum: String::new(),
        });
        Link { bare, shared }
    }

    #[test]
    fn nearest_manifests_with_texts_depend_on_removed_ones() {
        let links = [
            (2, link(false, Some(1))),
            (3, link(false, Some(2))),
            (4, link(true, Some(1))),
            (5, link(false, Some(4))),
            (6, link(false, None)),
            (7, link(true, Some(8))),
            (8, link(true, Some(7))),
            (9, link(false, Some(8))),
        ];
        let links = links.map(|(number, link)| (swipe(number), link)).into();
        let mut found = dependent(&links, &[swipe(1)].into());
        found.sort();
        assert_eq!(found, [swipe(2), swipe(5)]);
    }
}
