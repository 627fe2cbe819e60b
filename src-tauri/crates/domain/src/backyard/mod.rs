//! Imports characters from Backyard (once called Faraday): BYAF archives, and the JSON that old
//! versions embed in a picture. A character becomes a V3 card, and each scenario with messages
//! becomes a chat.
//!
//! The card keeps the source documents in `extensions`, under `backyard`. Messages are excluded
//! because they become chats.

mod archive;
mod card;
mod json;
mod scenario;

pub use archive::scenarios;
pub(crate) use archive::{MANIFEST, card};
pub(crate) use card::legacy;
pub use card::sampling;
pub use scenario::{BackyardSampling, Scenario};

#[cfg(test)]
mod tests {
    use super::json::macros;

    #[test]
    fn names_become_macros_and_macros_stay() {
        assert_eq!(
            macros("#{user}: Hey {Character}.\n#{character}: I am {character}, {user}'s friend."),
            "{{user}}: Hey {{char}}.\n{{char}}: I am {{char}}, {{user}}'s friend."
        );
        assert_eq!(
            macros("{{user}} {{char}} #{x} {{character}} { {"),
            "{{user}} {{char}} #{x} {{character}} { {"
        );
        assert_eq!(
            macros("a # {user}: #{user} {灯}"),
            "a # {{user}}: #{{user}} {灯}"
        );
        assert_eq!(macros(""), "");
    }
}
