//! Contents held apart: the template sees one private character where a text would stand.
//!
//! One character cannot be cut in two, and what templates do to texts (`strip`, `split('</think>')`, `startswith`, `in`)
//! does to it what it would do to a harmless text. Contents never meet the template, so only a template itself could
//! forge the character; then the render is refused.

use super::{Piece, TemplateError};

/// Two private planes; each without its last two code points, which are no characters.
const PLANES: [u32; 2] = [0xF_0000, 0x10_0000];
const PLANE: usize = 0xFFFE;

/// What stands for the content of message `index`.
pub(super) fn placeholder(index: usize) -> Result<char, TemplateError> {
    let plane = PLANES.get(index / PLANE).ok_or(TemplateError::TooLong)?;
    char::from_u32(plane + (index % PLANE) as u32).ok_or(TemplateError::TooLong)
}

fn private(char: char) -> bool {
    char as u32 >= PLANES[0]
}

/// Splits the rendered text at the placeholders, and checks that each is there once and in order. `parts` are the parts
/// of each message. With `continues`, everything behind the last content is left away.
pub(super) fn pieces(rendered: &str, parts: &[&[usize]], continues: bool) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = rendered;
    for (index, parts) in parts.iter().enumerate() {
        let (control, after) = rest.split_once(placeholder(index)?).ok_or(TemplateError::Contents)?;
        push_control(&mut pieces, control)?;
        pieces.extend(parts.iter().map(|part| Piece::Part(*part)));
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

fn push_control(pieces: &mut Vec<Piece>, text: &str) -> Result<(), TemplateError> {
    if text.contains(private) {
        return Err(TemplateError::Contents);
    }
    if !text.is_empty() {
        pieces.push(Piece::Control(text.to_owned()));
    }
    Ok(())
}
