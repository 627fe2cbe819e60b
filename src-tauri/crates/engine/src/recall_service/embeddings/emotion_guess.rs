//! Guesses the emotion of a text with the encoder: the label whose example sentences are nearest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::emotion::NEUTRAL;
use provider::ProviderError;

use crate::recall_service::embeddings::emotion_examples::{EXAMPLES, examples};
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::handle::RecallService;

/// Longest text that is embedded, in characters from the end: a reply shows the emotion it ends
/// with.
const MAX_TEXT: usize = 600;
/// Number of examples whose mean similarity is that of their label. One alone may share only a
/// topic with the text.
const NEAREST: usize = 5;

/// The embeddings of a label's examples.
type Vectors = Arc<Vec<Vec<f32>>>;

/// Embedded examples by encoder and label, as far as they were needed.
#[derive(Debug, Default)]
pub(crate) struct Prototypes(Mutex<HashMap<(String, String), Vectors>>);

impl Prototypes {
    async fn of(&self, label: &str, encoder: &Encoder) -> Result<Vectors, ProviderError> {
        let key = (encoder.model().to_owned(), label.to_owned());
        let known = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let mut vectors = Vec::new();
        for sentence in examples(label) {
            vectors.push(encoder.mean(&sentence).await?);
        }
        let made = Arc::new(vectors);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&made));
        Ok(made)
    }
}

impl RecallService {
    /// The label nearest to `text`; `None` if none is nearer than neutral, and without an encoder.
    ///
    /// # Errors
    /// The encoder cannot run.
    pub(crate) async fn guess_emotion(
        &self,
        text: &str,
        labels: &[String],
    ) -> Result<Option<String>, ProviderError> {
        let Some(encoder) = self.reading().encoder() else {
            return Ok(None);
        };
        let _asking = self.reading().ask();
        nearest(&encoder, self.reading().prototypes(), text, labels).await
    }
}

/// See [`RecallService::guess_emotion`].
///
/// # Errors
/// The encoder cannot run.
pub(crate) async fn nearest(
    encoder: &Encoder,
    prototypes: &Prototypes,
    text: &str,
    labels: &[String],
) -> Result<Option<String>, ProviderError> {
    let mut of_defaults = Vec::new();
    for (label, _) in EXAMPLES {
        of_defaults.push(prototypes.of(label, encoder).await?);
    }
    let centre = mean(
        &of_defaults
            .iter()
            .map(|vectors| mean(vectors))
            .collect::<Vec<_>>(),
    );
    let skipped = text.chars().count().saturating_sub(MAX_TEXT);
    let end: String = text.chars().skip(skipped).collect();
    let text = direction(&encoder.mean(&end).await?, &centre);
    let neutral = similarity(&text, &prototypes.of(NEUTRAL, encoder).await?, &centre);
    let mut best = (neutral, None);
    for label in labels.iter().filter(|label| *label != NEUTRAL) {
        let similarity = similarity(&text, &prototypes.of(label, encoder).await?, &centre);
        if similarity > best.0 {
            best = (similarity, Some(label.clone()));
        }
    }
    Ok(best.1)
}

/// Mean cosine similarity of a text to the nearest examples of a label.
fn similarity(text: &[f32], examples: &[Vec<f32>], centre: &[f32]) -> f32 {
    let cosine = |example: &Vec<f32>| -> f32 {
        text.iter()
            .zip(direction(example, centre))
            .map(|(one, other)| one * other)
            .sum()
    };
    let mut nearest: Vec<f32> = examples.iter().map(cosine).collect();
    nearest.sort_by(|one, other| other.total_cmp(one));
    nearest.truncate(NEAREST);
    nearest.iter().sum::<f32>() / nearest.len().max(1) as f32
}

/// The unit vector from the centre of all examples. What all sentences share says nothing about
/// their emotion.
fn direction(vector: &[f32], centre: &[f32]) -> Vec<f32> {
    let mut difference: Vec<f32> = vector
        .iter()
        .zip(centre)
        .map(|(value, centre)| value - centre)
        .collect();
    let length = difference
        .iter()
        .map(|value| value * value)
        .sum::<f32>()
        .sqrt();
    if length > 0.0 {
        difference.iter_mut().for_each(|value| *value /= length);
    }
    difference
}

fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        sum.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
    }
    sum.iter_mut()
        .for_each(|value| *value /= vectors.len() as f32);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_examples_decide_and_not_the_mean() {
        let centre = [0.0, 0.0];
        let far = vec![-1.0, 0.0];
        let near = vec![1.0, 0.0];
        let examples: Vec<Vec<f32>> = [vec![near; NEAREST], vec![far; NEAREST]].concat();
        assert!((similarity(&[1.0, 0.0], &examples, &centre) - 1.0).abs() < 1e-6);
        assert_eq!(similarity(&[1.0, 0.0], &[], &centre), 0.0);
    }

    #[test]
    fn directions_start_at_the_centre() {
        let centre = mean(&[vec![1.0, 0.0], vec![1.0, 2.0]]);
        assert_eq!(centre, [1.0, 1.0]);
        assert_eq!(direction(&[1.0, 3.0], &centre), [0.0, 1.0]);
        assert_eq!(direction(&centre, &centre), [0.0, 0.0]);
    }
}
