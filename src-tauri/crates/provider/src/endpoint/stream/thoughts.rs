//! Assembles the thoughts that a service sends apart from the text, and what it wants back of them.

use domain::SignedThought;

use super::chunk::ThoughtPiece;

/// Maximum total bytes of thoughts and signatures in one reply. The rest is dropped, because a
/// reply needs none of it.
const MAX_BYTES: usize = 1 << 20;

/// Thoughts received so far in one reply.
#[derive(Debug, Default)]
pub(crate) struct ThoughtAssembler {
    blocks: Vec<ThoughtBlock>,
    bytes: usize,
    /// The model has thought, even if its thoughts are hidden or encrypted.
    seen: bool,
    /// The caller has received thoughts.
    shown: bool,
    /// A piece was dropped, so no block is complete.
    cut: bool,
}

#[derive(Debug)]
enum ThoughtBlock {
    Plain { text: String, signature: String },
    Redacted(String),
}

impl ThoughtAssembler {
    pub(crate) fn seen(&self) -> bool {
        self.seen
    }

    pub(crate) fn shown(&self) -> bool {
        self.shown
    }

    /// Takes a piece and returns the text to show.
    pub(crate) fn take(&mut self, piece: ThoughtPiece) -> Option<String> {
        self.seen = true;
        self.bytes += piece.len();
        if self.bytes > MAX_BYTES {
            self.cut = true;
            return None;
        }
        match piece {
            ThoughtPiece::Hidden => None,
            ThoughtPiece::Whole(_) if !self.blocks.is_empty() => None,
            ThoughtPiece::Delta(text) | ThoughtPiece::Whole(text) => {
                match self.blocks.last_mut() {
                    Some(ThoughtBlock::Plain {
                        text: before,
                        signature,
                    }) if signature.is_empty() => before.push_str(&text),
                    _ => self.blocks.push(ThoughtBlock::Plain {
                        text: text.clone(),
                        signature: String::new(),
                    }),
                }
                self.shown = true;
                Some(text)
            }
            ThoughtPiece::Signature(more) => {
                match self.blocks.last_mut() {
                    Some(ThoughtBlock::Plain { signature, .. }) => signature.push_str(&more),
                    _ => self.blocks.push(ThoughtBlock::Plain {
                        text: String::new(),
                        signature: more,
                    }),
                }
                None
            }
            ThoughtPiece::Redacted(data) => {
                self.blocks.push(ThoughtBlock::Redacted(data));
                None
            }
        }
    }

    /// The blocks that the service may want back unchanged, and empties the list.
    pub(crate) fn signed(&mut self) -> Vec<SignedThought> {
        if self.cut {
            return Vec::new();
        }
        let signed = |block| match block {
            ThoughtBlock::Plain { text, signature } if !signature.is_empty() => {
                Some(SignedThought::Block { text, signature })
            }
            ThoughtBlock::Plain { text, .. } => {
                (!text.trim().is_empty()).then_some(SignedThought::Plain { text })
            }
            ThoughtBlock::Redacted(data) => Some(SignedThought::Redacted { data }),
        };
        self.blocks.drain(..).filter_map(signed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: Vec<ThoughtPiece>) -> (String, Vec<SignedThought>) {
        let mut thoughts = ThoughtAssembler::default();
        let shown = pieces
            .into_iter()
            .filter_map(|piece| thoughts.take(piece))
            .collect();
        (shown, thoughts.signed())
    }

    #[test]
    fn blocks_end_at_their_signature() {
        use ThoughtPiece::{Delta, Redacted, Signature, Whole};
        let text = |text: &str| text.to_owned();
        let block = |words: &str, signature: &str| SignedThought::Block {
            text: text(words),
            signature: text(signature),
        };
        let pieces = vec![
            Delta(text("One ")),
            Delta(text("two.")),
            Signature(text("a")),
            Signature(text("b")),
            Delta(text("Three.")),
            Signature(text("c")),
            Redacted(text("xyz")),
        ];
        let redacted = SignedThought::Redacted { data: text("xyz") };
        assert_eq!(
            read(pieces),
            (
                text("One two.Three."),
                vec![block("One two.", "ab"), block("Three.", "c"), redacted]
            )
        );
        let plain = || vec![SignedThought::Plain { text: text("Hm.") }];
        assert_eq!(
            read(vec![Delta(text("Hm.")), Whole(text("Hm."))]),
            (text("Hm."), plain())
        );
        assert_eq!(read(vec![Whole(text("Hm."))]), (text("Hm."), plain()));
        assert_eq!(read(vec![Delta(text(" \n"))]).1, []);
        assert_eq!(
            read(vec![Signature(text("a"))]).1,
            [block("", "a")],
            "thoughts may be omitted"
        );
    }

    #[test]
    fn too_long_thoughts_are_not_sent_back() {
        let long = || ThoughtPiece::Delta("x".repeat(MAX_BYTES));
        let (shown, signed) = read(vec![long(), ThoughtPiece::Signature("a".into()), long()]);
        assert_eq!((shown.len(), signed), (MAX_BYTES, Vec::new()));
    }
}
