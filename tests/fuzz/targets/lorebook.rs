//! A lorebook of any form: never a panic, and what was read is written in both forms and read again with all its entries.
#![no_main]

use domain::lorebook::Book;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok((book, left)) = Book::read(bytes) else { return };
    for value in [book.to_native(), book.to_lorebook_v3()] {
        let (again, skipped) = Book::from_value(value).expect("what was written is a book");
        assert_eq!(skipped.len(), left.len(), "what could not be read is kept");
        assert_eq!(again.entries.len(), book.entries.len());
    }
});
