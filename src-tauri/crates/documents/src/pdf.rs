//! Extracts the text of a PDF in the order in which its pages contain it. `lopdf` parses the file;
//! pictures and drawings are ignored. Passages cite the number of their page.

mod fonts;
mod lines;

use std::cell::Cell;

use domain::document::Passage;
use fonts::{FontCache, Fonts};
use lines::Lines;
use lopdf::content::Content;
use lopdf::{Dictionary, Document, LoadOptions, Object, ObjectId, Stream};

use crate::error::DocumentError;
use crate::text_block::{MAX_BYTES, MAX_FILE, TextBlock, cut};

/// Maximum number of pages.
const MAX_PAGES: usize = 10_000;
/// Maximum size of an unpacked stream, in bytes. Its parsed form takes many times as much memory.
const MAX_STREAM: usize = 4 << 20;
/// Maximum number of values that are kept of all objects, about 100 bytes each.
const MAX_VALUES: usize = 4_000_000;
/// Maximum number of forms that one page may draw, nested or not.
const MAX_FORMS: u32 = 200;
/// Maximum nesting depth of forms.
const MAX_DEPTH: u32 = 4;
/// Maximum nesting depth of page groups.
const MAX_GROUPS: usize = 64;

thread_local! {
    /// Number of values that may still be kept of the file that this thread reads. It is
    /// thread-local because the filter of `lopdf` is a plain function.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

/// Reads a PDF and cuts it into passages, in order. Stops once `should_continue` returns false.
///
/// # Errors
/// [`DocumentError`] with the reason. The result is never partial.
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
    let file = load(file)?;
    let mut pieces = Vec::new();
    let mut said = 0;
    let mut known = FontCache::default();
    let pages = file.get_pages();
    if pages.is_empty() {
        return Err(DocumentError::DamagedPdf);
    }
    for (number, id) in pages.into_iter().take(MAX_PAGES) {
        if !should_continue() {
            return Err(DocumentError::TooSlow);
        }
        let paragraphs = PdfPage::read(&file, id, &mut known);
        said += paragraphs.iter().map(String::len).sum::<usize>();
        if said > MAX_BYTES {
            return Err(DocumentError::TooMuchText);
        }
        pieces.push(TextBlock::Heading(format!("Page {number}")));
        pieces.extend(paragraphs.into_iter().map(TextBlock::Paragraph));
    }
    match cut(&pieces) {
        Err(DocumentError::Empty) => Err(DocumentError::OnlyPictures),
        cut => cut,
    }
}

/// Loads the file without its pictures and fonts.
fn load(file: &[u8]) -> Result<Document, DocumentError> {
    LEFT.set(MAX_VALUES);
    let options = LoadOptions {
        filter: Some(text_alone),
        max_decompressed_size: Some(MAX_STREAM),
        ..LoadOptions::default()
    };
    match Document::load_mem_with_options(file, options) {
        // Loading has tried an empty password, which opens files that anyone may read.
        Ok(file) if file.trailer.has(b"Encrypt") => Err(DocumentError::Locked),
        Ok(file) => Ok(file),
        Err(error) if is_locked(&error) => Err(DocumentError::Locked),
        Err(error) => {
            tracing::info!(%error, "a PDF could not be read");
            Err(DocumentError::DamagedPdf)
        }
    }
}

fn is_locked(error: &lopdf::Error) -> bool {
    matches!(
        error,
        lopdf::Error::InvalidPassword
            | lopdf::Error::Decryption(_)
            | lopdf::Error::UnsupportedSecurityHandler(_)
    )
}

fn text_alone(id: ObjectId, object: &mut Object) -> Option<(ObjectId, Object)> {
    let is_picture = |stream: &Stream| is_called(&stream.dict, b"Image");
    if matches!(object, Object::Stream(stream) if is_picture(stream)) {
        return None;
    }
    let left = LEFT.get().checked_sub(values(object))?;
    LEFT.set(left);
    // `lopdf` uses the returned object only if it was packed with others, and streams never are.
    let kept = if matches!(object, Object::Stream(_)) {
        Object::Null
    } else {
        object.clone()
    };
    Some((id, kept))
}

