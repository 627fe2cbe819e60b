//! Operations on the entries of a lorebook: save, enable, delete, restore, order and copy.

use domain::LorebookId;
use domain::lorebook::{Book, Entry, InsertionRole, KeyLogic, Position, Uid};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::{
    DraftKind, LoreFilter, LoreLogic, LorePosition, LoreRole, LoreSources, Lorebook, LorebookEntry,
};
use crate::base::error::{ApiResult, bad_input, internal, not_found};
use crate::library::lorebooks::Lorebooks;

/// A deleted entry and its position.
#[derive(Serialize, Deserialize)]
struct RemovedEntry {
    at: usize,
    entry: Map<String, Value>,
}

impl Lorebooks {
    /// Stores an edited entry. An entry without an id is new and goes last. Unchanged fields stay
    /// as they are in the file.
    ///
    /// # Errors
    /// `NotFound` if the book or the entry does not exist.
    pub(crate) async fn save_lore_entry(
        &self,
        book: LorebookId,
        entry: LorebookEntry,
    ) -> ApiResult<LorebookEntry> {
        self.change_lorebook(book, move |found, _| {
            let book = &mut found.book;
            let at = match entry.id.as_str() {
                "" => {
                    book.add(&Entry::new(Uid::from("0")));
                    book.entries.len() - 1
                }
                id => place(book, id)?,
            };
            apply(&mut book.entries[at], &entry);
            shown(book)
                .into_iter()
                .find(|shown| place(book, &shown.id) == Ok(at))
                .ok_or_else(|| internal("a saved entry is missing"))
        })
        .await
    }

    /// Switches several entries on or off.
    pub(crate) async fn enable_lore_entries(
        &self,
        book: LorebookId,
        ids: Vec<String>,
        enabled: bool,
    ) -> ApiResult<Lorebook> {
        self.change_lorebook(book, move |found, _| {
            for at in places(&found.book, &ids)? {
                found.book.entries[at].disable = !enabled;
            }
            Ok(())
        })
        .await?;
        self.get_lorebook(book).await
    }

    /// Deletes several entries. Returns the JSON that `restore_lore_entries` needs to undo this.
    pub(crate) async fn delete_lore_entries(
        &self,
        book: LorebookId,
        ids: Vec<String>,
    ) -> ApiResult<String> {
        let targets = ids.clone();
        let delete = self.change_lorebook(book, move |found, _| {
            let mut gone = places(&found.book, &ids)?;
            gone.sort_unstable();
            // Delete from the end, so that the earlier positions stay valid.
            let taken = gone.into_iter().rev().filter_map(|at| {
                Some(RemovedEntry {
                    at,
                    entry: found.book.remove(at)?,
                })
            });
            let taken: Vec<RemovedEntry> = taken.collect();
            serde_json::to_string(&taken).map_err(|error| internal(&error.to_string()))
        });
        let deleted = delete.await?;
        self.drafts
            .forget_drafts(DraftKind::LoreEntry, book.to_string(), targets)
            .await?;
        Ok(deleted)
    }

    /// Puts deleted entries back in their positions.
    ///
    /// # Errors
    /// `BadInput` if `deleted` is not the result of `delete_lore_entries`.
    pub(crate) async fn restore_lore_entries(
        &self,
        book: LorebookId,
        deleted: String,
    ) -> ApiResult<Lorebook> {
        let refused = |why: String| {
            bad_input(
                format!("The entries cannot be put back: {why}."),
                "Import the book again.",
            )
        };
        let taken: Vec<RemovedEntry> =
            serde_json::from_str(&deleted).map_err(|error| refused(error.to_string()))?;
        self.change_lorebook(book, move |found, _| {
            for RemovedEntry { at, entry } in taken.into_iter().rev() {
                found
                    .book
                    .restore_set_aside(at, entry)
                    .map_err(|why| refused(why.to_owned()))?;
            }
            Ok(())
        })
        .await?;
        self.get_lorebook(book).await
    }

    /// Sets the display order, which does not affect the prompt. Entries that `ids` does not name
    /// go last.
    pub(crate) async fn order_lore_entries(
        &self,
        book: LorebookId,
        ids: Vec<String>,
    ) -> ApiResult<Lorebook> {
        self.change_lorebook(book, move |found, _| {
            let named = places(&found.book, &ids)?;
            let others = order(&found.book)
                .into_iter()
                .filter(|at| !named.contains(at))
                .collect::<Vec<_>>();
            for (index, at) in (0..).zip(named.into_iter().chain(others)) {
                found.book.entries[at].display_index = Some(index);
            }
            Ok(())
        })
        .await?;
        self.get_lorebook(book).await
    }

