//! Conversions between ids and texts, found in the text of a file.

/// Ids that a file converts, found in its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversions {
    /// `.parse()?` and `.parse::<ChatId>()`.
    pub(crate) parsed: u64,
    /// `id.to_string()`, also with a longer name such as `chat_id`.
    pub(crate) written: u64,
}

impl Conversions {
    pub(crate) fn in_text(text: &str) -> Self {
        let typed = text.split(".parse::<").skip(1).filter(|rest| {
            rest.split_once(">()")
                .is_some_and(|(name, _)| name.ends_with("Id"))
        });
        Self {
            parsed: (text.matches(".parse()?").count() + typed.count()) as u64,
            written: text.matches("id.to_string()").count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_conversions_in_text() {
        let text = "a.parse()?; b.parse::<ChatId>(); c.parse::<u8>(); chat.id.to_string()";
        assert_eq!(
            Conversions::in_text(text),
            Conversions {
                parsed: 2,
                written: 1
            }
        );
    }
}
