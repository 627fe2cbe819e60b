//! Chats as documents for people.

use domain::ChatId;
use engine::api::{ChatFileFormat, ReadableFormat, ReadableOptions};
use tests::headless::Headless;

/// A PNG of one pixel.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

struct Exports {
    app: Headless,
    chat: ChatId,
}

impl Exports {
    /// A chat with a picture, a reply with thoughts and a hidden message.
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        let picture = app
            .engine
            .add_picture("dot.png".into(), DOT.into())
            .await
            .unwrap();
        app.model
            .reply("<think>It is red.</think>A *red* dot <script>alert(1)</script>.");
        let mut events = app.engine.subscribe();
        app.engine
            .send_pictures(chat, "Look.".into(), vec![picture])
            .await
            .unwrap();
        tests::headless::ended(&mut events, chat).await;
        let greeting = app
            .engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages
            .swap_remove(0);
        app.engine.hide_message(greeting.id, true).await.unwrap();
        Self { app, chat }
    }

    async fn render(&self, format: ReadableFormat, options: ReadableOptions) -> String {
        self.app
            .engine
            .render_chat(self.chat, format, options, None)
            .await
            .unwrap()
            .text
    }
}

const EVERYTHING: ReadableOptions = ReadableOptions {
    names: true,
    thoughts: true,
    times: true,
    hidden: true,
};

#[tokio::test]
async fn html_contains_pictures_and_no_script() {
    let world = Exports::open().await;
    let file = world
        .app
        .engine
        .export_chat(world.chat, ChatFileFormat::Html)
        .await
        .unwrap();
    assert!(file.file_name.ends_with(".html") && file.mime == "text/html");
    assert_eq!(file.warnings, ["1 hidden message is not in the file"]);
    let html = String::from_utf8(file.bytes).unwrap();
    assert!(
        html.contains("src=\"data:image/") && html.contains("alt=\"dot.png\""),
        "{html}"
    );
    assert!(
        html.contains("<em>red</em>")
            && html.contains("&lt;script&gt;")
            && !html.contains("<script"),
        "{html}"
    );
    assert!(!html.contains("It is red"), "{html}");
}

#[tokio::test]
async fn options_apply_to_every_format() {
    let world = Exports::open().await;
    for format in [
        ReadableFormat::Html,
        ReadableFormat::Markdown,
        ReadableFormat::Text,
    ] {
        let plain = world.render(format, ReadableOptions::default()).await;
        let whole = world.render(format, EVERYTHING).await;
        let bare = world
            .render(
                format,
                ReadableOptions {
                    names: false,
                    ..ReadableOptions::default()
                },
            )
            .await;
        assert!(
            !plain.contains("It is red") && whole.contains("It is red"),
            "{format:?}"
        );
        assert!(
            !plain.contains("21 November 2026, 23:11") && whole.contains("21 November 2026, 23:11"),
            "{format:?}"
        );
        assert!(
            whole.len() > plain.len() && plain.len() > bare.len(),
            "{format:?}"
        );
        let rendered = world
            .app
            .engine
            .render_chat(world.chat, format, EVERYTHING, Some(1))
            .await
            .unwrap();
        assert_eq!(rendered.messages, 1);
        assert!(
            rendered.text.contains("dot") && !rendered.text.contains("Look."),
            "{format:?}"
        );
    }
}

#[tokio::test]
async fn text_formats_warn_about_pictures() {
    let world = Exports::open().await;
    let rendered = world
        .app
        .engine
        .render_chat(world.chat, ReadableFormat::Text, EVERYTHING, None)
        .await
        .unwrap();
    assert_eq!(
        (rendered.messages, rendered.warnings),
        (3, vec!["1 picture is not in the file".to_owned()])
    );
    let missing = world
        .app
        .engine
        .render_chat(
            ChatId(uuid::Uuid::nil()),
            ReadableFormat::Html,
            EVERYTHING,
            None,
        )
        .await;
    assert!(missing.is_err());
}
