//! Index of the messages of a chat that name a possession, such as "my dog". A turn looks up one or
//! two of thousands. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::possessions::Possession;

/// The possessions by position of the message, and the positions by possession.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Naming {
    named: BTreeMap<i64, Vec<Possession>>,
    places: HashMap<Possession, BTreeSet<i64>>,
}

impl Naming {
    /// Replaces the possessions that the message at `position` names.
    pub fn put(&mut self, position: i64, possessions: Vec<Possession>) {
        self.remove(position);
        if possessions.is_empty() {
            return;
        }
        for thing in &possessions {
            self.places
                .entry(thing.clone())
                .or_default()
                .insert(position);
        }
        self.named.insert(position, possessions);
    }

    pub fn retain(&mut self, stays: impl Fn(i64) -> bool) {
        let gone: Vec<i64> = self
            .named
            .keys()
            .copied()
            .filter(|position| !stays(*position))
            .collect();
        gone.into_iter().for_each(|position| self.remove(position));
    }

    fn remove(&mut self, position: i64) {
        for thing in self.named.remove(&position).into_iter().flatten() {
            if let Some(places) = self.places.get_mut(&thing) {
                places.remove(&position);
                if places.is_empty() {
                    self.places.remove(&thing);
                }
            }
        }
    }

    /// The positions before `before` at which one of `possessions` is named, in order.
    pub fn of(&self, possessions: &[Possession], before: i64) -> BTreeSet<i64> {
        let places = possessions
            .iter()
            .filter_map(|thing| self.places.get(thing));
        places
            .flat_map(|places| places.range(..before))
            .copied()
            .collect()
    }

    /// `thing` as the message at `position` calls it, if it names it.
    pub fn at(&self, position: i64, thing: &Possession) -> Option<&Possession> {
        self.named
            .get(&position)?
            .iter()
            .find(|named| *named == thing)
    }
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;

    use super::*;
    use crate::possessions::possessions;

    #[test]
    fn finds_current_mentions_of_possession() {
        let named = |text| possessions(text, Role::User);
        let mut naming = Naming::default();
        naming.put(3, named("My dog and my cat."));
        naming.put(5, named("My dogs."));
        naming.put(7, named("My cat."));
        let dog = named("my dog");
        assert_eq!(naming.of(&dog, 9), [3, 5].into());
        assert_eq!(naming.of(&named("my dog and my cat"), 7), [3, 5].into());
        assert!(naming.at(5, &dog[0]).is_some() && naming.at(7, &dog[0]).is_none());
        naming.put(5, named("My cat."));
        assert_eq!(
            (naming.of(&dog, 9), naming.of(&named("my cat"), 9)),
            ([3].into(), [3, 5, 7].into())
        );
        naming.retain(|position| position > 3);
        naming.put(5, Vec::new());
        naming.put(7, Vec::new());
        assert_eq!(naming, Naming::default());
    }
}
