//! Finds the file that reads pictures for a model (mmproj): it is in the model's folder, its name
//! belongs to the model, and its header states the model's embedding length.

use std::path::{Path, PathBuf};

use crate::gguf::{self, GgufHeader, ProjectorHeader};

/// Maximum number of files in a folder whose headers are read.
const MOST: usize = 16;

/// Returns the projector in the folder of the model at `path`. Of several, it is the one whose name
/// has most in common with the model's, and of these the largest. Blocks while it reads headers.
pub fn paired_projector(path: &Path, header: &GgufHeader) -> Option<PathBuf> {
    let model = words(&stem(path));
    let folder = std::fs::read_dir(path.parent()?).ok()?;
    let named = folder
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| is_named_like_one(file));
    let mut named: Vec<(usize, u64, PathBuf)> = named
        .filter_map(|file| Some((belonging(&words(&stem(&file)), &model)?, bytes(&file), file)))
        .collect();
    named.sort_by(|one, other| (other.0, other.1, &one.2).cmp(&(one.0, one.1, &other.2)));
    let fits = |file: &PathBuf| {
        gguf::read_projector(file).is_ok_and(|projector| suits(&projector, header))
    };
    named
        .into_iter()
        .take(MOST)
        .map(|(_, _, file)| file)
        .find(fits)
}

/// Whether a projector can belong to a model, as far as the headers tell.
pub fn suits(projector: &ProjectorHeader, model: &GgufHeader) -> bool {
    match (projector.width, model.embedding_length) {
        (Some(width), Some(length)) => width == length,
        _ => true,
    }
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn is_named_like_one(path: &Path) -> bool {
    let is_gguf = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
    is_gguf && stem(path).contains("mmproj")
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase()
}

/// The words of a file's name without those that say nothing about the model.
fn words(stem: &str) -> Vec<String> {
    let says_nothing = |word: &str| {
        let quantised = word.strip_prefix('i').unwrap_or(word);
        let quantised = quantised.starts_with('q')
            && quantised[1..].starts_with(|letter: char| letter.is_ascii_digit());
        word.is_empty() || quantised && word.len() <= 4 || NOISE.contains(&word)
    };
    let letters: Vec<char> = stem.chars().collect();
    let is_digit = |at: Option<usize>| {
        at.and_then(|at| letters.get(at))
            .is_some_and(char::is_ascii_digit)
    };
    let spaced = letters.iter().enumerate().map(|(at, letter)| match letter {
        // The dot of a version number.
        '.' if is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) => '.',
        letter if letter.is_alphanumeric() => *letter,
        _ => ' ',
    });
    let spaced: String = spaced.collect();
    spaced
        .split(' ')
        .filter(|word| !says_nothing(word))
        .map(str::to_owned)
        .collect()
}

/// Words of precisions, formats and parts.
const NOISE: [&str; 22] = [
    "mmproj", "model", "gguf", "vision", "f16", "fp16", "bf16", "f32", "fp32", "k", "m", "s", "l",
    "xl", "xs", "xxs", "nl", "ud", "0", "1", "of", "00001",
];

/// Number of words of the projector's name, if all of them are in the model's name: 0 for a name
/// such as `mmproj-f16`. `None` if the name belongs to another model.
fn belonging(projector: &[String], model: &[String]) -> Option<usize> {
    projector
        .iter()
        .all(|word| model.contains(word))
        .then_some(projector.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn belongs(projector: &str, model: &str) -> Option<usize> {
        belonging(&words(projector), &words(model))
    }

    #[test]
    fn name_tells_the_model_of_a_projector() {
        let qwen = "qwen2.5-vl-3b-instruct-q4_k_m";
        assert_eq!(belongs("mmproj-f16", qwen), Some(0));
        assert_eq!(belongs("mmproj-model-bf16", qwen), Some(0));
        assert_eq!(belongs("mmproj-qwen2.5-vl-3b-instruct-f16", qwen), Some(4));
        assert_eq!(belongs("qwen2.5-vl-3b-instruct-mmproj-q8_0", qwen), Some(4));
        assert_eq!(belongs("mmproj-qwen2.5-vl-7b-instruct-f16", qwen), None);
        assert_eq!(belongs("mmproj-gemma-3-4b-it-f16", qwen), None);
        assert_eq!(
            belongs(
                "mmproj-smolvlm-500m-instruct-q8_0",
                "smolvlm-500m-instruct-q8_0"
            ),
            Some(3)
        );
        assert_eq!(
            belongs("gemma-3-4b-it.mmproj-q8_0", "gemma-3-4b-it.q4_1"),
            Some(4)
        );
        assert_eq!(
            belongs(
                "mmproj-gemma-3-4b-it-f16",
                "gemma-3-4b-it-iq4_xs-00001-of-00002"
            ),
            Some(4)
        );
    }
}
