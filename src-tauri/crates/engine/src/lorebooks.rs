//! Lorebooks. Each is part of a card so far, and answers to its own name, to its character's, and to the character's id.

use domain::lorebook::Book;
use store::Character;

use crate::Engine;
use crate::api::{LorebookFormat, LorebookSummary};
use crate::characters::{Exported, card_of, file_name};
use crate::error::{Answer, not_found};

impl Engine {
    /// The books of all cards, in the order of the characters.
    pub async fn list_lorebooks(&self) -> Answer<Vec<LorebookSummary>> {
        let listed = self.store().read(|store| store.characters().list()).await?;
        // One card that cannot be read hides no other's book.
        let summary = |character: &Character| {
            let book = book(character).ok()??;
            Some(LorebookSummary {
                id: character.id.to_string(),
                name: name(&book, character),
                character_name: character.name.clone(),
                description: book.description().to_owned(),
                entry_count: u32::try_from(book.entries.len()).unwrap_or(u32::MAX),
            })
        };
        Ok(listed.iter().filter_map(|listed| summary(&listed.character)).collect())
    }

    /// The book of a character's card as a file of its own.
    ///
    /// # Errors
    /// `NotFound` if there is no such character, or its card has no book.
    pub async fn export_lorebook(&self, id: String, format: LorebookFormat) -> Answer<Exported> {
        let character = self.character(id.parse()?).await?;
        let mut book = book(&character)?.ok_or_else(|| not_found("lorebook"))?;
        let name = name(&book, &character);
        if book.name().is_empty() {
            book.set_name(&name);
        }
        let value = match format {
            LorebookFormat::Native => book.to_native(),
            LorebookFormat::V3 => book.to_lorebook_v3(),
        };
        let bytes = format!("{value:#}").into_bytes();
        Ok(Exported { file_name: file_name(&name, "json"), mime: "application/json", bytes, warnings: Vec::new() })
    }
}

fn book(character: &Character) -> Answer<Option<Book>> {
    let card = card_of(character)?;
    Ok(card.character_book().map(|raw| Book::from_character_book(raw).0))
}

fn name(book: &Book, character: &Character) -> String {
    match book.name() {
        "" => character.name.clone(),
        name => name.to_owned(),
    }
}
