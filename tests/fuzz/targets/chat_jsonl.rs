//! Fuzz target: a SillyTavern chat never panics, and a parsed chat is written and parsed again as
//! the same chat.
#![no_main]

use domain::chat_file::ChatFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok((chat, _)) = ChatFile::from_jsonl(bytes) else { return };
    let (again, losses) = ChatFile::from_jsonl(chat.to_jsonl().as_bytes()).expect("a written chat can be parsed");
    assert!(losses.unread.is_empty(), "{losses:?}");
    assert_eq!(again.messages.len(), chat.messages.len());
});
