use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};
use proptest::prelude::*;

use super::*;

/// A file with a page for each of `pages`. Pages may use the font `F1` and the form `X1`.
struct File {
    file: Document,
    pages: ObjectId,
    resources: ObjectId,
}

impl File {
    fn new(pages: &[&str]) -> Self {
        let mut file = Document::with_version("1.5");
        let tree = file.new_object_id();
        let font = dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Helvetica", "Encoding" => "WinAnsiEncoding" };
        let font = file.add_object(font);
        let resources = file.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let page = |text: &&str| {
            let content = file.add_object(Stream::new(dictionary! {}, text.as_bytes().to_vec()));
            file.add_object(
                dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => content },
            )
        };
        let kids: Vec<Object> = pages.iter().map(page).map(Object::from).collect();
        let count = kids.len() as i64;
        file.set_object(
            tree,
            dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources },
        );
        let catalog = file.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        file.trailer.set("Root", catalog);
        Self {
            file,
            pages: tree,
            resources,
        }
    }

    fn has(&mut self, kind: &str, name: &str, object: impl Into<Object>) -> ObjectId {
        let id = self.file.add_object(object);
        let resources = self.file.get_dictionary_mut(self.resources).unwrap();
        let mut listed = resources
            .get(kind.as_bytes())
            .and_then(Object::as_dict)
            .cloned()
            .unwrap_or_default();
        listed.set(name, id);
        resources.set(kind, listed);
        id
    }

    fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.file.save_to(&mut bytes).unwrap();
        bytes
    }
}

fn form(content: &str) -> Stream {
    Stream::new(
        dictionary! { "Type" => "XObject", "Subtype" => "Form" },
        content.as_bytes().to_vec(),
    )
}

fn shown(file: &[u8]) -> Result<Vec<String>, DocumentError> {
    let passages = read(file, &|| true)?;
    Ok(passages
        .into_iter()
        .map(|one| format!("{}: {}", one.heading, one.text))
        .collect())
}

#[track_caller]
fn check(page: &str, text: &str) {
    assert_eq!(
        shown(&File::new(&[page]).bytes()).unwrap(),
        [format!("Page 1: {text}")]
    );
}

#[test]
fn passages_are_cited_by_their_pages() {
    let mut file = File::new(&[
        "BT /F1 12 Tf (The lamp.) Tj ET",
        "",
        "BT /F1 12 Tf (The stairs.) Tj ET",
    ]);
    assert_eq!(
        shown(&file.bytes()).unwrap(),
        ["Page 1: The lamp.", "Page 3: The stairs."]
    );
    file.file.compress();
    assert_eq!(
        shown(&file.bytes()).unwrap(),
        ["Page 1: The lamp.", "Page 3: The stairs."]
    );
}

#[test]
fn positions_make_words_lines_and_paragraphs() {
    check(
        "BT /F1 12 Tf 72 700 Td (It burns) Tj 0 -14 Td (whale oil.) Tj 0 -40 Td (Always.) Tj ET",
        "It burns whale oil.\nAlways.",
    );
    check("BT /F1 12 Tf [(wh) 20 (ale) -300 (oil)] TJ ET", "whale oil");
    check(
        "BT /F1 12 Tf 1 0 0 1 72 700 Tm (whale) Tj 1 0 0 1 130 700 Tm (oil) Tj ET",
        "whale oil",
    );
    check(
        "BT /F1 12 Tf 14 TL 72 700 Td (One) Tj T* (two) Tj (three) ' 0 0 (four) \" ET",
        "One two three four",
    );
    check(
        "q 0.5 0 0 0.5 0 0 cm BT /F1 24 Tf 0 28 TD (lamp-) Tj 0 -28 TD (light) Tj ET Q",
        "lamplight",
    );
    check("BT /F1 12 Tf (caf\\351 \\(old\\)) Tj ET", "café (old)");
    check(
        "BT 0 1 -1 0 100 100 Tm /F1 12 Tf (Turned) Tj 0 -14 Td (page) Tj ET",
        "Turned page",
    );
}

#[test]
fn decodes_two_byte_codes_by_font_table() {
    let mut file = File::new(&["BT /F2 12 Tf <00010002> Tj ET"]);
    let table = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def
        1 begincodespacerange <0000> <ffff> endcodespacerange 2 beginbfchar <0001> <706f> <0002> <5854> endbfchar
        endcmap CMapName currentdict /CMap defineresource pop end end";
    let table = file
        .file
        .add_object(Stream::new(dictionary! {}, table.as_bytes().to_vec()));
    let below = dictionary! { "Type" => "Font", "Subtype" => "CIDFontType2", "DW" => 900, "W" => vec![Object::from(1), Object::from(2), Object::from(1000)] };
    let below = file.file.add_object(below);
    let font = dictionary! { "Type" => "Font", "Subtype" => "Type0", "Encoding" => "Identity-H", "ToUnicode" => table,
    "DescendantFonts" => vec![Object::from(below)] };
    file.has("Font", "F2", font);
    assert_eq!(shown(&file.bytes()).unwrap(), ["Page 1: 灯塔"]);
}

