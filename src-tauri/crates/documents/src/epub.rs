//! Reads EPUB books: archives of HTML pages, in spine order.

use std::collections::{BTreeMap, HashSet};

use domain::archive::Archive;
use percent_encoding::percent_decode_str;

use super::markup::{XmlToken, xml_tokens};
use super::{Passage, html};
use crate::error::DocumentError;
use crate::text_block::{MAX_BYTES, MAX_FILE, TextBlock, cut};

const CONTAINER: &str = "META-INF/container.xml";
const ENCRYPTION: &str = "META-INF/encryption.xml";
/// Algorithms that only obfuscate embedded fonts. The text of such a book is readable.
const SCRAMBLED_FONTS: [&str; 2] = [
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];
const PAGES: [&str; 2] = ["application/xhtml+xml", "text/html"];
/// Maximum size of a page, in bytes.
const MAX_PAGE: u64 = 16 << 20;
/// Maximum size of the package document and of the table of contents, in bytes.
const MAX_LIST: u64 = 4 << 20;
/// Maximum total unpacked size, in bytes.
const MAX_UNPACKED: usize = 64 << 20;

/// Reads a book and splits it into passages, in order. Fails with `TooSlow` when `should_continue`
/// returns false.
///
/// # Errors
/// [`DocumentError`] if any part cannot be read. There is no partial result.
pub fn read(
    file: &[u8],
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<Passage>, DocumentError> {
    if file.len() > MAX_FILE {
        return Err(DocumentError::TooLarge {
            bytes: file.len(),
            limit: MAX_FILE,
        });
    }
    let mut book = EpubBook {
        archive: Archive::open(file)?,
        unpacked: 0,
        should_continue,
    };
    let package = book.package()?;
    let titles = book.titles(&package)?;
    let mut pieces = Vec::new();
    let mut size = 0;
    for path in &package.pages {
        let Some(page) = book.member(path, MAX_PAGE)? else {
            continue;
        };
        let page = html::pieces(&page, should_continue)?;
        size += page.iter().map(TextBlock::size).sum::<usize>();
        if size > MAX_BYTES {
            return Err(DocumentError::TooMuchText);
        }
        if let Some(title) = titles
            .get(path)
            .filter(|_| !matches!(page.first(), Some(TextBlock::Heading(_)) | None))
        {
            pieces.push(TextBlock::Heading(title.clone()));
        }
        pieces.extend(page);
    }
    cut(&pieces)
}

struct EpubBook<'b> {
    archive: Archive<'b>,
    unpacked: usize,
    should_continue: &'b dyn Fn() -> bool,
}

/// The reading order and the table of contents, from the package document.
struct OpfPackage {
    /// Archive members in reading order, without duplicates.
    pages: Vec<String>,
    contents: Option<String>,
}

impl EpubBook<'_> {
    fn member(&mut self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, DocumentError> {
        let member = self.archive.read(path, limit)?;
        self.unpacked += member.as_ref().map_or(0, Vec::len);
        if self.unpacked > MAX_UNPACKED {
            Err(DocumentError::Unpacked {
                limit: MAX_UNPACKED,
            })
        } else {
            Ok(member)
        }
    }

    fn xml_tokens(&mut self, path: &str) -> Result<Option<Vec<XmlToken>>, DocumentError> {
        let Some(file) = self.member(path, MAX_LIST)? else {
            return Ok(None);
        };
        xml_tokens(&file, self.should_continue).map(Some)
    }

    fn package(&mut self) -> Result<OpfPackage, DocumentError> {
        let container = self.xml_tokens(CONTAINER)?.ok_or(DocumentError::NotABook)?;
        self.refuse_protection()?;
        let path = container
            .iter()
            .find_map(|mark| mark.attribute("rootfile", "full-path"));
        let path = path
            .and_then(|path| resolve("", path))
            .ok_or(DocumentError::DamagedBook { part: "container" })?;
        let missing = DocumentError::DamagedBook {
            part: "list of pages",
        };
        let package = OpfPackage::read(&path, &self.xml_tokens(&path)?.ok_or(missing.clone())?);
        if package.pages.is_empty() {
            Err(missing)
        } else {
            Ok(package)
        }
    }

    fn refuse_protection(&mut self) -> Result<(), DocumentError> {
        let encryption = self.xml_tokens(ENCRYPTION)?.unwrap_or_default();
        let mut methods = encryption
            .iter()
            .filter_map(|mark| mark.attribute("encryptionmethod", "algorithm"));
        if methods.all(|method| SCRAMBLED_FONTS.contains(&method)) {
            Ok(())
        } else {
            Err(DocumentError::CopyProtected)
        }
    }

    /// Returns the first title of each page in the table of contents, by path.
    fn titles(&mut self, package: &OpfPackage) -> Result<BTreeMap<String, String>, DocumentError> {
        let Some(path) = &package.contents else {
            return Ok(BTreeMap::new());
        };
        let contents = self.xml_tokens(path)?.unwrap_or_default();
        let mut titles = BTreeMap::new();
        let mut title = String::new();
        let mut link = None;
        for mark in &contents {
            // A navigation document (EPUB 3) has the title inside the link. An NCX file (EPUB 2)
            // has it before the address.
            let address = mark
                .attribute("a", "href")
                .or_else(|| mark.attribute("content", "src"));
            match mark {
                XmlToken::Start { name, .. } if name == "a" || name == "navlabel" => title.clear(),
                XmlToken::Text(text) => title.push_str(text),
                XmlToken::End { name } if name == "a" => keep(&mut titles, link.take(), &title),
                _ => {}
            }
            match (mark, address.and_then(|address| resolve(path, address))) {
                (XmlToken::Start { name, .. }, Some(page)) if name == "content" => {
                    keep(&mut titles, Some(page), &title)
                }
                (_, Some(page)) => link = Some(page),
                _ => {}
            }
        }
        Ok(titles)
    }
}

