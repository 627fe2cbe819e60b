//! Inclusion groups: only one member of each group activates.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::outcome::Rule;
use super::scan::{EntryCandidate, Scan};

/// A group's name and its members among the candidates of this pass, in order.
type Group = (String, Vec<usize>);

impl Scan<'_> {
    /// Removes all candidates that lose in one of their groups.
    pub(super) fn choose_of_groups(&mut self, candidates: &mut Vec<EntryCandidate>) {
        let mut groups = self.groups(candidates);
        if groups.is_empty() {
            return;
        }
        if self.compatible {
            self.choose_compatible(&mut groups, candidates)
        } else {
            self.choose(&groups, candidates)
        }
    }

    /// Groups in the order of JavaScript object keys: numbers first, ascending.
    fn groups(&self, candidates: &[EntryCandidate]) -> Vec<Group> {
        let mut groups = Vec::<Group>::new();
        let mut places = HashMap::new();
        for candidate in candidates {
            for name in &self.books.entries[candidate.entry].groups {
                let place = *places.entry(name.as_str()).or_insert_with(|| {
                    groups.push((name.clone(), Vec::new()));
                    groups.len() - 1
                });
                groups[place].1.push(candidate.entry);
            }
        }
        let number = |name: &str| {
            name.parse::<u32>()
                .ok()
                .filter(|n| n.to_string() == name && *n != u32::MAX)
        };
        groups.sort_by_key(|(name, _)| number(name).unwrap_or(u32::MAX));
        groups
    }

    fn choose(&mut self, groups: &[Group], candidates: &mut Vec<EntryCandidate>) {
        for (name, members) in groups {
            let mut members = members.clone();
            members.retain(|member| {
                candidates
                    .iter()
                    .any(|candidate| candidate.entry == *member)
            });
            let winners = self.winners(name, &members);
            let out = |entry: &usize| members.contains(entry) && !winners.contains(entry);
            for member in members.iter().filter(|member| out(member)) {
                self.rules[*member] = Rule::Group;
            }
            candidates.retain(|candidate| !out(&candidate.entry));
        }
    }

    fn winners(&self, name: &str, members: &[usize]) -> Vec<usize> {
        let sticky: Vec<usize> = members
            .iter()
            .copied()
            .filter(|member| self.timed.is_sticky(*member))
            .collect();
        if !sticky.is_empty() {
            return sticky;
        }
        let taken = |entry: &usize| {
            self.books.entries[*entry]
                .groups
                .iter()
                .any(|group| group == name)
        };
        if self.active.iter().any(taken) {
            return Vec::new();
        }
        let best = self.best_scored(members);
        self.winner(name, &best).into_iter().collect()
    }

    /// The members that remain after scoring.
    fn best_scored(&self, members: &[usize]) -> Vec<usize> {
        let global = self.books.settings.use_group_scoring;
        let own = |member: usize| {
            self.books
                .source(&self.books.entries[member])
                .use_group_scoring
        };
        if !global && !members.iter().any(|member| own(*member) == Some(true)) {
            return members.to_vec();
        }
        let scores: Vec<usize> = members.iter().map(|member| self.score(*member)).collect();
        let best = scores.iter().copied().max().unwrap_or_default();
        let scored = members.iter().zip(&scores);
        let stays = |(member, score): &(&usize, &usize)| {
            !own(**member).unwrap_or(global) || **score == best
        };
        scored.filter(stays).map(|(member, _)| *member).collect()
    }

    /// Prioritized members win by highest order; otherwise a weighted roll decides.
    fn winner(&self, name: &str, members: &[usize]) -> Option<usize> {
        if members.len() <= 1 {
            return members.first().copied();
        }
        let source = |member: &usize| self.books.source(&self.books.entries[*member]);
        let prioritized = members
            .iter()
            .copied()
            .filter(|member| source(member).group_override);
        // `max_by` would return the last of equal members; this returns the first.
        let first = prioritized.reduce(|best, member| {
            let order = source(&member).order.partial_cmp(&source(&best).order);
            if order == Some(Ordering::Greater) {
                member
            } else {
                best
            }
        });
        if first.is_some() {
            return first;
        }
        let weight = |member: &usize| source(member).group_weight.unwrap_or(100.0);
        let total: f64 = members.iter().map(weight).sum();
        let roll = self
            .input
            .chance
            .roll(&["group", name, &self.passes.len().to_string()])
            * total;
        let mut reached = 0.0;
        members.iter().copied().find(|member| {
            reached += weight(member);
            roll <= reached
        })
    }

    /// Like SillyTavern: group by group on one shared list, including its bugs.
    fn choose_compatible(&mut self, groups: &mut [Group], candidates: &mut Vec<EntryCandidate>) {
        let sticky = self.remove_by_effects(groups, candidates);
        for ((_, members), _) in groups
            .iter_mut()
            .zip(&sticky)
            .filter(|(_, sticky)| !**sticky)
        {
            let best = self.best_scored(members);
            for loser in members.iter().filter(|member| !best.contains(member)) {
                self.remove(*loser, candidates);
            }
            *members = best;
        }
        for ((name, members), _) in groups.iter().zip(&sticky).filter(|(_, sticky)| !**sticky) {
            let field = |entry: &usize| &self.books.source(&self.books.entries[*entry]).group;
            let winner = if self.active.iter().any(|entry| field(entry) == name) {
                None
            } else if members.len() <= 1 {
                continue;
            } else {
                self.winner(name, members)
            };
            for loser in members.iter().filter(|member| Some(**member) != winner) {
                self.remove(*loser, candidates);
            }
        }
    }

    /// Removes non-sticky members of groups with sticky ones, then members on cooldown. Returns
    /// which groups have sticky members.
    fn remove_by_effects(
        &mut self,
        groups: &[Group],
        candidates: &mut Vec<EntryCandidate>,
    ) -> Vec<bool> {
        let mut sticky = Vec::with_capacity(groups.len());
        for (_, members) in groups {
            let any = members.iter().any(|member| self.timed.is_sticky(*member));
            for member in members {
                if any && !self.timed.is_sticky(*member) {
                    self.remove(*member, candidates);
                }
            }
            for member in members {
                if self.timed.is_on_cooldown(*member) {
                    self.remove(*member, candidates);
                }
            }
            sticky.push(any);
        }
        sticky
    }

    /// Removing an entry that is already gone removes the last candidate instead, as in
    /// SillyTavern.
    fn remove(&mut self, entry: usize, candidates: &mut Vec<EntryCandidate>) {
        let place = candidates
            .iter()
            .position(|candidate| candidate.entry == entry);
        let place = place.or_else(|| candidates.len().checked_sub(1));
        if let Some(place) = place {
            let removed = candidates.remove(place);
            self.rules[removed.entry] = Rule::Group;
        }
    }
}
