//! Editing a book: entries come and go in its own form, so that it stays one book of one kind.

use serde_json::{Map, Value};

use super::book::{Book, Form, check};
use super::entry::{Entry, Uid};
use super::value::Field;

impl Book {
    /// Adds an entry of this or another book at the end, under a uid that is free here, and returns that.
    pub fn add(&mut self, entry: &Entry) -> Uid {
        let (uid, number) = self.free_uid();
        let (name, mut raw) = match self.form() {
            Form::Native => ("uid", entry.to_native()),
            Form::Card | Form::Standalone => ("id", entry.to_card()),
        };
        raw.insert(name.to_owned(), number.into());
        let mut added = self.read_entry(uid.as_str(), raw);
        let places = self.entries.iter().zip(0..).map(|(entry, at)| entry.display_index.unwrap_or(at));
        let last = places.max().map_or(0, |last| last.saturating_add(1));
        // What it was among others says nothing here.
        if added.display_index.is_some() || last != self.entries.len() as i64 {
            added.display_index = Some(last);
        }
        self.entries.push(added);
        uid
    }

    /// Takes out the entry at `index`, as it would be written now.
    pub fn remove(&mut self, index: usize) -> Option<Map<String, Value>> {
        let there = index < self.entries.len();
        there.then(|| self.entries.remove(index).to_own_form())
    }

    /// Puts back what [`Book::remove`] took out, at `index` or at the end.
    ///
    /// # Errors
    /// Why `raw` is no entry.
    pub fn put_back(&mut self, index: usize, raw: Map<String, Value>) -> Result<(), &'static str> {
        let raw = check(Value::Object(raw)).map_err(|(_, why)| why)?;
        let entry = self.read_entry(&index.to_string(), raw);
        self.entries.insert(index.min(self.entries.len()), entry);
        Ok(())
    }

    /// For people; never part of a prompt (LB-02).
    pub fn set_description(&mut self, description: &str) {
        if self.description() != description {
            self.raw.insert("description".to_owned(), description.into());
        }
    }

    /// LB-03; `None` leaves it to the settings.
    pub fn set_scan_depth(&mut self, messages: Option<i64>) {
        let before = self.scan_depth();
        self.state(["scan_depth", "scanDepth"], before, messages);
    }

    /// LB-04; `None` leaves it to the settings.
    pub fn set_token_budget(&mut self, tokens: Option<i64>) {
        let before = self.token_budget();
        self.state(["token_budget", "tokenBudget"], before, tokens);
    }

    /// LB-05; `None` leaves it to the settings.
    pub fn set_recursive_scanning(&mut self, recursive: Option<bool>) {
        let before = self.recursive_scanning();
        self.state(["recursive_scanning", "recursiveScanning"], before, recursive);
    }

    fn read_entry(&self, name: &str, raw: Map<String, Value>) -> Entry {
        match self.speaks_card(&raw) {
            true => Entry::from_card(name.parse().unwrap_or_default(), raw),
            false => Entry::from_native(name, raw),
        }
    }

    /// One above the highest number.
    fn free_uid(&self) -> (Uid, u64) {
        let kept = self.kept.iter().map(|(place, _)| place.as_str());
        let taken = self.entries.iter().map(|entry| entry.uid.as_str()).chain(kept);
        let highest = taken.filter_map(|uid| uid.parse::<u32>().ok()).max();
        let number = highest.map_or(0, |highest| u64::from(highest) + 1);
        (Uid::from(number.to_string().as_str()), number)
    }

    /// Where the file states a value under either name, it is changed there.
    fn state<T: Field>(&mut self, names: [&str; 2], before: Option<T>, after: Option<T>) {
        if before == after {
            return;
        }
        let known = names.into_iter().find(|name| self.raw.contains_key(*name)).unwrap_or(names[0]);
        match after {
            Some(value) => _ = self.raw.insert(known.to_owned(), value.write()),
            None => names.into_iter().for_each(|name| _ = self.raw.shift_remove(name)),
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

    /// The uids of a book as another program would find them in its file.
    fn uids(book: &Book) -> Vec<String> {
        let (again, skipped) = Book::from_value(book.to_value()).unwrap();
        assert_eq!(skipped, []);
        again.entries.iter().map(|entry| format!("{} {}", entry.uid, entry.content)).collect()
    }

    #[test]
    fn a_copied_entry_speaks_as_its_new_book_does_and_keeps_what_is_strange() {
        let (mut native, mut card) = (native(), card());
        assert_eq!(card.add(&native.entries[0]).as_str(), "4");
        assert_eq!(uids(&card), ["3 Sharp.", "4 Oil."]);
        let written = &card.to_value()["entries"][1];
        assert_eq!((&written["keys"], &written["strange"]), (&json!(["lamp"]), &json!([1])));
        assert_eq!((&written["extensions"]["probability"], written.get("key")), (&json!(40), None));

        assert_eq!(native.add(&card.entries[0]).as_str(), "5");
        assert_eq!(uids(&native), ["0 Oil.", "4 Grey.", "5 Sharp."]);
        let written = &native.to_value()["entries"]["5"];
        assert_eq!((&written["key"], &written["depth"], written.get("keys")), (&json!(["reef"]), &json!(2), None));
    }

    #[test]
    fn what_was_taken_out_goes_back_as_it_was() {
        for before in [native(), card()] {
            let mut book = before.clone();
            let taken = book.remove(0).unwrap();
            assert_eq!(book.entries.len(), before.entries.len() - 1);
            book.put_back(0, taken).unwrap();
            assert_eq!(book.to_value(), before.to_value());
        }
        assert_eq!(native().remove(2), None);
        assert!(native().put_back(0, Map::from_iter([("content".to_owned(), json!([]))])).is_err());
    }

    /// LB-03 to LB-05: what the book says of itself is written where the file says it.
    #[test]
    fn what_a_book_states_is_changed_where_it_stands() {
        let mut book = Book::from_value(json!({ "scanDepth": 3, "entries": {} })).unwrap().0;
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
