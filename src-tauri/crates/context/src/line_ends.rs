//! Normalizes line endings. Each carriage return, as in files from Windows, would cost a token
//! without meaning.

use std::borrow::Cow;

use crate::frame::{Candidate, Frame};
use crate::frozen::FrozenBlock;

/// Replaces each `\r\n` and each lone `\r` with `\n`.
pub fn unix_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Applies [`unix_lines`] to every text that is sent.
pub(crate) fn unix_frame(frame: &Frame) -> Cow<'_, Frame> {
    if !sent(frame).any(|text| text.contains('\r')) {
        return Cow::Borrowed(frame);
    }
    let mut frame = frame.clone();
    frame.head.iter_mut().for_each(|part| unix(&mut part.text));
    frame
        .digest
        .iter_mut()
        .chain(&mut frame.context)
        .for_each(unix_candidate);
    frame
        .placed
        .iter_mut()
        .for_each(|placed| unix_candidate(&mut placed.candidate));
    for section in &mut frame.lore {
        unix(&mut section.before);
        unix(&mut section.after);
    }
    for message in &mut frame.history {
        unix(&mut message.text);
        unix(&mut message.speaker);
        message
            .anew
            .iter_mut()
            .for_each(|anew| unix(&mut anew.text));
        message.context.iter_mut().flatten().for_each(unix_frozen);
    }
    Cow::Owned(frame)
}

/// Applies [`unix_lines`] to a frozen block.
pub(crate) fn unix_frozen(block: &mut FrozenBlock) {
    unix(&mut block.heading);
    unix(&mut block.title);
    unix(&mut block.text);
}

fn unix_candidate(candidate: &mut Candidate) {
    unix(&mut candidate.heading);
    unix(&mut candidate.title);
    unix(&mut candidate.text);
}

fn unix(text: &mut String) {
    if let Cow::Owned(lines) = unix_lines(text) {
        *text = lines;
    }
}

fn sent(frame: &Frame) -> impl Iterator<Item = &str> {
    let candidates = frame
        .digest
        .iter()
        .chain(&frame.context)
        .chain(frame.placed.iter().map(|placed| &placed.candidate));
    let candidates = candidates.flat_map(|each| [&each.heading, &each.title, &each.text]);
    let sections = frame
        .lore
        .iter()
        .flat_map(|section| [&section.before, &section.after]);
    let messages = frame.history.iter().flat_map(|message| {
        let frozen = message
            .context
            .iter()
            .flatten()
            .flat_map(|block| [&block.heading, &block.title, &block.text]);
        let anew = message.anew.iter().map(|anew| &anew.text);
        [&message.text, &message.speaker]
            .into_iter()
            .chain(anew)
            .chain(frozen)
    });
    let texts = frame
        .head
        .iter()
        .map(|part| &part.text)
        .chain(candidates)
        .chain(sections)
        .chain(messages);
    texts.map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::unix_lines;

    #[test]
    fn turns_every_line_end_into_newline() {
        assert_eq!(unix_lines("a\r\nb\rc\n\r\n\rd"), "a\nb\nc\n\n\nd");
        assert_eq!(unix_lines("a\nb"), "a\nb");
    }
}
