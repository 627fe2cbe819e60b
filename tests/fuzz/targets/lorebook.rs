//! Fuzz target: a lorebook in any format never panics. A parsed book is written in both formats and
//! parsed again with all its entries.
#![no_main]

use domain::lorebook::Book;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok((book, left)) = Book::read(bytes) else { return };
    for value in [book.to_native(), book.to_lorebook_v3()] {
        let (again, skipped) = Book::from_value(value).expect("a written lorebook can be parsed");
        assert_eq!(skipped.len(), left.len(), "unreadable entries are kept");
        assert_eq!(again.entries.len(), book.entries.len());
    }
});
