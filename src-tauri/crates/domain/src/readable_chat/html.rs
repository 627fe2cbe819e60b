//! Chats as one HTML file, for screens and for paper.

use super::inline::escape;
use super::markup::markup;
use super::{EmbeddedPicture, ReadableChat, ReadableMessage, ReadableOptions, printable};
use crate::chat_file::ChatFileAuthor;

/// Forbids everything that a hostile text could try, should an error here let it through.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
const STYLE: &str = include_str!("document.css");

impl ReadableChat {
    /// The shown texts as one HTML file.
    pub fn to_html(&self, options: ReadableOptions) -> String {
        let title = escaped(&self.title);
        let mut html = format!(
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1 dir=\"auto\">{title}</h1>\n"
        );
        for message in self.shown(options) {
            push_message(message, options, &mut html);
        }
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }
}

fn push_message(message: &ReadableMessage, options: ReadableOptions, html: &mut String) {
    let by = match message.by {
        ChatFileAuthor::User => "user",
        ChatFileAuthor::Character => "character",
        ChatFileAuthor::Narrator => "narrator",
    };
    let hidden = if message.hidden { " hidden" } else { "" };
    html.push_str(&format!("<article class=\"{by}{hidden}\">\n"));
    let name = Some(&message.name).filter(|name| options.names && !name.is_empty());
    let time = Some(&message.time).filter(|time| options.times && !time.is_empty());
    if name.is_some() || time.is_some() {
        html.push_str("<header>");
        if let Some(name) = name {
            html.push_str(&format!("<b dir=\"auto\">{}</b> ", escaped(name)));
        }
        if let Some(time) = time {
            html.push_str(&format!("<time>{}</time>", escaped(time)));
        }
        html.push_str("</header>\n");
    }
    if options.thoughts && !message.thoughts.trim().is_empty() {
        let thoughts = markup(&printable(&message.thoughts));
        html.push_str(&format!("<div class=\"thoughts\">\n{thoughts}</div>\n"));
    }
    html.push_str(&markup(&printable(&message.text)));
    message
        .pictures
        .iter()
        .for_each(|picture| push_picture(picture, html));
    html.push_str("</article>\n");
}

fn push_picture(picture: &EmbeddedPicture, html: &mut String) {
    let mime = escaped(&picture.mime);
    let bytes = escaped(&picture.base64);
    html.push_str(&format!(
        "<img src=\"data:{mime};base64,{bytes}\" alt=\"{}\">\n",
        escaped(&picture.name)
    ));
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape(&printable(text), &mut html);
    html
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::readable_chat) const EVERYTHING: ReadableOptions = ReadableOptions {
        names: true,
        thoughts: true,
        times: true,
        hidden: true,
    };

    pub(in crate::readable_chat) fn talk() -> ReadableChat {
        let said = |name: &str, text: &str| ReadableMessage {
            name: name.to_owned(),
            text: text.to_owned(),
            ..ReadableMessage::default()
        };
        let thought = "He is wet.".to_owned();
        ReadableChat {
            title: "A *talk*".to_owned(),
            messages: vec![
                ReadableMessage {
                    thoughts: thought,
                    time: "3 May 2026, 21:04".into(),
                    ..said("Mira", "Come *in*.")
                },
                ReadableMessage {
                    by: ChatFileAuthor::Narrator,
                    ..said("", "The rain stops.")
                },
                ReadableMessage {
                    by: ChatFileAuthor::User,
                    hidden: true,
                    ..said("Tom", "A secret.")
                },
                ReadableMessage {
                    note: true,
                    hidden: true,
                    ..said("Note", "Never shown.")
                },
            ],
        }
    }

    /// The tags of the document, without those of its head.
    fn tags(html: &str) -> Vec<&str> {
        let body = html.split_once("<body>").unwrap().1;
        body.split('<')
            .skip(1)
            .map(|rest| rest.split_once('>').unwrap().0)
            .collect()
    }

    #[test]
    fn html_shows_what_is_asked_for() {
        let plain = talk().to_html(ReadableOptions::default());
        assert!(
            plain.contains("<b dir=\"auto\">Mira</b>") && plain.contains("Come <em>in</em>."),
            "{plain}"
        );
        assert!(
            !["He is wet", "21:04", "A secret", "Never"]
                .iter()
                .any(|text| plain.contains(text)),
            "{plain}"
        );
        let whole = talk().to_html(EVERYTHING);
        assert!(
            ["He is wet", "<time>3 May 2026, 21:04</time>", "A secret"]
                .iter()
                .all(|text| whole.contains(text))
        );
        assert!(
            !whole.contains("Never shown") && whole.contains("<article class=\"user hidden\">")
        );
        let bare = talk().to_html(ReadableOptions {
            names: false,
            ..ReadableOptions::default()
        });
        assert!(!bare.contains("Mira"), "{bare}");
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</style></article><script>alert(1)</script><img src=x onerror=alert(1)>\u{1b}[31m\
            [a](javascript:alert(1)) ![b](https://evil.example/x.png) <!-- \" onload='x' ]]> &lt;script&gt;";
        let picture = EmbeddedPicture {
            name: "\" onerror=\"alert(1)".into(),
            mime: "image/png\" onerror=\"alert(1)".into(),
            base64: "AAAA".into(),
        };
        let message = ReadableMessage {
            name: hostile.into(),
            time: hostile.into(),
            text: hostile.into(),
            thoughts: hostile.into(),
            pictures: vec![picture],
            ..ReadableMessage::default()
        };
        let html = ReadableChat {
            title: hostile.into(),
            messages: vec![message],
        }
        .to_html(EVERYTHING);
        let known = ["h1", "b", "p", "time", "div", "em", "br"];
        for tag in tags(&html) {
            let name = tag.trim_start_matches('/').split(' ').next().unwrap();
            let of_page = ["main", "article", "header", "img", "body", "html"].contains(&name);
            assert!(of_page || known.contains(&name), "{tag}");
            assert!(
                !tag.contains(" onerror=\"") && !tag.contains(" onload"),
                "{tag}"
            );
        }
        assert!(
            !html.contains('\u{1b}')
                && !html.contains("<script")
                && html.matches("</style>").count() == 1
        );
        assert!(
            !html.contains("href") && !html.contains("src=\"http"),
            "nothing is loaded"
        );
    }

    proptest! {
        #[test]
        fn no_text_adds_an_element(text in "[a-c<>/\"'&=! `*>#~-]{0,60}") {
            let message = ReadableMessage { text, ..ReadableMessage::default() };
            let html = ReadableChat { title: String::new(), messages: vec![message] }.to_html(EVERYTHING);
            let known = ["main", "h1", "article", "p", "blockquote", "hr", "pre", "code", "em", "strong", "s", "br", "body", "html"];
            for tag in tags(&html) {
                let name = tag.trim_start_matches('/').split(' ').next().unwrap();
                prop_assert!(known.contains(&name), "{}", tag);
            }
        }
    }
}
