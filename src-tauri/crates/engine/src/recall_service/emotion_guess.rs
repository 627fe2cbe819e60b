//! Guesses the emotion of a text with the encoder: the nearest of one prototype per label. A prototype is the mean of
//! the embeddings of a few example sentences.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::emotion::NEUTRAL;
use provider::ProviderError;

use crate::recall_service::encoder::Encoder;
use crate::recall_service::handle::RecallService;

/// Longest text that is embedded, in characters from the end: a reply shows the emotion it ends with.
const MAX_TEXT: usize = 600;
/// Minimum difference between the similarity of the nearest label and that of neutral.
const MARGIN: f32 = 0.01;

/// Example sentences of the default labels. They were written for this file.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "joy",
        &[
            "I am so happy that I could sing and dance!",
            "Thank you so much, I love it, this is wonderful.",
            "Haha, that is hilarious, you made me laugh.",
            "She beams with delight and hugs you.",
            "Great job, I am proud of you, congratulations!",
        ],
    ),
    (
        "sadness",
        &[
            "I am so sad that I want to cry.",
            "I miss him, and I am lonely without him.",
            "I am sorry for your loss, it breaks my heart.",
            "Tears run down her cheeks as she sobs.",
            "It is hopeless, I am so disappointed.",
        ],
    ),
    (
        "anger",
        &[
            "I am furious, how dare you do that!",
            "Shut up and leave me alone, you idiot!",
            "This is so annoying, I hate it when people do that.",
            "She clenches her fists and shouts in rage.",
            "You lied to me, and I will never forgive you.",
        ],
    ),
    (
        "fear",
        &[
            "I am terrified, please do not let it get me.",
            "That is scary, I am afraid of what will happen.",
            "I am so nervous and worried that my hands shake.",
            "She trembles and hides from the noise in the dark.",
            "Help, we are in danger, run!",
        ],
    ),
    (
        "disgust",
        &[
            "That is disgusting, it makes me want to vomit.",
            "Ew, gross, take that filthy thing away.",
            "The smell is revolting and I feel sick.",
            "She wrinkles her nose at the rotten food.",
            "What a nasty, repulsive thing to do.",
        ],
    ),
    (
        "surprise",
        &[
            "Wow, I did not expect that at all!",
            "What? Really? I cannot believe it!",
            "I am astonished, that came out of nowhere.",
            "Her eyes widen and she gasps in amazement.",
            "Oh my god, I had no idea, I am shocked.",
        ],
    ),
    (
        NEUTRAL,
        &[
            "The meeting is at ten in the second room.",
            "You can find the book on the shelf by the door.",
            "She walks to the table and sits down.",
            "It depends on the price and on the size.",
            "He said that the train usually leaves at noon.",
        ],
    ),
];

/// Prototypes by label, as far as they were needed.
#[derive(Debug, Default)]
pub(crate) struct Prototypes(Mutex<HashMap<String, Arc<Vec<f32>>>>);

impl Prototypes {
    async fn of(&self, label: &str, encoder: &Encoder) -> Result<Arc<Vec<f32>>, ProviderError> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(label).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let mut sum = Vec::new();
        for sentence in examples(label) {
            add(&mut sum, &encoder.mean(&sentence).await?);
        }
        let made = Arc::new(unit(sum));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(label.to_owned(), Arc::clone(&made));
        Ok(made)
    }
}

impl RecallService {
    /// The label whose prototype is nearest to `text`; `None` if none is clearly nearer than neutral, and without an
    /// encoder.
    ///
    /// # Errors
    /// The encoder cannot run.
    pub(crate) async fn guess_emotion(&self, text: &str, labels: &[String]) -> Result<Option<String>, ProviderError> {
        let Some(encoder) = self.reading().encoder() else { return Ok(None) };
        let _asking = self.reading().ask();
        nearest(encoder, self.reading().prototypes(), text, labels).await
    }
}

async fn nearest(
    encoder: &Encoder,
    prototypes: &Prototypes,
    text: &str,
    labels: &[String],
) -> Result<Option<String>, ProviderError> {
    let skipped = text.chars().count().saturating_sub(MAX_TEXT);
    let end: String = text.chars().skip(skipped).collect();
    let text = unit(encoder.mean(&end).await?);
    let neutral = similarity(&text, &prototypes.of(NEUTRAL, encoder).await?);
    let mut best = (neutral + MARGIN, None);
    for label in labels.iter().filter(|label| *label != NEUTRAL) {
        let similarity = similarity(&text, &prototypes.of(label, encoder).await?);
        if similarity > best.0 {
            best = (similarity, Some(label.clone()));
        }
    }
    Ok(best.1)
}

/// A label of the user's own has no examples, so its name describes it.
fn examples(label: &str) -> Vec<String> {
    match EXAMPLES.iter().find(|(known, _)| *known == label) {
        Some((_, sentences)) => sentences.iter().map(|sentence| (*sentence).to_owned()).collect(),
        None => vec![format!("I feel {label}."), format!("A sentence that expresses {label}.")],
    }
}

fn add(sum: &mut Vec<f32>, vector: &[f32]) {
    sum.resize(vector.len(), 0.0);
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
}

/// Scales to length 1.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

fn similarity(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_label_has_examples() {
        for label in domain::emotion::labels(domain::emotion::DEFAULT_LABELS) {
            assert!(EXAMPLES.iter().any(|(known, sentences)| *known == label && sentences.len() >= 5), "{label}");
        }
        assert_eq!(examples("awe").len(), 2);
    }
}
