//! The stored speeds of this machine, and of others on which the data folder was used.

use local::speed::TokenReads;
use serde::{Deserialize, Serialize};

/// Row of the settings table.
pub(super) const ROW: &str = "model_speeds";
/// Machines that are remembered.
const MACHINES: usize = 4;
/// Replies that are remembered of a machine.
const REPLIES: usize = 60;
/// Replies that are remembered of a model, and that a median is made of.
pub(super) const LAST: usize = 5;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredSpeeds {
    /// The one that changed last is at the end.
    machines: Vec<MachineSpeeds>,
}

impl StoredSpeeds {
    /// A damaged row is like a missing one: everything is measured again.
    pub(super) fn parse(json: Option<&str>) -> Self {
        json.and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default()
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "null".to_owned())
    }

    pub(super) fn of(&self, machine: &str) -> MachineSpeeds {
        let known = self.machines.iter().find(|known| known.name == machine);
        known
            .cloned()
            .unwrap_or_else(|| MachineSpeeds::new(machine))
    }

    /// Moves the machine to the end, and forgets the one that changed longest ago.
    pub(super) fn of_mut(&mut self, machine: &str) -> &mut MachineSpeeds {
        let speeds = self.of(machine);
        self.machines.retain(|known| known.name != machine);
        let surplus = (self.machines.len() + 1).saturating_sub(MACHINES);
        self.machines.drain(..surplus);
        let last = self.machines.len();
        self.machines.push(speeds);
        &mut self.machines[last]
    }
}

/// Speeds that were measured on one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineSpeeds {
    name: String,
    /// Bytes that the processor reads from memory each second.
    pub(crate) memory: Option<u64>,
    /// Oldest first.
    replies: Vec<MeasuredReply>,
}

/// The speed of one reply of a local model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeasuredReply {
    /// SHA-256 of the model file.
    pub(crate) model: String,
    pub(crate) place: WeightsPlace,
    pub(crate) reads: TokenReads,
    pub(crate) tokens_per_second: f64,
}

/// The processors that compute a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum WeightsPlace {
    Processor,
    /// Graphics devices of this name.
    Graphics(String),
    Both,
}

impl MachineSpeeds {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// A machine whose memory delivers so many bytes per second.
    #[cfg(test)]
    pub(crate) fn with_memory(bytes_per_second: u64) -> Self {
        Self {
            memory: Some(bytes_per_second),
            ..Self::default()
        }
    }

    /// Adds a reply, and forgets the oldest ones that are too many.
    pub(crate) fn add(&mut self, reply: MeasuredReply) {
        let of_model = |known: &MeasuredReply| known.model == reply.model;
        if self.replies.iter().filter(|known| of_model(known)).count() >= LAST
            && let Some(oldest) = self.replies.iter().position(of_model)
        {
            self.replies.remove(oldest);
        }
        if self.replies.len() >= REPLIES {
            self.replies.remove(0);
        }
        self.replies.push(reply);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_none() && self.replies.is_empty()
    }

    /// Bytes of weights that each token of a model reads, if the model was measured.
    pub(super) fn bytes_per_token(&self, model: &str) -> Option<u64> {
        let known = self.replies.iter().find(|reply| reply.model == model);
        known.map(|reply| reply.reads.total())
    }

    /// Tokens per second of a model in its last replies, with its weights in the same place as in
    /// the newest one.
    pub(crate) fn tokens_per_second(&self, model: &str) -> Option<f64> {
        let of_model = || {
            self.replies
                .iter()
                .rev()
                .filter(|reply| reply.model == model)
        };
        let place = &of_model().next()?.place;
        let speeds = of_model()
            .filter(|reply| reply.place == *place)
            .map(|reply| reply.tokens_per_second);
        median(speeds.collect()).filter(|speed| *speed > 0.0)
    }

    /// The last replies of models with all of their weights in `place`.
    pub(super) fn last_in<'s>(
        &'s self,
        place: &'s WeightsPlace,
    ) -> impl Iterator<Item = &'s MeasuredReply> {
        self.replies
            .iter()
            .rev()
            .filter(move |reply| reply.place == *place)
            .take(LAST)
    }
}

pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *values.get(middle.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(model: &str, place: WeightsPlace, tokens_per_second: f64) -> MeasuredReply {
        MeasuredReply {
            model: model.to_owned(),
            place,
            reads: TokenReads::split(1_000, 0.0),
            tokens_per_second,
        }
    }

    #[test]
    fn median_of_the_last_replies_counts() {
        let mut machine = MachineSpeeds::default();
        for speed in [90.0, 1.0, 2.0, 3.0, 4.0, 5.0] {
            machine.add(reply("a", WeightsPlace::Processor, speed));
        }
        assert_eq!(machine.replies.len(), LAST, "the oldest is forgotten");
        assert_eq!(machine.tokens_per_second("a"), Some(3.0));
        assert_eq!(machine.tokens_per_second("b"), None);
        assert_eq!(machine.bytes_per_token("a"), Some(1_000));
    }

    #[test]
    fn model_on_another_device_is_measured_anew() {
        let mut machine = MachineSpeeds::default();
        let card = || WeightsPlace::Graphics("A card".to_owned());
        machine.add(reply("a", WeightsPlace::Processor, 3.0));
        machine.add(reply("a", WeightsPlace::Processor, 3.0));
        machine.add(reply("a", card(), 40.0));
        assert_eq!(machine.tokens_per_second("a"), Some(40.0));
        assert_eq!(machine.last_in(&card()).count(), 1);
    }

    #[test]
    fn few_machines_and_replies_are_kept() {
        let mut stored = StoredSpeeds::default();
        for machine in 0..10 {
            stored.of_mut(&machine.to_string()).memory = Some(machine);
        }
        stored.of_mut("6").memory = Some(60);
        let names: Vec<_> = stored
            .machines
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["7", "8", "9", "6"]);
        assert_eq!(
            (stored.of("6").memory, stored.of("0").memory),
            (Some(60), None)
        );
        let machine = stored.of_mut("6");
        for model in 0..100 {
            machine.add(reply(&model.to_string(), WeightsPlace::Both, 1.0));
        }
        assert_eq!(machine.replies.len(), REPLIES);
        assert_eq!(StoredSpeeds::parse(Some(&stored.json())), stored);
    }

    #[test]
    fn damaged_row_is_like_a_missing_one() {
        for json in ["null", "{}", "[1", r#"{"machines": [{"name": 5}]}"#] {
            assert_eq!(StoredSpeeds::parse(Some(json)), StoredSpeeds::default());
        }
    }

    #[test]
    fn median_of_an_even_number_is_between() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }
}
