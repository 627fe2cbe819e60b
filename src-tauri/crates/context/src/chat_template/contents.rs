//! Placeholders for contents: the template sees one private-use character in place of each text.
//!
//! A single character cannot be split, and operations of templates (`strip`, `split('</think>')`, `startswith`,
//! `in`) treat it like a harmless text. The template never sees a content, so only the template itself could
//! forge the character; rendering then fails.

use super::{RenderedRun, TemplateError};

/// Two private-use planes, each without its last two code points, which are noncharacters.
const PLANES: [u32; 2] = [0xF_0000, 0x10_0000];
const PLANE: usize = 0xFFFE;

/// The placeholder for the content of message `index`.
pub(super) fn placeholder(index: usize) -> Result<char, TemplateError> {
    let plane = PLANES.get(index / PLANE).ok_or(TemplateError::TooLong)?;
    char::from_u32(plane + (index % PLANE) as u32).ok_or(TemplateError::TooLong)
}

fn private(char: char) -> bool {
    char as u32 >= PLANES[0]
}

/// Splits the rendered text at the placeholders and checks that each appears exactly once and in order. `parts`
/// are the parts of each message. With `continues`, everything after the last content is dropped.
pub(super) fn pieces(rendered: &str, parts: &[&[usize]], continues: bool) -> Result<Vec<RenderedRun>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = rendered;
    for (index, parts) in parts.iter().enumerate() {
        let (control, after) = rest.split_once(placeholder(index)?).ok_or(TemplateError::Contents)?;
        push_control(&mut pieces, control)?;
        pieces.extend(parts.iter().map(|part| RenderedRun::Part(*part)));
        rest = after;
    }
    if rest.contains(private) {
        return Err(TemplateError::Contents);
    }
    if !continues {
        push_control(&mut pieces, rest)?;
    }
    Ok(pieces)
}

fn push_control(pieces: &mut Vec<RenderedRun>, text: &str) -> Result<(), TemplateError> {
    if text.contains(private) {
        return Err(TemplateError::Contents);
    }
    if !text.is_empty() {
        pieces.push(RenderedRun::Control(text.to_owned()));
    }
    Ok(())
}