fn is_called(dictionary: &Dictionary, subtype: &[u8]) -> bool {
    dictionary
        .get(b"Subtype")
        .and_then(Object::as_name)
        .is_ok_and(|name| name == subtype)
}

/// Number of values that an object consists of. Its depth is limited by the parser.
fn values(object: &Object) -> usize {
    match object {
        Object::Array(array) => 1 + array.iter().map(values).sum::<usize>(),
        Object::Dictionary(dictionary) => 1 + of_dictionary(dictionary),
        Object::Stream(stream) => 1 + of_dictionary(&stream.dict),
        _ => 1,
    }
}

fn of_dictionary(dictionary: &Dictionary) -> usize {
    dictionary.iter().map(|(_, value)| 1 + values(value)).sum()
}

/// A page that is being read.
struct PdfPage<'f, 'k> {
    file: &'f Document,
    fonts: &'k mut FontCache<'f>,
    lines: Lines,
    forms: u32,
}

impl<'f, 'k> PdfPage<'f, 'k> {
    /// The paragraphs of a page. Damaged parts are left out.
    fn read(file: &'f Document, id: ObjectId, fonts: &'k mut FontCache<'f>) -> Vec<String> {
        let mut page = Self {
            file,
            fonts,
            lines: Lines::default(),
            forms: 0,
        };
        let resources = page.resources(id);
        if let Ok(content) = file.get_page_content_with_limit(id, MAX_STREAM) {
            page.run(&content, &resources, 0);
        }
        page.lines.finish()
    }

    /// Resources of the page and of the page groups that contain it, its own first.
    fn resources(&self, id: ObjectId) -> Vec<&'f Dictionary> {
        let parent = |group: &&'f Dictionary| self.file.get_dict_in_dict(group, b"Parent").ok();
        let groups =
            std::iter::successors(self.file.get_dictionary(id).ok(), parent).take(MAX_GROUPS);
        groups
            .filter_map(|group| self.file.get_dict_in_dict(group, b"Resources").ok())
            .collect()
    }

    fn run(&mut self, content: &[u8], resources: &[&'f Dictionary], depth: u32) {
        let Ok(content) = Content::decode(content) else {
            return;
        };
        let fonts = Fonts::new(self.file, resources, self.fonts, MAX_STREAM);
        for operation in &content.operations {
            let operands = operation.operands.as_slice();
            match (operation.operator.as_str(), operands) {
                ("Do", [Object::Name(name)]) => self.form(name, resources, depth),
                (operator, operands) => self.lines.operate(operator, operands, &fonts),
            }
        }
    }

    /// Reads a form XObject: content that several pages can share.
    fn form(&mut self, name: &[u8], resources: &[&'f Dictionary], depth: u32) {
        let file = self.file;
        let mut listed = resources
            .iter()
            .filter_map(|one| file.get_dict_in_dict(one, b"XObject").ok());
        let named = listed.find_map(|all| all.get(name).ok());
        let Some(form) = named.and_then(|form| file.dereference(form).ok()?.1.as_stream().ok())
        else {
            return;
        };
        self.forms += 1;
        if !is_called(&form.dict, b"Form") || depth >= MAX_DEPTH || self.forms > MAX_FORMS {
            return;
        }
        let Ok(content) = form.decompressed_content_with_limit(MAX_STREAM) else {
            return;
        };
        match file.get_dict_in_dict(&form.dict, b"Resources") {
            Ok(own) => self.run(&content, &[own], depth + 1),
            Err(_) => self.run(&content, resources, depth + 1),
        }
    }
}

#[cfg(test)]
mod tests;