    /// Copies entries, with everything they contain, to the end of another book and in its format.
    /// With `leave`, also deletes them from this book.
    pub(crate) async fn copy_lore_entries(
        &self,
        book: LorebookId,
        ids: Vec<String>,
        to: LorebookId,
        leave: bool,
    ) -> ApiResult<()> {
        let from = self.lorebook(book).await?;
        let wanted = ids.clone();
        self.change_lorebook(to, move |target, _| {
            for at in places(&from.book, &wanted)? {
                target.book.add(&from.book.entries[at]);
            }
            Ok(())
        })
        .await?;
        if leave {
            self.delete_lore_entries(book, ids).await?;
        }
        Ok(())
    }
}

/// All entries in display order.
pub(crate) fn shown(book: &Book) -> Vec<LorebookEntry> {
    let ids = book.entry_ids();
    order(book)
        .into_iter()
        .map(|at| view(&book.entries[at], ids[at].clone()))
        .collect()
}

fn order(book: &Book) -> Vec<usize> {
    let mut order: Vec<usize> = (0..book.entries.len()).collect();
    order.sort_by_key(|at| book.entries[*at].display_index.unwrap_or(*at as i64));
    order
}

fn place(book: &Book, id: &str) -> ApiResult<usize> {
    book.entry_ids()
        .iter()
        .position(|known| known == id)
        .ok_or_else(|| not_found("entry"))
}

/// Positions in the order of `wanted`, without repeats.
fn places(book: &Book, wanted: &[String]) -> ApiResult<Vec<usize>> {
    let known: std::collections::HashMap<String, usize> = (0..)
        .zip(book.entry_ids())
        .map(|(at, id)| (id, at))
        .collect();
    let mut places = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for id in wanted {
        let at = *known.get(id).ok_or_else(|| not_found("entry"))?;
        if seen.insert(at) {
            places.push(at);
        }
    }
    Ok(places)
}

fn view(entry: &Entry, id: String) -> LorebookEntry {
    LorebookEntry {
        id,
        title: title(entry).to_owned(),
        enabled: !entry.disable,
        constant: entry.constant,
        keys: entry.keys.clone(),
        secondary_keys: entry.secondary_keys.clone(),
        selective: entry.selective,
        logic: entry.logic.map_or(LoreLogic::AndAny, logic),
        use_regex: entry.use_regex && !entry.is_sillytavern_export(),
        case_sensitive: entry.case_sensitive.or(entry.spec_case_sensitive),
        whole_words: entry.match_whole_words,
        scan_depth: crate::library::lorebooks::stored_book::shown(entry.scan_depth),
        sources: LoreSources {
            persona: entry.match_persona_description,
            description: entry.match_character_description,
            personality: entry.match_character_personality,
            depth_prompt: entry.match_character_depth_prompt,
            scenario: entry.match_scenario,
            creator_notes: entry.match_creator_notes,
        },
        vectorized: entry.vectorized,
        content: entry.content.clone(),
        order: entry.order,
        priority: entry.priority,
        position: entry.position.map(position),
        depth: crate::library::lorebooks::stored_book::shown(entry.depth),
        role: entry.role.map_or(LoreRole::System, role),
        outlet: entry.outlet.clone(),
        use_probability: entry.use_probability,
        probability: entry.probability,
        group: entry.group.clone(),
        group_override: entry.group_override,
        group_weight: entry.group_weight,
        group_scoring: entry.use_group_scoring,
        exclude_recursion: entry.exclude_recursion,
        prevent_recursion: entry.prevent_recursion,
        delay_until_recursion: entry.delay_until_recursion,
        ignore_budget: entry.ignore_budget,
        sticky: crate::library::lorebooks::stored_book::shown(entry.sticky),
        cooldown: crate::library::lorebooks::stored_book::shown(entry.cooldown),
        delay: crate::library::lorebooks::stored_book::shown(entry.delay),
        character_filter: entry.character_filter.as_ref().map(|filter| LoreFilter {
            names: filter.names.clone(),
            tags: filter.tags.clone(),
            exclude: filter.exclude,
        }),
        triggers: entry.triggers.clone(),
    }
}

