//! Decides whether an entry activates in a pass. The first rule that applies decides.

use domain::lorebook::{Entry, KeyLogic};

use super::outcome::{KeyLocation, PassKind, Reason, Rule};
use super::prepare::Prepared;
use super::scan::Scan;
use super::text::{RECURSION, View};
use crate::lore::keys::Test;

/// The reason for an activation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Match {
    pub(super) reason: Reason,
    /// Index of the primary key in the entry.
    pub(super) key: Option<usize>,
    pub(super) found: Option<KeyLocation>,
}

impl From<Reason> for Match {
    fn from(reason: Reason) -> Self {
        Self {
            reason,
            key: None,
            found: None,
        }
    }
}

impl Scan<'_> {
    pub(super) fn check(&self, index: usize) -> Result<Match, Rule> {
        let prepared = &self.books.entries[index];
        let entry = self.books.source(prepared);
        let sticky = self.timed.is_sticky(index);
        self.allowed(entry)?;
        self.timely(index, prepared, entry, sticky)?;
        if prepared.decorators.activate {
            return Ok(Reason::Decorator.into());
        }
        if prepared.decorators.dont_activate {
            return Err(Rule::DontActivate);
        }
        if !self.compatible && !sticky {
            self.decorators_allow(index, prepared)?;
        }
        if self.is_external(index) {
            return Ok(Reason::External.into());
        }
        if prepared.constant {
            return Ok(Reason::Constant.into());
        }
        if sticky {
            return Ok(Reason::Sticky.into());
        }
        if !self.compatible && prepared.decorators.keep_after_match && self.timed.has_matched(index)
        {
            return Ok(Reason::Kept.into());
        }
        self.keys(prepared, entry)
    }

    /// Checks the switches and filters of the entry, which do not depend on the chat.
    fn allowed(&self, entry: &Entry) -> Result<(), Rule> {
        if entry.disable {
            return Err(Rule::Disabled);
        }
        let kind = self.input.kind.word();
        if !entry.triggers.is_empty() && !entry.triggers.iter().any(|trigger| trigger == kind) {
            return Err(Rule::Trigger);
        }
        let Some(filter) = &entry.character_filter else {
            return Ok(());
        };
        let character = &self.input.character;
        let named = filter.names.iter().any(|name| name == character.file);
        if !filter.names.is_empty() && named == filter.exclude {
            return Err(Rule::CharacterFilter);
        }
        let tagged = filter
            .tags
            .iter()
            .any(|tag| character.tags.contains(&tag.as_str()));
        if !filter.tags.is_empty() && tagged == filter.exclude {
            return Err(Rule::TagFilter);
        }
        Ok(())
    }

    /// Checks timed effects and recursion.
    fn timely(
        &self,
        index: usize,
        prepared: &Prepared,
        entry: &Entry,
        sticky: bool,
    ) -> Result<(), Rule> {
        if prepared
            .delay
            .is_some_and(|delay| i64::from(self.now) < delay)
        {
            return Err(Rule::Delay);
        }
        if sticky {
            return Ok(());
        }
        if self.timed.is_on_cooldown(index) {
            return Err(Rule::Cooldown);
        }
        let recursion = self.kind == PassKind::Recursion;
        match entry.delay_until_recursion {
            0 => {}
            _ if !recursion => return Err(Rule::DelayUntilRecursion),
            level if level > self.level => return Err(Rule::RecursionLevel),
            _ => {}
        }
        let excludes = self.books.settings.recursive || !self.compatible;
        if recursion && excludes && entry.exclude_recursion {
            return Err(Rule::ExcludeRecursion);
        }
        Ok(())
    }

    /// Checks the conditional decorators, which apply to constant entries too.
    fn decorators_allow(&self, index: usize, prepared: &Prepared) -> Result<(), Rule> {
        let decorators = &prepared.decorators;
        let said = self.character_messages;
        if decorators.only_after.is_some_and(|least| said < least)
            || decorators
                .only_every
                .is_some_and(|every| !said.is_multiple_of(every))
        {
            return Err(Rule::MessageCount);
        }
        if decorators.greeting.is_some() && decorators.greeting != self.input.greeting {
            return Err(Rule::Greeting);
        }
        if decorators.user_icon.is_some() && decorators.user_icon.as_deref() != self.input.user_icon
        {
            return Err(Rule::UserIcon);
        }
        if decorators.dont_after_match && self.timed.has_matched(index) {
            return Err(Rule::MatchedBefore);
        }
        Ok(())
    }

    fn keys(&self, prepared: &Prepared, entry: &Entry) -> Result<Match, Rule> {
        if prepared.keys.is_empty() {
            return Err(Rule::NoKeys);
        }
        let view = self.view(prepared);
        let find = |test: &Test| self.find(prepared, test, view);
        let any = |tests: &Vec<Test>| tests.iter().find_map(find);
        let primary = prepared
            .keys
            .iter()
            .enumerate()
            .find_map(|(i, test)| Some((Some(i), find(test)?)));
        let (key, found) = match primary {
            Some(hit) => hit,
            // With regex keys, additional keys are alternatives.
            None if prepared.rules.patterns => {
                let additional = prepared.additional.iter().find_map(any);
                (None, additional.ok_or(Rule::KeyNotFound)?)
            }
            None => return Err(Rule::KeyNotFound),
        };
        if !self.compatible && !prepared.rules.patterns {
            if !prepared.additional.iter().all(|keys| any(keys).is_some()) {
                return Err(Rule::AdditionalKeys);
            }
            if any(&prepared.exclude).is_some() {
                return Err(Rule::ExcludeKeys);
            }
        }
        let mut secondary = prepared.secondary.iter().map(|test| find(test).is_some());
        let selected = prepared.secondary.is_empty()
            || match entry.logic.unwrap_or(KeyLogic::AndAny) {
                KeyLogic::AndAny => secondary.any(|hit| hit),
                KeyLogic::NotAll => secondary.any(|hit| !hit),
                KeyLogic::NotAny => !secondary.any(|hit| hit),
                KeyLogic::AndAll => secondary.all(|hit| hit),
            };
        if selected {
            Ok(Match {
                reason: Reason::Key,
                key,
                found: Some(found),
            })
        } else {
            Err(Rule::SecondaryKeys)
        }
    }

    /// Number of keys found, for group scoring. NOT logics count only primary keys.
    pub(super) fn score(&self, index: usize) -> usize {
        let prepared = &self.books.entries[index];
        let view = self.view(prepared);
        let found = |tests: &[Test]| {
            tests
                .iter()
                .filter(|test| self.find(prepared, test, view).is_some())
                .count()
        };
        let (keys, secondary) = match &prepared.score_keys {
            Some((keys, secondary)) => (keys, secondary),
            None => (&prepared.keys, &prepared.secondary),
        };
        if keys.is_empty() {
            return 0;
        }
        let primary = found(keys);
        let more = found(secondary);
        match self.books.source(prepared).logic {
            Some(KeyLogic::AndAny) => primary + more,
            None if !self.compatible => primary + more,
            Some(KeyLogic::AndAll) if more == secondary.len() => primary + more,
            _ => primary,
        }
    }

    fn view(&self, prepared: &Prepared) -> View {
        let depth = prepared.scan_depth.unwrap_or(self.depth);
        let blind = self.compatible && self.kind == PassKind::Widened;
        View {
            depth: u32::try_from(depth.max(0)).unwrap_or(u32::MAX),
            others: if blind {
                prepared.others & !RECURSION
            } else {
                prepared.others
            },
            nothing: self.compatible && depth <= 0,
        }
    }

    fn find(&self, prepared: &Prepared, test: &Test, view: View) -> Option<KeyLocation> {
        match test {
            Test::Macro(key) => self
                .text
                .find(self.expanded.get(prepared.rules, key)?, true, view),
            test => self.text.find(test, false, view),
        }
    }
}