fn keep(titles: &mut BTreeMap<String, String>, page: Option<String>, title: &str) {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(page) = page.filter(|_| !title.is_empty()) {
        titles.entry(page).or_insert(title);
    }
}

impl OpfPackage {
    fn read(path: &str, xml_tokens: &[XmlToken]) -> Self {
        let mut items = BTreeMap::new();
        let mut contents = None;
        for mark in xml_tokens {
            let said = |name: &str| mark.attribute("item", name).unwrap_or_default();
            let Some(page) = mark
                .attribute("item", "href")
                .and_then(|href| resolve(path, href))
            else {
                continue;
            };
            if said("properties")
                .split_whitespace()
                .any(|property| property == "nav")
            {
                contents = Some(page);
                continue;
            }
            if said("media-type") == "application/x-dtbncx+xml" {
                contents = contents.or(Some(page));
            } else if PAGES.contains(&said("media-type")) {
                items.insert(said("id"), page);
            }
        }
        let mut listed = HashSet::new();
        let spine = xml_tokens
            .iter()
            .filter_map(|mark| items.get(mark.attribute("itemref", "idref")?));
        let pages = spine
            .filter(|page| listed.insert(page.as_str()))
            .cloned()
            .collect();
        Self { pages, contents }
    }
}

/// Resolves a link in the member `from` to a member name. Returns `None` if it leads out of the
/// archive. The result is never used as a file system path.
fn resolve(from: &str, link: &str) -> Option<String> {
    let link = link.split(['#', '?']).next().unwrap_or_default();
    if link.is_empty() || link.contains("://") {
        return None;
    }
    let link = percent_decode_str(link).decode_utf8().ok()?;
    let mut path: Vec<&str> = from.split('/').collect();
    path.pop();
    if link.starts_with('/') {
        path.clear();
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop()?;
            }
            part => path.push(part),
        }
    }
    Some(path.join("/")).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    const ROOT: &str =
        r#"<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>"#;
    const OPF: &str = r##"<?xml version="1.0"?><opf:package xmlns:opf="http://www.idpf.org/2007/opf"><opf:manifest>
        <opf:item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
        <opf:item id="two" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
        <opf:item id="one" href="./text/../text/one.xhtml" media-type="application/xhtml+xml"/>
        <opf:item id="cat" href="cat.png" media-type="image/png"/>
        <opf:item id="out" href="../../etc/passwd" media-type="text/html"/>
        <opf:item id="web" href="https://example.org/a.html" media-type="text/html"/>
        </opf:manifest><opf:spine toc="toc"><opf:itemref idref="one"/><opf:itemref idref="two"/><opf:itemref idref="one"/>
        <opf:itemref idref="cat"/><opf:itemref idref="out"/><opf:itemref idref="web"/><opf:itemref idref="nobody"/>
        </opf:spine></opf:package>"##;
    const TOC: &str = r#"<ncx><navMap><navPoint><navLabel><text>The  first</text></navLabel><content src="text/one.xhtml"/>
        </navPoint><navPoint><navLabel><text>The second</text></navLabel><content src="text/two%20b.xhtml#a"/></navPoint>
        </navMap></ncx>"#;
    const ONE: &str = "<html xmlns='x'><head><title/></head><body><h1>The lamp</h1><p>Whale oil &#8211; always.</p></body></html>";
    const TWO: &str = "<html><body><script src='x'/><p>Eighty steps.</p><h2>Above</h2><p>The wind.</p></body></html>";

    fn packed(members: &[(&str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in members {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    fn book() -> Vec<(&'static str, &'static str)> {
        vec![
            ("mimetype", "application/epub+zip"),
            (CONTAINER, ROOT),
            ("OEBPS/book.opf", OPF),
            ("OEBPS/toc.ncx", TOC),
            ("OEBPS/text/one.xhtml", ONE),
            ("OEBPS/text/two b.xhtml", TWO),
            ("OEBPS/cat.png", "?"),
        ]
    }

    fn with(name: &'static str, text: &'static str) -> Vec<(&'static str, &'static str)> {
        let others = book().into_iter().filter(|(known, _)| *known != name);
        others.chain([(name, text)]).collect()
    }

    fn shown(members: &[(&str, &str)]) -> Result<Vec<String>, DocumentError> {
        let passages = read(&packed(members), &|| true)?;
        Ok(passages
            .into_iter()
            .map(|one| format!("{}: {}", one.heading, one.text))
            .collect())
    }

    #[test]
    fn reads_pages_in_spine_order() {
        let read = [
            "The lamp: Whale oil – always.",
            "The second: Eighty steps.",
            "Above: The wind.",
        ];
        assert_eq!(shown(&book()).unwrap(), read);
    }

    #[test]
    fn chapter_titles_come_from_the_table_of_contents() {
        let opf = r#"<package><item id="n" properties="scripted nav" href="nav.html" media-type="application/xhtml+xml"/>
            <item id="a" href="a.html" media-type="text/html"/><itemref idref="n"/><itemref idref="a"/></package>"#;
        let nav = r#"<body><h1>Contents</h1><nav><ol><li><a href="a.html#x">Chapter <b>one</b></a></li>
            <li><a href="a.html#y">Later</a></li></ol></nav></body>"#;
        let root = r#"<container><rootfile full-path="a.opf"/></container>"#;
        let members = [
            (CONTAINER, root),
            ("a.opf", opf),
            ("nav.html", nav),
            ("a.html", "<p>Hello.</p>"),
        ];
        assert_eq!(shown(&members).unwrap(), ["Chapter one: Hello."]);
    }

    #[test]
    fn refuses_other_archives_and_protected_books() {
        use DocumentError::{CopyProtected, DamagedBook, Empty, NotABook};
        let drm = r#"<encryption><enc:EncryptedData><enc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
            </enc:EncryptedData></encryption>"#;
        let fonts = r#"<encryption><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/></encryption>"#;
        for (members, error) in [
            (vec![("word/document.xml", "<w/>")], NotABook),
            (with(ENCRYPTION, drm), CopyProtected),
            (
                with(CONTAINER, "<container/>"),
                DamagedBook { part: "container" },
            ),
            (
                with(CONTAINER, r#"<rootfile full-path="../book.opf"/>"#),
                DamagedBook { part: "container" },
            ),
            (
                with("OEBPS/book.opf", "<package/>"),
                DamagedBook {
                    part: "list of pages",
                },
            ),
            (
                with(CONTAINER, r#"<rootfile full-path="gone.opf"/>"#),
                DamagedBook {
                    part: "list of pages",
                },
            ),
        ] {
            assert_eq!(shown(&members), Err(error), "{members:?}");
        }
        assert!(shown(&with(ENCRYPTION, fonts)).is_ok());
        let blank: Vec<_> = book()
            .into_iter()
            .filter(|(name, _)| !name.starts_with("OEBPS/text"))
            .collect();
        assert_eq!(shown(&blank), Err(Empty));
        assert!(matches!(
            read(b"PK\x03\x04 and no more", &|| true),
            Err(DocumentError::Archive(_))
        ));
    }

    #[test]
    fn refuses_books_that_unpack_above_the_limit() {
        let page: String = (0..150_000)
            .map(|number| format!("<p>{number} lamps</p>"))
            .collect();
        let name = |number: usize| format!("OEBPS/text/{number}.xhtml");
        let item = |number| {
            format!(
                r#"<item id="{number}" href="text/{number}.xhtml" media-type="text/html"/><itemref idref="{number}"/>"#
            )
        };
        let opf: String = (0..4).map(item).collect();
        let names: Vec<String> = (0..4).map(name).collect();
        let mut members = vec![(CONTAINER, ROOT), ("OEBPS/book.opf", opf.as_str())];
        members.extend(names.iter().map(|name| (name.as_str(), page.as_str())));
        assert_eq!(shown(&members), Err(DocumentError::TooMuchText));
        assert_eq!(
            read(&packed(&book()), &|| false),
            Err(DocumentError::TooSlow)
        );
    }

    #[test]
    fn links_resolve_only_to_members() {
        for (from, link, to) in [
            ("OEBPS/a.opf", "b.html", Some("OEBPS/b.html")),
            ("OEBPS/a.opf", "x/../b%20c.html#d", Some("OEBPS/b c.html")),
            ("OEBPS/x/a.ncx", "../b.html", Some("OEBPS/b.html")),
            ("a.opf", "/b.html", Some("b.html")),
            ("a.opf", "../b.html", None),
            ("OEBPS/a.opf", "../../etc/passwd", None),
            ("OEBPS/a.opf", "%2e%2e/%2e%2e/etc/passwd", None),
            ("a.opf", "https://example.org/b.html", None),
            ("a.opf", "#here", None),
            ("a.opf", "%ff", None),
        ] {
            assert_eq!(resolve(from, link).as_deref(), to, "{link}");
        }
    }
}
