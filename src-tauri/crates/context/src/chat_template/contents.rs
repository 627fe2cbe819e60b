//! Placeholders for contents: the template sees one private-use character in place of each text.
//!
//! A single character cannot be split, and operations of templates (`strip`, `split('</think>')`,
//! `startswith`, `in`) treat it like a harmless text. The template never sees a content, so only
//! the template itself could forge the character; rendering then fails.

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

/// The number of a placeholder.
fn number(placeholder: char) -> Option<usize> {
    let code = placeholder as u32;
    PLANES
        .iter()
        .rposition(|plane| code >= *plane)
        .map(|plane| plane * PLANE + (code - PLANES[plane]) as usize)
}

/// The parts of a message.
pub(super) struct MessageParts<'p> {
    pub(super) parts: &'p [usize],
    /// The result of a tool, which some templates write as JSON.
    pub(super) result: bool,
}

/// A text of a tool outside the messages.
pub(super) struct ToolPart {
    pub(super) part: usize,
    /// It is JSON, and a template that quotes it gets it without quotes.
    pub(super) json: bool,
}

/// Splits the rendered text at the placeholders. Checks that each appears exactly once, and those
/// of messages in order; those of `tools` follow them in number. With `continues`, everything after
/// the last message is dropped.
pub(super) fn pieces(
    rendered: &str,
    messages: &[MessageParts<'_>],
    tools: &[ToolPart],
    continues: bool,
) -> Result<Vec<RenderedRun>, TemplateError> {
    let mut pieces = Vec::new();
    let mut next = 0;
    let mut seen = vec![false; tools.len()];
    let mut end = None;
    let mut rest = rendered;
    while let Some((at, mark)) = rest.char_indices().find(|(_, char)| private(*char)) {
        let mut before = &rest[..at];
        let mut after = &rest[at + mark.len_utf8()..];
        let quoted = before.ends_with('"') && after.starts_with('"');
        let number = number(mark).ok_or(TemplateError::Contents)?;
        if number == next && number < messages.len() {
            push_control(&mut pieces, before);
            let of = &messages[number];
            let quoted = quoted && of.result;
            pieces.extend(of.parts.iter().map(|part| run(*part, quoted)));
            next += 1;
            if next == messages.len() {
                end = Some(pieces.len());
            }
        } else {
            let index = number
                .checked_sub(messages.len())
                .ok_or(TemplateError::Contents)?;
            let tool = tools.get(index).ok_or(TemplateError::Contents)?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(TemplateError::Contents);
            }
            if quoted && tool.json {
                (before, after) = (&before[..before.len() - 1], &after[1..]);
            }
            push_control(&mut pieces, before);
            pieces.push(run(tool.part, quoted && !tool.json));
        }
        rest = after;
    }
    let dropped =
        continues && end.is_some_and(|end| pieces[end..].iter().any(|piece| !is_control(piece)));
    if next != messages.len() || seen.contains(&false) || dropped {
        return Err(TemplateError::Contents);
    }
    if continues {
        pieces.truncate(end.unwrap_or_default())
    } else {
        push_control(&mut pieces, rest)
    }
    Ok(pieces)
}

fn run(part: usize, quoted: bool) -> RenderedRun {
    if quoted {
        RenderedRun::Quoted(part)
    } else {
        RenderedRun::Part(part)
    }
}

fn is_control(piece: &RenderedRun) -> bool {
    matches!(piece, RenderedRun::Control(_))
}

fn push_control(pieces: &mut Vec<RenderedRun>, text: &str) {
    if !text.is_empty() {
        pieces.push(RenderedRun::Control(text.to_owned()));
    }
}
