//! Detects the format of a document from its first bytes, and from its name if they are not
//! conclusive.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Plain text or Markdown, and any unknown format.
    Text,
    Html,
    /// Any ZIP archive. Reading fails if it is not an EPUB.
    Epub,
    Pdf,
}

/// Number of bytes searched for a signature.
const BEGINNING: usize = 1_024;
/// Possible starts of an HTML page, after white space and comments.
const HTML: [&str; 4] = ["<!doctype html", "<html", "<head", "<body"];
const HTML_NAMES: [&str; 3] = [".html", ".htm", ".xhtml"];

impl DocumentKind {
    pub fn of(name: &str, file: &[u8]) -> Self {
        let beginning = &file[..file.len().min(BEGINNING)];
        let name = name.to_lowercase();
        let named_html = HTML_NAMES.iter().any(|end| name.ends_with(end));
        match () {
            () if begins_as_pdf(beginning) => Self::Pdf,
            () if beginning.starts_with(b"PK\x03\x04") => Self::Epub,
            () if named_html || begins_as_html(beginning) => Self::Html,
            () => Self::Text,
        }
    }
}

/// Whether a line starts with the PDF signature. Other programs may put lines before it, and a text
/// may mention it inside a line.
fn begins_as_pdf(beginning: &[u8]) -> bool {
    beginning
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .any(|line| line.starts_with(b"%PDF-"))
}

fn begins_as_html(beginning: &[u8]) -> bool {
    // Dropping the zero bytes turns UTF-16 into readable ASCII.
    let letters: Vec<u8> = beginning
        .iter()
        .copied()
        .filter(|byte| *byte != 0)
        .collect();
    let text = String::from_utf8_lossy(&letters).to_lowercase();
    let mut rest = text.trim_start_matches(|letter: char| !letter.is_ascii_graphic());
    loop {
        rest = rest.trim_start();
        let skipped = match () {
            () if rest.starts_with("<!--") => rest.split_once("-->"),
            () if rest.starts_with("<?xml") => rest.split_once("?>"),
            () => {
                return HTML.iter().any(|tag| {
                    rest.strip_prefix(tag)
                        .is_some_and(|behind| !goes_on(behind))
                });
            }
        };
        let Some((_, behind)) = skipped else {
            return false;
        };
        rest = behind;
    }
}

/// Whether the tag name continues.
fn goes_on(behind: &str) -> bool {
    behind.starts_with(|letter: char| letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_format_from_the_first_bytes() {
        use DocumentKind::{Epub, Html, Pdf, Text};
        for (name, file, kind) in [
            ("a.txt", b"%PDF-1.7\n%\xe2\xe3".as_slice(), Pdf),
            ("a.txt", b"From the printer\n%PDF-1.4\n", Pdf),
            (
                "a.pdf",
                b"A file begins with %PDF-1.7, says the standard.",
                Text,
            ),
            ("a.txt", b"PK\x03\x04..", Epub),
            (
                "a.txt",
                b"\xef\xbb\xbf\n<!-- saved --><!DOCTYPE HTML><p>",
                Html,
            ),
            ("a.txt", b"<?xml version='1.0'?>\n<html xmlns=''>", Html),
            ("a.txt", b"\xff\xfe<\0h\0t\0m\0l\0>\0", Html),
            ("a.HTM", b"<p>No head.", Html),
            (
                "README.md",
                b"<!-- badges -->\n<p align=\"center\">\n# Title",
                Text,
            ),
            ("a.md", b"<header", Text),
            ("a.html.txt", b"", Text),
        ] {
            assert_eq!(
                DocumentKind::of(name, file),
                kind,
                "{name} {}",
                String::from_utf8_lossy(file)
            );
        }
    }
}
