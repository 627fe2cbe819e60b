//! Editing a lorebook. Added entries are converted to the book's own format.

use serde_json::{Map, Value};

use super::book::{Book, BookFormat, check};
use super::entry::{Entry, Uid};
use super::value::Field;

impl Book {
    /// Appends a copy of an entry, from this or another book, under a free uid. Returns the uid.
    pub fn add(&mut self, entry: &Entry) -> Uid {
        let (uid, number) = self.free_uid();
        let (name, mut raw) = match self.form() {
            BookFormat::Native => ("uid", entry.to_native()),
            BookFormat::Card | BookFormat::Standalone => ("id", entry.to_card()),
        };
        raw.insert(name.to_owned(), number.into());
        let mut added = self.read_entry(uid.as_str(), raw);
        let places = self
            .entries
            .iter()
            .zip(0..)
            .map(|(entry, at)| entry.display_index.unwrap_or(at));
        let last = places.max().map_or(0, |last| last.saturating_add(1));
        // The display position in its previous book is meaningless here.
        if added.display_index.is_some() || last != self.entries.len() as i64 {
            added.display_index = Some(last);
        }
        self.entries.push(added);
        uid
    }

    /// Removes the entry at `index` and returns its JSON.
    pub fn remove(&mut self, index: usize) -> Option<Map<String, Value>> {
        let there = index < self.entries.len();
        there.then(|| self.entries.remove(index).to_own_form())
    }

    /// Restores an entry that [`Book::remove`] returned, at `index` or at the end.
    ///
    /// # Errors
    /// Says why `raw` is not an entry.
    pub fn restore_set_aside(
        &mut self,
        index: usize,
        raw: Map<String, Value>,
    ) -> Result<(), &'static str> {
        let raw = check(Value::Object(raw)).map_err(|(_, why)| why)?;
        let entry = self.read_entry(&index.to_string(), raw);
        self.entries.insert(index.min(self.entries.len()), entry);
        Ok(())
    }

    /// For users; never part of a prompt.
    pub fn set_description(&mut self, description: &str) {
        if self.description() != description {
            self.raw
                .insert("description".to_owned(), description.into());
        }
    }

    /// `None` uses the setting.
    pub fn set_scan_depth(&mut self, messages: Option<i64>) {
        let before = self.scan_depth();
        self.state(["scan_depth", "scanDepth"], before, messages);
    }

    /// `None` uses the setting.
    pub fn set_token_budget(&mut self, tokens: Option<i64>) {
        let before = self.token_budget();
        self.state(["token_budget", "tokenBudget"], before, tokens);
    }

    /// `None` uses the setting.
    pub fn set_recursive_scanning(&mut self, recursive: Option<bool>) {
        let before = self.recursive_scanning();
        self.state(
            ["recursive_scanning", "recursiveScanning"],
            before,
            recursive,
        );
    }

    fn read_entry(&self, name: &str, raw: Map<String, Value>) -> Entry {
        if self.is_card_format(&raw) {
            Entry::from_card(name.parse().unwrap_or_default(), raw)
        } else {
            Entry::from_native(name, raw)
        }
    }

    /// Returns the number above the highest uid.
    fn free_uid(&self) -> (Uid, u64) {
        let kept = self.kept.iter().map(|(place, _)| place.as_str());
        let taken = self
            .entries
            .iter()
            .map(|entry| entry.uid.as_str())
            .chain(kept);
        let highest = taken.filter_map(|uid| uid.parse::<u32>().ok()).max();
        let number = highest.map_or(0, |highest| u64::from(highest) + 1);
        (Uid::from(number.to_string().as_str()), number)
    }

    /// Changes a value under the name that the file uses, or else under the specification's name.
    fn state<T: Field>(&mut self, names: [&str; 2], before: Option<T>, after: Option<T>) {
        if before == after {
            return;
        }
        let known = names
            .into_iter()
            .find(|name| self.raw.contains_key(*name))
            .unwrap_or(names[0]);
        match after {
            Some(value) => _ = self.raw.insert(known.to_owned(), value.write()),
            None => names
                .into_iter()
                .for_each(|name| _ = self.raw.shift_remove(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn native() -> Book {
        let book = json!({ "own": 7, "entries": {
            "0": { "uid": 0, "key": ["lamp"], "content": "Oil.", "probability": 40, "strange": [1] },
            "4": { "uid": 4, "key": ["fog"], "content": "Grey." },
        }});
        Book::from_value(book).unwrap().0
    }

    fn card() -> Book {
        let book = json!({ "extensions": {}, "entries": [
            { "id": 3, "keys": ["reef"], "content": "Sharp.", "enabled": true, "insertion_order": 5, "extensions": { "depth": 2 } },
        ]});
        Book::from_character_book(book.as_object().unwrap()).0
    }

    /// Returns the uids as another program would find them in the file.
    fn uids(book: &Book) -> Vec<String> {
        let (again, skipped) = Book::from_value(book.to_value()).unwrap();
        assert_eq!(skipped, []);
        again
            .entries
            .iter()
            .map(|entry| format!("{} {}", entry.uid, entry.content))
            .collect()
    }

    #[test]
    fn a_copied_entry_takes_the_format_of_its_new_book() {
        let (mut native, mut card) = (native(), card());
        assert_eq!(card.add(&native.entries[0]).as_str(), "4");
        assert_eq!(uids(&card), ["3 Sharp.", "4 Oil."]);
        let written = &card.to_value()["entries"][1];
        assert_eq!(
            (&written["keys"], &written["strange"]),
            (&json!(["lamp"]), &json!([1]))
        );
        assert_eq!(
            (&written["extensions"]["probability"], written.get("key")),
            (&json!(40), None)
        );

        assert_eq!(native.add(&card.entries[0]).as_str(), "5");
        assert_eq!(uids(&native), ["0 Oil.", "4 Grey.", "5 Sharp."]);
        let written = &native.to_value()["entries"]["5"];
        assert_eq!(
            (&written["key"], &written["depth"], written.get("keys")),
            (&json!(["reef"]), &json!(2), None)
        );
    }

    #[test]
    fn a_removed_entry_is_restored_unchanged() {
        for before in [native(), card()] {
            let mut book = before.clone();
            let taken = book.remove(0).unwrap();
            assert_eq!(book.entries.len(), before.entries.len() - 1);
            book.restore_set_aside(0, taken).unwrap();
            assert_eq!(book.to_value(), before.to_value());
        }
        assert_eq!(native().remove(2), None);
        assert!(
            native()
                .restore_set_aside(0, Map::from_iter([("content".to_owned(), json!([]))]))
                .is_err()
        );
    }

    /// Edits of a book's own fields use the name in the file.
    #[test]
    fn edits_use_the_field_names_of_the_file() {
        let mut book = Book::from_value(json!({ "scanDepth": 3, "entries": {} }))
            .unwrap()
            .0;
        book.set_scan_depth(Some(8));
        book.set_token_budget(Some(300));
        book.set_description("Of the sea");
        book.set_recursive_scanning(None);
        assert_eq!(
            book.to_value(),
            json!({ "scanDepth": 8, "entries": {}, "token_budget": 300, "description": "Of the sea" })
        );
        book.set_scan_depth(None);
        assert_eq!(book.scan_depth(), None);
    }
}
