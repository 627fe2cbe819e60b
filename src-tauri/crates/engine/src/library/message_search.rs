//! Full-text search over the messages of all chats.

use domain::search_query::{SearchDay, SearchQuery, USER};
use domain::{ChatId, Timestamp};
use store::{Excerpt, FoundMessage, SearchAuthor, SearchFilter};

use crate::api::{self, ExcerptPart, SearchHit, SearchPage};
use crate::base::clock::{Clock, rfc3339};
use crate::base::convert;
use crate::base::error::ApiResult;
use crate::library::handle::Library;

/// Number of hits in one answer.
const PAGE: u32 = 50;

impl Library {
    /// Messages that match `text`, of one chat or of all. `skip` is the number of hits that are known already.
    pub(crate) async fn search_messages(&self, text: String, chat: Option<String>, skip: u32) -> ApiResult<SearchPage> {
        let chat = chat.map(|chat| chat.parse::<ChatId>()).transpose()?;
        let query = SearchQuery::parse(&text);
        if query.is_empty() {
            return Ok(SearchPage::default());
        }
        let (filter, terms) = (filter(&query, chat, self.base().clock()), query.terms);
        let store = self.base().store();
        let mut found = store.read(move |store| store.message_search().find(&terms, &filter, skip, PAGE + 1)).await?;
        let more = found.len() > PAGE as usize;
        found.truncate(PAGE as usize);
        Ok(SearchPage { hits: found.into_iter().map(hit).collect(), more })
    }
}

fn filter(query: &SearchQuery, chat: Option<ChatId>, clock: &Clock) -> SearchFilter {
    let start = |day: SearchDay| start_of(day, clock);
    SearchFilter {
        chat,
        title: query.chat.clone(),
        author: query.from.as_ref().map(|name| match USER.contains(&name.to_lowercase().as_str()) {
            true => SearchAuthor::User,
            false => SearchAuthor::Named(name.clone()),
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

fn hit(found: FoundMessage) -> SearchHit {
    let role = convert::role(found.role);
    SearchHit {
        chat: found.chat.to_string(),
        title: found.title,
        name: (role != api::Role::User).then(|| found.speaker.unwrap_or_else(|| found.character.clone())),
        character: found.character,
        message: found.message.to_string(),
        swipe: found.swipe.to_string(),
        is_shown: found.is_shown,
        role,
        created: if found.undated { String::new() } else { rfc3339(found.created) },
        excerpt: parts(&found.excerpt),
    }
}

/// Splits an excerpt at its matches. Dots stand where text was left out.
fn parts(excerpt: &Excerpt) -> Vec<ExcerptPart> {
    let mut parts: Vec<ExcerptPart> = Vec::new();
    let mut put = |text: &str, is_match| {
        if !text.is_empty() {
            parts.push(ExcerptPart { text: text.to_owned(), is_match });
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
