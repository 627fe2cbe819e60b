//! Full-text search over everything: messages, their earlier texts, notes, memories, lorebook
//! entries and characters.

use domain::ChatId;
use domain::overrides::CardText;
use domain::search_query::SearchQuery;
use store::{FoundItem, ItemKind, ReadTransaction, SearchFilter, StoreError};

use crate::api::{ItemHit, ItemPlace, SearchGroup, SearchGroupKind, SearchResults};
use crate::library::characters::chat_texts;
use crate::library::chats::message_search::{earlier_page, parts, versions_page};

/// Number of hits in a group.
const GROUP: u32 = 30;

/// Everything with the words of a query, in one chat or in all. A query with filters for messages
/// finds only messages.
pub(crate) fn lexical_results(
    store: &ReadTransaction<'_>,
    query: &SearchQuery,
    filter: &SearchFilter,
) -> Result<SearchResults, StoreError> {
    let mut groups = Vec::new();
    if !filters_messages(query) {
        for kind in ItemKind::ALL {
            groups.extend(group(store, kind, query, filter.chat)?);
        }
    }
    Ok(SearchResults {
        messages: versions_page(store, &query.terms, filter, 0)?,
        earlier: earlier_page(store, &query.terms, filter)?,
        groups,
        can_find_meaning: false,
    })
}

/// Whether a query has filters that only messages can fulfil.
pub(crate) fn filters_messages(query: &SearchQuery) -> bool {
    let SearchQuery {
        terms: _,
        from,
        chat,
        after,
        before,
        has_picture,
    } = query;
    from.is_some() || chat.is_some() || after.is_some() || before.is_some() || *has_picture
}

fn group(
    store: &ReadTransaction<'_>,
    kind: ItemKind,
    query: &SearchQuery,
    chat: Option<ChatId>,
) -> Result<Option<SearchGroup>, StoreError> {
    let mut found = store
        .item_search()
        .find(kind, &query.terms, chat, GROUP + 1)?;
    let more = found.len() > GROUP as usize;
    found.truncate(GROUP as usize);
    let items: Vec<ItemHit> = found.into_iter().filter_map(item_hit).collect();
    Ok((!items.is_empty()).then_some(SearchGroup {
        kind: group_kind(kind),
        items,
        more,
    }))
}

pub(crate) fn group_kind(kind: ItemKind) -> SearchGroupKind {
    match kind {
        ItemKind::Note => SearchGroupKind::Notes,
        ItemKind::Memory => SearchGroupKind::Memories,
        ItemKind::Entry => SearchGroupKind::Entries,
        ItemKind::Character => SearchGroupKind::Characters,
    }
}

/// `None` for a field of the card that this version does not know.
pub(crate) fn item_hit(found: FoundItem) -> Option<ItemHit> {
    let FoundItem {
        place,
        title,
        context,
        excerpt,
    } = found;
    Some(ItemHit {
        place: item_place(place)?,
        title,
        context,
        excerpt: parts(&excerpt),
        by_meaning: false,
    })
}

fn item_place(place: store::ItemPlace) -> Option<ItemPlace> {
    use store::ItemPlace as Found;
    Some(match place {
        Found::Note => ItemPlace::Note,
        Found::ChatNote(chat) => ItemPlace::ChatNote { chat },
        Found::CharacterNote(character) => ItemPlace::CharacterNote { character },
        Found::Override { chat, field } => ItemPlace::ChatText {
            chat,
            field: chat_texts::shown(CardText::named(&field)?),
        },
        Found::Memory {
            memory,
            chat,
            character,
        } => ItemPlace::Memory {
            memory,
            chat,
            character,
        },
        Found::Entry { book, uid } => ItemPlace::Entry { book, entry: uid },
        Found::CardEntry { character, uid } => ItemPlace::CardEntry {
            character,
            entry: uid,
        },
        Found::Character { character, field } => ItemPlace::Character {
            character,
            field: field.to_owned(),
        },
    })
}
