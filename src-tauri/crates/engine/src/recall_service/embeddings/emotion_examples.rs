//! Example sentences of the default emotions, for the guess of an emotion. They were written for
//! this file.

use domain::emotion::NEUTRAL;

/// The sentences of each default label.
pub(crate) const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "joy",
        &[
            "I am so happy that I could sing and dance!",
            "Thank you so much, I love it, this is wonderful.",
            "Haha, that is hilarious, you made me laugh.",
            "She beams with delight and hugs you.",
            "Great job, I am proud of you, congratulations!",
            "I hope this works out, good luck to you!",
            "I agree, that is a good idea.",
            "What a beautiful place, I admire how well it is made.",
            "You are so kind, I care about you.",
            "Congratulations, you deserve it!",
            "I can hardly wait, this will be so exciting!",
            "At last, what a relief.",
            "I would love to see that one day.",
            "He grins and lifts his cup to you.",
            "This is the best day of my life.",
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
            "I regret what I did, please forgive me.",
            "I feel ashamed and embarrassed.",
            "Unfortunately it did not work, what a pity.",
            "Nobody cares about me.",
            "It hurts to see it end like this.",
            "He lowers his head, and his voice breaks.",
            "Poor thing, that must be hard.",
            "I lost it, and now it is too late.",
            "My apologies, that was my mistake.",
            "We lost again, how disappointing.",
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
            "No, that is wrong, and you know it.",
            "I do not agree with you at all.",
            "Stop it, you are getting on my nerves.",
            "What a stupid thing to say.",
            "I hate him, damn him.",
            "He slams his fist on the table.",
            "It is your own fault, so do not complain.",
            "You are a liar and a coward.",
            "They have no right to do that.",
            "This is unfair, and I will not accept it.",
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
            "It was creepy, I had nightmares.",
            "I dread tomorrow.",
            "Be careful, it is dangerous out there.",
            "She backs away, pale with terror.",
            "I panic whenever I think about it.",
            "I worry that he will not come back.",
            "My heart races, something is behind the door.",
            "It is a frightening thought.",
            "Please do not leave me alone here.",
            "He flinches and looks over his shoulder.",
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
            "How awful, I cannot look at it.",
            "It tastes horrible, I spit it out.",
            "It stinks of rot and sweat.",
            "Those people are vile.",
            "That is the worst I have ever seen.",
            "He recoils from the slime on the wall.",
            "Your behaviour is sickening.",
            "What ugly, cheap rubbish.",
            "It is dirty and full of worms.",
            "I despise this filthy place.",
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
            "What do you mean? I am confused.",
            "Why would anybody do that?",
            "I wonder how it works.",
            "I just realized that it was here the whole time.",
            "Is that so? Tell me more.",
            "I never knew that.",
            "How did you do that?",
            "He blinks and stares at you, puzzled.",
            "That is strange, I thought it was closed.",
            "Who would have guessed?",
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
            "The shop sells bread and milk.",
            "They have played three games this season.",
            "It was built ten years ago.",
            "He opens the window and looks at the street.",
            "I usually take the bus to work.",
            "Put the box next to the others.",
            "There are two ways to get there.",
            "She reads the letter and folds it again.",
            "My brother lives in the north.",
            "Some people do it like this, others like that.",
        ],
    ),
];

/// The sentences that describe a label. A label of the user's own has none, so its name describes
/// it.
pub(crate) fn examples(label: &str) -> Vec<String> {
    match EXAMPLES.iter().find(|(known, _)| *known == label) {
        Some((_, sentences)) => sentences
            .iter()
            .map(|sentence| (*sentence).to_owned())
            .collect(),
        None => vec![
            format!("I feel {label}."),
            format!("A sentence that expresses {label}."),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_label_has_examples() {
        for label in domain::emotion::labels(domain::emotion::DEFAULT_LABELS) {
            let found = EXAMPLES.iter().find(|(known, _)| *known == label);
            assert!(
                found.is_some_and(|(_, sentences)| sentences.len() == 15),
                "{label}"
            );
        }
        assert_eq!(examples("awe").len(), 2);
    }
}
