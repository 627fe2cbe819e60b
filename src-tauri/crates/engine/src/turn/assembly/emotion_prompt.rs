//! The instruction to begin replies with a tag that names the emotion.

use domain::emotion::{self, NEUTRAL};
use domain::settings::Values;

/// The instruction that asks for tags; `None` if the settings do not ask for them.
pub(crate) fn instruction(values: &Values) -> Option<String> {
    if !values.emotion_tags {
        return None;
    }
    let labels = emotion::labels(&values.emotion_labels);
    Some(format!(
        "Begin every reply with one tag that names the emotion the character shows, for example <emotion={}>. Use one of \
         these words: {}. Do not mention the tag.",
        labels.get(1).map_or(NEUTRAL, String::as_str),
        labels.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_is_added_only_on_request() {
        assert_eq!(instruction(&Values::default()), None);
        let asked = Values {
            emotion_tags: true,
            emotion_labels: "calm, joy".into(),
            ..Values::default()
        };
        let text = instruction(&asked).unwrap();
        assert!(
            text.contains("<emotion=calm>") && text.contains("neutral, calm, joy"),
            "{text}"
        );
    }
}