/// Writes only the fields that changed, so that values which are merely shown in another form stay
/// unchanged.
fn apply(entry: &mut Entry, edited: &LorebookEntry) {
    let before = view(entry, edited.id.clone());
    macro_rules! changed {
        ($($field:ident => $to:expr;)*) => { $(if edited.$field != before.$field { $to; })* };
    }
    changed! {
        title => set_title(entry, &edited.title);
        enabled => entry.disable = !edited.enabled;
        constant => entry.constant = edited.constant;
        keys => entry.keys.clone_from(&edited.keys);
        secondary_keys => entry.secondary_keys.clone_from(&edited.secondary_keys);
        selective => entry.selective = edited.selective;
        logic => entry.logic = Some(kept_logic(edited.logic));
        use_regex => entry.use_regex = edited.use_regex;
        case_sensitive => set_case(entry, edited.case_sensitive);
        whole_words => entry.match_whole_words = edited.whole_words;
        scan_depth => entry.scan_depth = edited.scan_depth.map(i64::from);
        sources => set_sources(entry, edited.sources);
        vectorized => entry.vectorized = edited.vectorized;
        content => entry.content.clone_from(&edited.content);
        order => entry.order = edited.order;
        priority => entry.priority = edited.priority;
        position => entry.position = edited.position.map(kept_position);
        depth => entry.depth = edited.depth.map(i64::from);
        role => entry.role = Some(kept_role(edited.role));
        outlet => entry.outlet.clone_from(&edited.outlet);
        use_probability => entry.use_probability = edited.use_probability;
        probability => entry.probability = edited.probability;
        group => entry.group.clone_from(&edited.group);
        group_override => entry.group_override = edited.group_override;
        group_weight => entry.group_weight = edited.group_weight;
        group_scoring => entry.use_group_scoring = edited.group_scoring;
        exclude_recursion => entry.exclude_recursion = edited.exclude_recursion;
        prevent_recursion => entry.prevent_recursion = edited.prevent_recursion;
        delay_until_recursion => entry.delay_until_recursion = edited.delay_until_recursion;
        ignore_budget => entry.ignore_budget = edited.ignore_budget;
        sticky => entry.sticky = edited.sticky.map(i64::from);
        cooldown => entry.cooldown = edited.cooldown.map(i64::from);
        delay => entry.delay = edited.delay.map(i64::from);
        character_filter => entry.character_filter = edited.character_filter.as_ref().map(kept_filter);
        triggers => entry.triggers.clone_from(&edited.triggers);
    }
}

/// The author's title; may be empty.
pub(crate) fn title(entry: &Entry) -> &str {
    if entry.comment.is_empty() {
        &entry.name
    } else {
        &entry.comment
    }
}

fn set_title(entry: &mut Entry, title: &str) {
    title.clone_into(&mut entry.comment);
    if title.is_empty() {
        entry.name.clear();
    }
}

/// The switch of the card specification is shown where SillyTavern's own is not set.
fn set_case(entry: &mut Entry, sensitive: Option<bool>) {
    entry.case_sensitive = sensitive;
    if entry.spec_case_sensitive.is_some() {
        entry.spec_case_sensitive = sensitive;
    }
}

fn set_sources(entry: &mut Entry, sources: LoreSources) {
    entry.match_persona_description = sources.persona;
    entry.match_character_description = sources.description;
    entry.match_character_personality = sources.personality;
    entry.match_character_depth_prompt = sources.depth_prompt;
    entry.match_scenario = sources.scenario;
    entry.match_creator_notes = sources.creator_notes;
}

fn logic(logic: KeyLogic) -> LoreLogic {
    match logic {
        KeyLogic::AndAny => LoreLogic::AndAny,
        KeyLogic::AndAll => LoreLogic::AndAll,
        KeyLogic::NotAny => LoreLogic::NotAny,
        KeyLogic::NotAll => LoreLogic::NotAll,
    }
}

fn kept_logic(logic: LoreLogic) -> KeyLogic {
    match logic {
        LoreLogic::AndAny => KeyLogic::AndAny,
        LoreLogic::AndAll => KeyLogic::AndAll,
        LoreLogic::NotAny => KeyLogic::NotAny,
        LoreLogic::NotAll => KeyLogic::NotAll,
    }
}

fn position(position: Position) -> LorePosition {
    match position {
        Position::BeforeChar => LorePosition::BeforeCharacter,
        Position::AfterChar => LorePosition::AfterCharacter,
        Position::NoteTop => LorePosition::NoteTop,
        Position::NoteBottom => LorePosition::NoteBottom,
        Position::AtDepth => LorePosition::AtDepth,
        Position::ExampleTop => LorePosition::BeforeExamples,
        Position::ExampleBottom => LorePosition::AfterExamples,
        Position::Outlet => LorePosition::Outlet,
    }
}

fn kept_position(position: LorePosition) -> Position {
    match position {
        LorePosition::BeforeCharacter => Position::BeforeChar,
        LorePosition::AfterCharacter => Position::AfterChar,
        LorePosition::NoteTop => Position::NoteTop,
        LorePosition::NoteBottom => Position::NoteBottom,
        LorePosition::AtDepth => Position::AtDepth,
        LorePosition::BeforeExamples => Position::ExampleTop,
        LorePosition::AfterExamples => Position::ExampleBottom,
        LorePosition::Outlet => Position::Outlet,
    }
}

fn role(role: InsertionRole) -> LoreRole {
    match role {
        InsertionRole::System => LoreRole::System,
        InsertionRole::User => LoreRole::User,
        InsertionRole::Assistant => LoreRole::Character,
    }
}

fn kept_role(role: LoreRole) -> InsertionRole {
    match role {
        LoreRole::System => InsertionRole::System,
        LoreRole::User => InsertionRole::User,
        LoreRole::Character => InsertionRole::Assistant,
    }
}

fn kept_filter(filter: &LoreFilter) -> domain::lorebook::CharacterFilter {
    domain::lorebook::CharacterFilter {
        names: filter.names.clone(),
        tags: filter.tags.clone(),
        exclude: filter.exclude,
    }
}
