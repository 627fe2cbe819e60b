//! Decorators: lines that begin with `@@` at the start of an entry's text.

use domain::lorebook::InsertionRole;

use super::outcome::UiPrompt;
use super::position::EntryPosition;
use crate::lore::keys::fold;

/// The decorators of an entry.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Decorators {
    pub(super) activate: bool,
    pub(super) dont_activate: bool,
    pub(super) only_after: Option<u32>,
    pub(super) only_every: Option<u32>,
    pub(super) keep_after_match: bool,
    pub(super) dont_after_match: bool,
    pub(super) depth: Option<i64>,
    pub(super) reverse_depth: Option<i64>,
    pub(super) role: Option<InsertionRole>,
    pub(super) scan_depth: Option<i64>,
    pub(super) greeting: Option<u32>,
    pub(super) position: Option<EntryPosition>,
    pub(super) drop_first: bool,
    pub(super) additional_keys: Vec<Vec<String>>,
    pub(super) exclude_keys: Option<Vec<String>>,
    pub(super) user_icon: Option<String>,
    pub(super) disable_prompts: Vec<UiPrompt>,
}

impl Decorators {
    pub(super) fn remembers_match(&self) -> bool {
        self.keep_after_match || self.dont_after_match
    }

    /// The placement by decorators; `None` leaves it to the entry. `@@position` takes precedence
    /// over depths.
    pub(super) fn place(&self) -> Option<EntryPosition> {
        let depth = || self.depth.map(|depth| EntryPosition::Depth(depth.max(0)));
        self.position.clone().or_else(depth).or_else(|| {
            self.reverse_depth
                .map(|depth| EntryPosition::FromStart(depth.max(0)))
        })
    }

    /// Applies a decorator. Returns `false` if it is unknown, has no meaning in a chat, or has an
    /// invalid value.
    fn take(&mut self, name: &str, value: &str) -> bool {
        match name {
            "activate" => switch(&mut self.activate, value),
            "dont_activate" => switch(&mut self.dont_activate, value),
            "keep_activate_after_match" => switch(&mut self.keep_after_match, value),
            "dont_activate_after_match" => switch(&mut self.dont_after_match, value),
            "ignore_on_max_context" => switch(&mut self.drop_first, value),
            "activate_only_after" => first(&mut self.only_after, value.parse().ok()),
            "activate_only_every" => {
                first(&mut self.only_every, value.parse().ok().filter(|n| *n > 0))
            }
            "depth" => first(&mut self.depth, value.parse().ok()),
            "reverse_depth" => first(&mut self.reverse_depth, value.parse().ok()),
            "role" => first(&mut self.role, role(value)),
            "scan_depth" => first(&mut self.scan_depth, value.parse().ok().filter(|n| *n >= 0)),
            "is_greeting" => first(&mut self.greeting, value.parse().ok()),
            "position" => first(&mut self.position, position(value)),
            "is_user_icon" => first(
                &mut self.user_icon,
                Some(value.to_owned()).filter(|name| !name.is_empty()),
            ),
            "exclude_keys" => first(&mut self.exclude_keys, list(value)),
            "additional_keys" => list(value).is_some_and(|keys| {
                self.additional_keys.push(keys);
                true
            }),
            "disable_ui_prompt" => self.disable_prompt(value),
            // Depths in tokens are for text completion without turns.
            _ => false,
        }
    }

    fn disable_prompt(&mut self, value: &str) -> bool {
        let prompt = match value {
            "system_prompt" => UiPrompt::SystemPrompt,
            "post_history_instructions" => UiPrompt::PostHistoryInstructions,
            _ => return false,
        };
        if !self.disable_prompts.contains(&prompt) {
            self.disable_prompts.push(prompt);
        }
        true
    }
}

/// A switch takes no value; with a value the line is invalid.
fn switch(place: &mut bool, value: &str) -> bool {
    *place |= value.is_empty();
    value.is_empty()
}

/// Keeps the first value of a decorator. A repetition with a valid value is valid too, so its
/// fallbacks are not tried.
fn first<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let good = value.is_some();
    if place.is_none() {
        *place = value;
    }
    good
}

fn role(value: &str) -> Option<InsertionRole> {
    match value {
        "system" => Some(InsertionRole::System),
        "user" => Some(InsertionRole::User),
        "assistant" => Some(InsertionRole::Assistant),
        _ => None,
    }
}