#[test]
fn reads_forms_and_stops_recursion() {
    let mut file = File::new(&["BT /F1 12 Tf (One.) Tj ET /X1 Do"]);
    file.has(
        "XObject",
        "X1",
        form("BT /F1 12 Tf 0 -90 Td (Two.) Tj ET /X1 Do /X1 Do /X1 Do"),
    );
    let read = shown(&file.bytes()).unwrap().concat();
    assert!(
        read.contains("One.") && read.contains("Two.") && read.len() < 9_000,
        "{read}"
    );
}

#[test]
fn file_without_text_says_why() {
    assert_eq!(
        shown(&File::new(&["0 0 m 9 9 l S", ""]).bytes()),
        Err(DocumentError::OnlyPictures)
    );
    assert_eq!(
        shown(&File::new(&[]).bytes()),
        Err(DocumentError::DamagedPdf)
    );
    assert_eq!(shown(b"%PDF-1.7\nno more"), Err(DocumentError::DamagedPdf));
    assert_eq!(
        read(&vec![0; MAX_FILE + 1], &|| true),
        Err(DocumentError::TooLarge {
            bytes: MAX_FILE + 1,
            limit: MAX_FILE
        })
    );
    let page = File::new(&["BT /F1 12 Tf (One.) Tj ET"]).bytes();
    assert_eq!(read(&page, &|| false), Err(DocumentError::TooSlow));
}

#[test]
fn tells_locked_from_damaged_file() {
    let mut file = File::new(&["BT /F1 12 Tf (One.) Tj ET"]);
    let mut lock = Dictionary::new();
    lock.set("Filter", "Standard");
    for (key, value) in [("V", 2), ("R", 3), ("Length", 128), ("P", -4)] {
        lock.set(key, value);
    }
    for key in ["O", "U"] {
        lock.set(key, Object::string_literal([7; 32].to_vec()));
    }
    let lock = file.file.add_object(lock);
    file.file.trailer.set("Encrypt", lock);
    let id = Object::string_literal([1; 16].to_vec());
    file.file.trailer.set("ID", vec![id.clone(), id]);
    assert_eq!(shown(&file.bytes()), Err(DocumentError::Locked));
}

#[test]
fn skips_streams_that_unpack_too_large() {
    let mut file = File::new(&[
        "BT /F1 12 Tf (One.) Tj ET",
        "BT /F1 12 Tf (Two.) Tj ET /X1 Do",
    ]);
    let mut bomb = form(&format!(
        "BT /F1 12 Tf (Boom) Tj ET{}",
        " ".repeat(MAX_STREAM)
    ));
    bomb.compress().unwrap();
    assert!(bomb.content.len() < 20_000);
    file.has("XObject", "X1", bomb);
    assert_eq!(
        shown(&file.bytes()).unwrap(),
        ["Page 1: One.", "Page 2: Two."]
    );
    let long = format!(
        "BT /F1 12 Tf {} ET",
        "(All work and no play. ) Tj T* ".repeat(60_000)
    );
    let long: Vec<&str> = (0..4).map(|_| long.as_str()).collect();
    assert_eq!(
        shown(&File::new(&long).bytes()),
        Err(DocumentError::TooMuchText)
    );
}

/// The stack is as large as the one on which the app reads files.
#[test]
fn endless_nesting_ends() {
    let nested = |open: &str, close: &str| {
        format!(
            "%PDF-1.5\n1 0 obj\n{}{}\nendobj\ntrailer\n<</Root 1 0 R /X {}{}>>\nstartxref\n9\n%%EOF",
            open.repeat(90_000),
            close.repeat(90_000),
            open.repeat(90_000),
            close.repeat(90_000)
        )
    };
    let mut files = vec![
        nested("[", "]").into_bytes(),
        nested("<</A", ">>").into_bytes(),
        nested("(", ")").into_bytes(),
    ];
    let mut deep = File::new(&[&format!(
        "BT /F1 12 Tf {}(One.){} TJ ET",
        "[".repeat(90_000),
        "]".repeat(90_000)
    )]);
    files.push(deep.bytes());
    let mut round = File::new(&["BT /F1 12 Tf (One.) Tj ET"]);
    let pages = round.pages;
    round
        .file
        .get_dictionary_mut(pages)
        .unwrap()
        .set("Kids", vec![Object::Reference(pages)]);
    files.push(round.bytes());
    for file in files {
        let read = std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn(move || shown(&file))
            .unwrap();
        let _ = read.join().unwrap();
    }
}

proptest! {
    /// For any damaged bytes, the result is a text or an error.
    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0_usize..2_000, byte in any::<u8>(), cut in 0_usize..4_000) {
        let mut file = File::new(&["BT /F1 12 Tf 72 700 Td [(It) -300 (burns)] TJ T* <4142> ' ET", "/X1 Do"]);
        file.has("XObject", "X1", form("BT /F1 12 Tf (Two.) Tj ET"));
        let mut bytes = file.bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(2_000)));
        let _ = shown(&bytes);
    }
}
