//! Full-text search over the messages of all chats, and of one.

use domain::search_query::{SearchDay, SearchQuery, SearchTerm, USER};
use domain::{ChatId, Timestamp};
use store::{Excerpt, FoundMessage, ReadTransaction, SearchAuthor, SearchFilter, StoreError};

use crate::api::{self, ChatMatches, ExcerptPart, SearchHit, SearchPage, SearchWord};
use crate::base::clock::{Clock, rfc3339};
use crate::base::error::ApiResult;
use crate::library::chats::Chats;

/// Number of hits in one answer.
const PAGE: u32 = 50;
/// Number of hits in one chat that a user can walk through.
const IN_CHAT: u32 = 1_000;

impl Chats {
    /// Messages that match `text`, of one chat or of all. `skip` is the number of hits that are
    /// known already.
    pub(crate) async fn search_messages(
        &self,
        text: String,
        chat: Option<ChatId>,
        skip: u32,
    ) -> ApiResult<SearchPage> {
        let query = SearchQuery::parse(&text);
        if query.is_empty() {
            return Ok(SearchPage::default());
        }
        let filter = filter(&query, chat, self.base().clock());
        let terms = query.terms;
        let store = self.base().store();
        let find = move |store: &ReadTransaction<'_>| versions_page(store, &terms, &filter, skip);
        Ok(store.read(find).await?)
    }

    /// The messages of a chat whose shown version matches `text`, in the order of the chat. Of more
    /// than a thousand, the last ones.
    pub(crate) async fn find_in_chat(&self, chat: ChatId, text: String) -> ApiResult<ChatMatches> {
        let query = SearchQuery::parse(&text);
        if query.is_empty() {
            return Ok(ChatMatches::default());
        }
        let filter = filter(&query, Some(chat), self.base().clock());
        let terms = query.terms;
        let words = terms.iter().map(word).collect();
        let find = move |store: &ReadTransaction<'_>| {
            store
                .message_search()
                .in_order(&terms, &filter, IN_CHAT + 1)
        };
        let mut found = self.base().store().read(find).await?;
        let more = found.len() > IN_CHAT as usize;
        found.drain(..usize::from(more));
        Ok(ChatMatches {
            messages: found,
            more,
            terms: words,
        })
    }
}

fn word(term: &SearchTerm) -> SearchWord {
    match term {
        SearchTerm::Word(text) => SearchWord {
            text: text.clone(),
            unfinished: true,
        },
        SearchTerm::Phrase(text) => SearchWord {
            text: text.clone(),
            unfinished: false,
        },
    }
}

/// The page of versions with every term, after the first `skip`.
pub(crate) fn versions_page(
    store: &ReadTransaction<'_>,
    terms: &[SearchTerm],
    filter: &SearchFilter,
    skip: u32,
) -> Result<SearchPage, StoreError> {
    Ok(page(store.message_search().find(
        terms,
        filter,
        skip,
        PAGE + 1,
    )?))
}

/// The first page of earlier texts with every term.
pub(crate) fn earlier_page(
    store: &ReadTransaction<'_>,
    terms: &[SearchTerm],
    filter: &SearchFilter,
) -> Result<SearchPage, StoreError> {
    Ok(page(store.message_search().find_earlier(
        terms,
        filter,
        PAGE + 1,
    )?))
}

fn page(mut found: Vec<FoundMessage>) -> SearchPage {
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    SearchPage {
        hits: found.into_iter().map(hit).collect(),
        more,
    }
}

pub(crate) fn filter(query: &SearchQuery, chat: Option<ChatId>, clock: &Clock) -> SearchFilter {
    let start = |day: SearchDay| start_of(day, clock);
    SearchFilter {
        chat,
        title: query.chat.clone(),
        author: query.from.as_ref().map(|name| {
            if USER.contains(&name.to_lowercase().as_str()) {
                SearchAuthor::User
            } else {
                SearchAuthor::Named(name.clone())
            }
        }),
        since: query.after.and_then(start),
        until: query.before.and_then(start),
        has_picture: query.has_picture,
        // A search with filters only lists messages, not their versions.
        shown_only: query.terms.is_empty(),
    }
}

/// The first moment of a day on the user's clock; `None` if the month does not have this day.
fn start_of(SearchDay { year, month, day }: SearchDay, clock: &Clock) -> Option<Timestamp> {
    let date = jiff::civil::Date::new(year, month, day).ok()?;
    clock.instant_of(date.to_datetime(jiff::civil::Time::midnight()))
}

pub(crate) fn hit(found: FoundMessage) -> SearchHit {
    let role = found.role;
    SearchHit {
        chat: found.chat,
        title: found.title,
        name: match role {
            // Without a stored name, the current persona said it.
            api::Role::User => found.speaker,
            _ => Some(found.speaker.unwrap_or_else(|| found.character.clone())),
        },
        character: found.character,
        message: found.message,
        swipe: found.swipe,
        is_shown: found.is_shown,
        role,
        created: if found.undated {
            String::new()
        } else {
            rfc3339(found.created)
        },
        excerpt: parts(&found.excerpt),
        by_meaning: false,
    }
}

/// Splits an excerpt at its matches. Dots stand where text was left out.
pub(crate) fn parts(excerpt: &Excerpt) -> Vec<ExcerptPart> {
    let mut parts: Vec<ExcerptPart> = Vec::new();
    let mut put = |text: &str, is_match| {
        if !text.is_empty() {
            parts.push(ExcerptPart {
                text: text.to_owned(),
                is_match,
            });
        }
    };
    put(if excerpt.cut_before { "…" } else { "" }, false);
    let mut end = 0;
    for range in &excerpt.matches {
        put(&excerpt.text[end..range.start], false);
        put(&excerpt.text[range.clone()], true);
        end = range.end;
    }
    put(&excerpt.text[end..], false);
    put(if excerpt.cut_after { "…" } else { "" }, false);
    parts
}