fn position(value: &str) -> Option<EntryPosition> {
    match value {
        "before_desc" => Some(EntryPosition::BeforeChar),
        "after_desc" => Some(EntryPosition::AfterChar),
        "personality" => Some(EntryPosition::Personality),
        "scenario" => Some(EntryPosition::Scenario),
        _ => None,
    }
}

fn list(value: &str) -> Option<Vec<String>> {
    let keys: Vec<String> = value
        .split(',')
        .map(fold::trim)
        .filter(|key| !key.is_empty())
        .map(str::to_owned)
        .collect();
    (!keys.is_empty()).then_some(keys)
}

/// Parses decorators by the Character Card V3 specification, with fallbacks and blank lines around
/// them. Returns the text after them.
pub(super) fn parse(content: &str) -> (Decorators, &str) {
    let mut found = Decorators::default();
    let mut rest = content;
    let mut used = true;
    if !content.starts_with("@@") {
        return (found, content);
    }
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = fold::trim(line);
        if let Some(fallback) = line.strip_prefix("@@@") {
            used = used || take(&mut found, fallback);
        } else if let Some(decorator) = line.strip_prefix("@@") {
            used = take(&mut found, decorator);
        } else if !line.is_empty() {
            break;
        }
        rest = after;
    }
    (found, rest)
}

fn take(found: &mut Decorators, line: &str) -> bool {
    let (name, value) = line.split_once(fold::is_space).unwrap_or((line, ""));
    found.take(name, fold::trim(value))
}

/// Parses decorators like SillyTavern: two decorators, recognized by prefix and applied only
/// without a value.
pub(super) fn parse_compatible(content: &str) -> (Decorators, &str) {
    let mut found = Decorators::default();
    if !content.starts_with("@@") {
        return (found, content);
    }
    let mut rest = content;
    let mut fall_back = false;
    while let Some(line) = rest
        .split('\n')
        .next()
        .filter(|line| line.starts_with("@@"))
    {
        let is_fallback = line.starts_with("@@@");
        if !is_fallback || fall_back {
            let line = if is_fallback { &line[1..] } else { line };
            let known = line.starts_with("@@activate") || line.starts_with("@@dont_activate");
            found.activate |= line == "@@activate";
            found.dont_activate |= line == "@@dont_activate";
            fall_back = !known;
        }
        match rest.split_once('\n') {
            Some((_, after)) => rest = after,
            // A text of decorators alone is not stripped.
            None => return (found, content),
        }
    }
    (found, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_fallback_if_decorator_above_is_invalid() {
        let (found, text) = parse(
            "@@unknown\n@@@instruct_depth 3\n@@@depth x\n@@@depth 5\n@@@depth 6\n@@role user\r\n\nHello",
        );
        assert_eq!(
            (found.depth, found.role, text),
            (Some(5), Some(InsertionRole::User), "Hello")
        );
        let (found, _) = parse("@@depth 1\n@@@role user\nx");
        assert_eq!((found.depth, found.role), (Some(1), None));
    }

    #[test]
    fn keeps_first_value_but_adds_up_additional_keys() {
        let (found, _) =
            parse("@@depth 1\n@@depth 2\n@@additional_keys a, b\n@@additional_keys c\nx");
        assert_eq!(found.depth, Some(1));
        assert_eq!(found.additional_keys, [vec!["a", "b"], vec!["c"]]);
    }

    #[test]
    fn position_takes_precedence_over_depth() {
        let (found, _) = parse("@@depth 1\n@@position scenario\nx");
        assert_eq!(found.place(), Some(EntryPosition::Scenario));
        assert_eq!(
            parse("@@position moon\n@@depth -3\nx").0.place(),
            Some(EntryPosition::Depth(0))
        );
        assert_eq!(
            parse("@@reverse_depth 2\nx").0.place(),
            Some(EntryPosition::FromStart(2))
        );
    }

    #[test]
    fn text_of_decorators_alone_becomes_empty() {
        assert_eq!(parse("@@activate\n\n").1, "");
        assert_eq!(parse_compatible("@@activate\n@@x").1, "@@activate\n@@x");
        assert_eq!(parse("text\n@@activate").1, "text\n@@activate");
    }
}
