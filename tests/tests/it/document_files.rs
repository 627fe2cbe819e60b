//! Documents in other formats: web pages, e-books, PDFs. Passages are cited by their place.

use std::io::{Cursor, Write as _};

use domain::ChatId;
use engine::api::{ApiError, DocumentOwner};
use tests::headless::Headless;
use tests::pdf::pdf;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const PAGE: &str =
    "<!DOCTYPE html><html><head><title>Guide</title><script>steal('ZEBULON')</script></head><body>
    <nav>Home | ZEBULON</nav><h1>The lighthouse</h1><p>It stands on a rock of granite.</p>
    <h2>The lamp</h2><p>The lamp burns train&nbsp;oil &amp; nothing else.</p></body></html>";

fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn book(chapters: &[(&str, &str)]) -> Vec<u8> {
    let (mut items, mut spine, mut contents) = (String::new(), String::new(), String::new());
    for (at, (title, _)) in chapters.iter().enumerate() {
        items +=
            &format!(r#"<item id="c{at}" href="c{at}.xhtml" media-type="application/xhtml+xml"/>"#);
        spine += &format!(r#"<itemref idref="c{at}"/>"#);
        contents += &format!(r#"<li><a href="c{at}.xhtml">{title}</a></li>"#);
    }
    items +=
        r#"<item id="nav" properties="nav" href="nav.xhtml" media-type="application/xhtml+xml"/>"#;
    let package = format!("<package><manifest>{items}</manifest><spine>{spine}</spine></package>");
    let contents = format!("<html><body><nav><ol>{contents}</ol></nav></body></html>");
    let container =
        r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
    let mut members = vec![
        ("META-INF/container.xml".to_owned(), container.to_owned()),
        ("OEBPS/book.opf".to_owned(), package),
        ("OEBPS/nav.xhtml".to_owned(), contents),
    ];
    for (at, (_, text)) in chapters.iter().enumerate() {
        members.push((
            format!("OEBPS/c{at}.xhtml"),
            format!("<html><body>{text}</body></html>"),
        ));
    }
    archive(
        &members
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect::<Vec<_>>(),
    )
}

fn of_chat(id: ChatId) -> DocumentOwner {
    DocumentOwner::Chat { id }
}

/// Returns the prompt for a question about a file.
async fn asked(name: &str, file: Vec<u8>, question: &str) -> String {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.engine
        .attach_document_bytes(of_chat(chat), name.into(), file)
        .await
        .unwrap();
    app.model.reply("Hm.");
    app.send(chat, question).await;
    let prompt = app.model.last_request().unwrap().prompt;
    prompt
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect::<Vec<_>>()
        .join("\n---\n")
}

#[tokio::test]
async fn web_page_is_cited_by_headings() {
    let sent = asked("guide.html", PAGE.into(), "What does the lamp burn?").await;
    assert!(
        sent.contains("- guide.html, The lamp: The lamp burns train oil & nothing else."),
        "{sent}"
    );
    assert!(!sent.contains("ZEBULON"), "{sent}");
}

#[tokio::test]
async fn epub_is_cited_by_chapters_under_any_file_name() {
    let chapters = [
        ("Of the sea", "<p>It is wide.</p>"),
        ("Of the lamp", "<p>The lamp burns ZEBULON oil.</p>"),
    ];
    let sent = asked("guide.txt", book(&chapters), "What does the lamp burn?").await;
    assert!(
        sent.contains("- guide.txt, Of the lamp: The lamp burns ZEBULON oil."),
        "{sent}"
    );
}

#[tokio::test]
async fn pdf_is_cited_by_pages() {
    let file = pdf(&[
        "It stands on a rock of granite.",
        "Eighty steps.",
        "The lamp burns ZEBULON oil.",
    ]);
    let sent = asked("guide.pdf", file, "What does the lamp burn?").await;
    assert!(
        sent.contains("- guide.pdf, Page 3: The lamp burns ZEBULON oil."),
        "{sent}"
    );
    assert!(
        !sent.contains("Eighty"),
        "the question was not about the steps:\n{sent}"
    );
}

#[tokio::test]
async fn refuses_unreadable_files_with_a_remedy() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let algorithm =
        r#"<EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/>"#;
    let locked = archive(&[
        ("META-INF/container.xml", "<rootfile full-path='a'/>"),
        ("META-INF/encryption.xml", algorithm),
    ]);
    for (name, file, why, way) in [
        (
            "bought.epub",
            locked,
            "copy-protected",
            "without copy protection",
        ),
        (
            "letter.docx",
            archive(&[("word/document.xml", "<w/>")]),
            "not an EPUB",
            "Save it as PDF",
        ),
        (
            "escape.epub",
            archive(&[("../../etc/passwd", "x")]),
            "lead out of a folder",
            "Download the file again",
        ),
        ("scan.pdf", pdf(&["", ""]), "pictures", "OCR"),
        (
            "broken.pdf",
            b"%PDF-1.7\nbroken".to_vec(),
            "damaged",
            "Download the file again",
        ),
        (
            "empty.html",
            b"<html><script>x</script>".to_vec(),
            "contains no text",
            "Choose another",
        ),
        (
            "huge.html",
            [b"<html>".as_slice(), &vec![b'a'; (4 << 20) + 1]].concat(),
            "4194304 bytes of text",
            "4 MiB of text",
        ),
        (
            "huge.pdf",
            [b"%PDF-1.7\n".as_slice(), &vec![0; 32 << 20]].concat(),
            "the limit is 33554432",
            "32 MiB",
        ),
    ] {
        match app
            .engine
            .attach_document_bytes(of_chat(chat), name.into(), file)
            .await
        {
            Err(ApiError::BadInput { message, hint }) => {
                assert!(
                    message.contains(why) && hint.contains(way),
                    "{name}: {message} {hint}"
                );
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(
        app.engine
            .list_documents(of_chat(chat))
            .await
            .unwrap()
            .is_empty()
    );
}
