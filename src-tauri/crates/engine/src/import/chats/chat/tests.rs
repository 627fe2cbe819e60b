use domain::chat_file::{ChatFileAuthor, ChatFileMessage, MessageVersion};

use super::*;
use crate::import::chats::titles::{title, without_name, without_time};

#[test]
fn title_does_not_repeat_the_name() {
    let chat = |said: &str| {
        let version = MessageVersion {
            text: said.to_owned(),
            ..MessageVersion::default()
        };
        let message = ChatFileMessage {
            by: ChatFileAuthor::User,
            versions: vec![version],
            ..ChatFileMessage::default()
        };
        ChatFile {
            messages: vec![message],
            ..ChatFile::default()
        }
    };
    let shown = |title: &str, said: &str| without_name(title, "Nora", &chat(said));
    assert_eq!(shown("Nora - 2025-03-01", "Hi."), "2025-03-01");
    assert_eq!(
        shown("Branch #1 - nora - 2025-03-01", "Hi."),
        "Branch #1 - 2025-03-01"
    );
    assert_eq!(shown("Nora at sea", "Hi."), "Nora at sea");
    assert_eq!(shown("Nora", "*Good* evening."), "Good evening.");
    assert_eq!(
        shown("Nora", &"word ".repeat(20)),
        "word word word word word word word word…"
    );
    assert_eq!(shown("Nora", "..."), "Nora");
}

#[test]
fn title_has_the_date_and_no_time_of_day() {
    let shown = |file: &str| without_time(&title(file)).to_owned();
    assert_eq!(
        shown("Nora - 2025-03-01@10h00m00s.jsonl"),
        "Nora - 2025-03-01"
    );
    assert_eq!(
        shown("Nora - 2024-5-1 @10h 00m 00s 123ms.jsonl"),
        "Nora - 2024-5-1"
    );
    assert_eq!(
        shown("Branch #1 - Nora - 2025-03-01@10h00m00s.jsonl"),
        "Branch #1 - Nora - 2025-03-01"
    );
    assert_eq!(shown("2025-03-01@09h00m00s.jsonl"), "2025-03-01");
    for kept in [
        "me@home",
        "Meet @ 10h",
        "Meet 7@10h",
        "@10h00m00s",
        "24@heart",
        "2@",
        "7@h",
    ] {
        assert_eq!(shown(&format!("{kept}.jsonl")), kept);
    }
}
