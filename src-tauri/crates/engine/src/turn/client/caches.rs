//! Chooses the KV sequence of a request that brings its conversation along. A program may have
//! several conversations, so the one with the longest common beginning goes on, as in llama-server.
//! Programs with different keys share none, because the number of cached tokens would tell one what
//! another has asked.

use std::hash::{DefaultHasher, Hasher as _};

use sha2::{Digest as _, Sha256};

/// Conversations of one program with one model. The one that was used longest ago makes room for a
/// new one.
const MAX_CONVERSATIONS: usize = 4;
/// Texts are compared in blocks of this many bytes.
const BLOCK: usize = 64;

/// The conversations that have a sequence, newest last.
#[derive(Default)]
pub(crate) struct ClientCaches(Vec<KnownConversation>);

struct KnownConversation {
    /// The key and the model.
    of: (String, String),
    number: usize,
    blocks: Vec<u64>,
}

impl ClientCaches {
    /// The sequence for a prompt of the program `holder` with `model`: that of the conversation
    /// which the prompt continues, else a new one.
    pub(crate) fn sequence<'t>(
        &mut self,
        holder: &str,
        model: &str,
        texts: impl Iterator<Item = &'t str>,
    ) -> String {
        let of = (holder.to_owned(), model.to_owned());
        let number = self.number(&of, blocks(texts));
        // Names of keys and models may contain any character, so they are not simply joined.
        let digest = Sha256::digest(serde_json::to_vec(&of).unwrap_or_default());
        let short: String = digest
            .iter()
            .take(12)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("local api {short} {number}")
    }

    fn number(&mut self, of: &(String, String), blocks: Vec<u64>) -> usize {
        let own = || {
            self.0
                .iter()
                .enumerate()
                .filter(|(_, known)| known.of == *of)
        };
        let continued = own()
            .map(|(at, known)| (at, common(&known.blocks, &blocks), known.blocks.len()))
            // A shorter beginning, such as a system message, is no reason to drop the rest of
            // another conversation.
            .filter(|(_, common, length)| 2 * common >= *length)
            .max_by_key(|(_, common, _)| *common);
        let at = match continued {
            Some((at, ..)) => Some(at),
            None if own().count() < MAX_CONVERSATIONS => None,
            None => own().map(|(at, _)| at).next(),
        };
        let number = match at {
            Some(at) => self.0.remove(at).number,
            None => own().count(),
        };
        self.0.push(KnownConversation {
            of: of.clone(),
            number,
            blocks,
        });
        number
    }
}

/// One number for each whole block, which depends on the block and on all before it.
fn blocks<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    let mut blocks = Vec::new();
    let mut filled = 0;
    for text in texts {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.len().min(BLOCK - filled));
            hasher.write(piece);
            (rest, filled) = (behind, filled + piece.len());
            if filled == BLOCK {
                blocks.push(hasher.finish());
                filled = 0;
            }
        }
    }
    blocks
}

fn common(one: &[u64], other: &[u64]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequences(asked: &[(&str, &str)]) -> Vec<usize> {
        let mut caches = ClientCaches::default();
        let mut seen: Vec<String> = Vec::new();
        let mut place = |name: String| match seen.iter().position(|known| *known == name) {
            Some(place) => place,
            None => {
                seen.push(name);
                seen.len() - 1
            }
        };
        asked
            .iter()
            .map(|(holder, text)| place(caches.sequence(holder, "m", [*text].into_iter())))
            .collect()
    }

    #[test]
    fn longest_common_beginning_goes_on() {
        let ships = "Facts about ships. ".repeat(50);
        let birds = "Facts about birds. ".repeat(50);
        let longer = format!("{ships} More.");
        let longest = format!("{ships} More.{birds}");
        let asked =
            [&ships, &ships, &birds, &longer, &birds, &longest].map(|text| ("a", text.as_str()));
        assert_eq!(sequences(&asked), [0, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn keys_and_models_share_no_sequence() {
        let text = "Facts about ships. ".repeat(50);
        assert_eq!(
            sequences(&[("a", &text), ("b", &text), ("a", &text)]),
            [0, 1, 0]
        );
        let mut caches = ClientCaches::default();
        let one = caches.sequence("a", "m", [text.as_str()].into_iter());
        assert_ne!(one, caches.sequence("a", "n", [text.as_str()].into_iter()));
        assert_ne!(
            caches.sequence("a\"", "b", ["x"].into_iter()),
            caches.sequence("a", "\"b", ["x"].into_iter())
        );
    }

    #[test]
    fn oldest_conversation_makes_room() {
        let texts: Vec<String> = (0..6)
            .map(|number| format!("Conversation {number}. ").repeat(20))
            .collect();
        let asked: Vec<(&str, &str)> = [0, 1, 2, 3, 0, 4, 0, 1]
            .map(|at: usize| ("a", texts[at].as_str()))
            .into();
        assert_eq!(sequences(&asked), [0, 1, 2, 3, 0, 1, 0, 2]);
    }

    #[test]
    fn blocks_do_not_depend_on_how_texts_are_cut() {
        let text = "äbc".repeat(100);
        assert_eq!(
            blocks([text.as_str()].into_iter()),
            blocks([&text[..52], &text[52..]].into_iter())
        );
        assert!(blocks(["short"].into_iter()).is_empty());
    }
}
