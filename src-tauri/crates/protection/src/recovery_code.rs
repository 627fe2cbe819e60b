//! The recovery code: a random secret as text that people can write down and type.
//!
//! It has 13 groups of five letters of Crockford's base 32, such as `CNK6C-ET399-...`. Four letters
//! of a group carry 20 bits; 13 groups carry the 256 bits of the secret and four zero bits. The
//! fifth letter checks the group, so that a typing error can be found.

use secrecy::{ExposeSecret as _, ExposeSecretMut as _, SecretString};
use zeroize::Zeroizing;

use crate::keys::{KEY_BYTES, Secret};
use crate::random::{RandomError, random_secret};

/// Without I, L, O and U, which look like other letters or make words.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SYMBOL_BITS: usize = 5;

const GROUPS: usize = 13;
/// Letters of a group without its check letter.
const DATA_LETTERS: usize = 4;
const GROUP_LETTERS: usize = DATA_LETTERS + 1;
const LETTERS: usize = GROUPS * GROUP_LETTERS;
const SYMBOLS: usize = GROUPS * DATA_LETTERS;

/// A longer text is no recovery code with extra blanks.
const MAX_TYPED_BYTES: usize = 1_024;

/// Characters between groups, besides blanks: what keyboards, editors and printers make of `-`.
const SEPARATORS: &str = "-‐‑‒–—−_.";

/// A random 256-bit secret that unwraps the data key if the passphrase is lost.
#[derive(Debug)]
pub struct RecoveryCode(Secret);

/// Why a text is not a recovery code. Groups are counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecoveryCodeError {
    #[error(
        "the recovery code has {letters} letters instead of {LETTERS}; compare it with your copy"
    )]
    Length { letters: usize },
    #[error(
        "group {group} of the recovery code has {letters} letters instead of {GROUP_LETTERS}; \
         compare it with your copy"
    )]
    GroupLength { group: usize, letters: usize },
    #[error("group {group} of the recovery code is not right; compare it with your copy")]
    Group { group: usize },
}

impl RecoveryCode {
    /// # Errors
    /// The system has no random bytes.
    pub fn generate() -> Result<Self, RandomError> {
        random_secret().map(Self)
    }

    /// The code as text: 13 groups of five letters with hyphens between them.
    #[must_use]
    pub fn text(&self) -> SecretString {
        let symbols = symbols_of(self.bytes());
        // The exact capacity: growing or shrinking would leave a copy in memory.
        let mut text = String::with_capacity(LETTERS + GROUPS - 1);
        for (index, data) in symbols.chunks_exact(DATA_LETTERS).enumerate() {
            if index > 0 {
                text.push('-');
            }
            text.extend(data.iter().copied().map(letter));
            text.push(letter(check_symbol(index, data)));
        }
        SecretString::from(text)
    }

    /// Reads a typed code: in upper or lower case, with O for 0 and with I or L for 1, and with
    /// blanks or hyphens anywhere.
    ///
    /// # Errors
    /// [`RecoveryCodeError`] names the first wrong group.
    pub fn parse(typed: &str) -> Result<Self, RecoveryCodeError> {
        let letters = split(typed)?;
        let mut symbols = Zeroizing::new([0_u8; SYMBOLS]);
        let groups = letters.chunks_exact(GROUP_LETTERS).enumerate();
        for ((index, group), data) in groups.zip(symbols.chunks_exact_mut(DATA_LETTERS)) {
            let wrong = RecoveryCodeError::Group { group: index + 1 };
            for (symbol, &typed) in data.iter_mut().zip(group) {
                *symbol = symbol_of(typed).ok_or(wrong)?;
            }
            if symbol_of(group[DATA_LETTERS]) != Some(check_symbol(index, data)) {
                return Err(wrong);
            }
        }
        secret_of(&symbols)
            .map(Self)
            .ok_or(RecoveryCodeError::Group { group: GROUPS })
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        self.0.expose_secret()
    }
}

/// Returns the letters of a typed code: exactly [`LETTERS`].
fn split(typed: &str) -> Result<Zeroizing<Vec<char>>, RecoveryCodeError> {
    let count = |text: &str| text.chars().filter(|&letter| !is_separator(letter)).count();
    let letters = count(typed);
    if typed.len() > MAX_TYPED_BYTES {
        return Err(RecoveryCodeError::Length { letters });
    }
    let words: Vec<&str> = typed
        .split(is_separator)
        .filter(|word| !word.is_empty())
        .collect();
    // With separators in the usual places, the group with a missing letter is known.
    if words.len() == GROUPS {
        for (index, word) in words.iter().enumerate() {
            if count(word) != GROUP_LETTERS {
                return Err(RecoveryCodeError::GroupLength {
                    group: index + 1,
                    letters: count(word),
                });
            }
        }
    }
    if letters != LETTERS {
        return Err(RecoveryCodeError::Length { letters });
    }
    let mut split = Zeroizing::new(Vec::<char>::with_capacity(LETTERS));
    split.extend(words.iter().flat_map(|word| word.chars()));
    Ok(split)
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || SEPARATORS.contains(letter)
}

/// Symbol that makes a group valid: a sum over GF(32) with the group's number. It finds every wrong
/// letter, every exchange of two letters, and groups in the wrong order.
fn check_symbol(index: usize, data: &[u8]) -> u8 {
    let number = u8::try_from(index + 1).expect("there are 13 groups");
    data.iter().fold(0_u8, |sum, symbol| doubled(sum ^ symbol)) ^ number
}

/// Multiplies by x in GF(32), modulo x⁵ + x² + 1.
fn doubled(symbol: u8) -> u8 {
    let shifted = symbol << 1;
    if shifted < 32 {
        shifted
    } else {
        shifted ^ 0b10_0101
    }
}

fn letter(symbol: u8) -> char {
    char::from(ALPHABET[usize::from(symbol)])
}

fn symbol_of(letter: char) -> Option<u8> {
    let letter = match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    let index = ALPHABET
        .iter()
        .position(|&known| char::from(known) == letter);
    index.and_then(|index| u8::try_from(index).ok())
}

/// Cuts the secret into groups of five bits, the highest bit first. The last four bits are zero.
fn symbols_of(secret: &[u8; KEY_BYTES]) -> Zeroizing<[u8; SYMBOLS]> {
    let mut symbols = Zeroizing::new([0_u8; SYMBOLS]);
    for bit in 0..KEY_BYTES * 8 {
        let value = (secret[bit / 8] >> (7 - bit % 8)) & 1;
        symbols[bit / SYMBOL_BITS] |= value << (4 - bit % SYMBOL_BITS);
    }
    symbols
}

/// Joins the symbols again. Returns `None` if one of the last four bits is set.
fn secret_of(symbols: &[u8; SYMBOLS]) -> Option<Secret> {
    let mut secret = Secret::default();
    for bit in 0..SYMBOLS * SYMBOL_BITS {
        let value = (symbols[bit / SYMBOL_BITS] >> (4 - bit % SYMBOL_BITS)) & 1;
        match secret.expose_secret_mut().get_mut(bit / 8) {
            Some(byte) => *byte |= value << (7 - bit % 8),
            None if value == 1 => return None,
            None => {}
        }
    }
    Some(secret)
}

#[cfg(test)]
mod tests;
