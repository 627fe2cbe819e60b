//! A model and its projector whose weights are chosen by hand: it answers with the letter of a
//! picture's colour.
//!
//! The projector makes each patch a token with the patch's red, green and blue. The model has one
//! kind of attention, the mean of all tokens, and says the letter of the strongest colour of that
//! mean.

use std::path::{Path, PathBuf};

use super::file::TinyModel;
use super::sight::{self, PATCH};
use super::vocabulary::{END, token};
use super::{CHAT_TEMPLATE, WIDTH};

/// Letters of the colours, in the order of a pixel's bytes.
const LETTERS: [char; 3] = ['R', 'G', 'B'];
/// Said without any colour.
const NOTHING: char = '?';

/// Numbers of an embedding: the colours of a token, a mark of every text token, a mark of a letter
/// that was said, and the colours of the mean.
const OF_TOKEN: u64 = 0;
const IS_TEXT: u64 = 3;
const SAID: u64 = 4;
const OF_MEAN: u64 = 8;

/// Writes `seeing.gguf` and `mmproj-f32.gguf` into `folder`. The model answers a prompt with a
/// picture in red, green or blue with `R`, `G` or `B`, and one without colours with `?`.
///
/// # Panics
/// The files cannot be written.
pub fn write_seeing_pair(folder: &Path) -> PathBuf {
    let path = folder.join("seeing.gguf");
    std::fs::write(&path, model().file()).expect("the model is written");
    std::fs::write(folder.join("mmproj-f32.gguf"), projector().file())
        .expect("the projector is written");
    path
}

fn model() -> TinyModel {
    let mut model = super::model("llama", CHAT_TEMPLATE);
    model.clear();
    for text in 0..super::vocabulary().len() as u64 {
        model.set("token_embd.weight", IS_TEXT, text, 1.0);
    }
    for (colour, letter) in (0..).zip(LETTERS) {
        model.set("token_embd.weight", SAID, token(letter), 100.0);
        // Without queries and keys, every token gets the same share of attention.
        model.set("blk.0.attn_v.weight", OF_TOKEN + colour, colour, 1.0);
        model.set("blk.0.attn_output.weight", colour, OF_MEAN + colour, 1.0);
        model.set("output.weight", OF_MEAN + colour, token(letter), 4.0);
    }
    model.set("token_embd.weight", SAID, token(NOTHING), 100.0);
    model.set("output.weight", IS_TEXT, token(NOTHING), 0.5);
    model.set("output.weight", SAID, END, 4.0);
    model
}

fn projector() -> TinyModel {
    let mut projector = sight::projector("mlp", WIDTH);
    projector.clear();
    let pixels = PATCH * PATCH;
    for colour in 0..LETTERS.len() as u64 {
        for pixel in 0..pixels {
            let from = colour * pixels + pixel;
            projector.set("v.patch_embd.weight", from, colour, 1.0 / pixels as f32);
        }
        // A weak colour counts as none, such as the grey beside a picture that is no square.
        projector.set("mm.0.weight", colour, colour, 40.0);
        projector.set("mm.0.bias", 0, colour, -4.0);
        projector.set("mm.2.weight", colour, OF_TOKEN + colour, 1.0);
    }
    projector
}
