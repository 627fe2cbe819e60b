//! Encrypted caches. The content of the sealed file is the number of tokens (u32, little-endian),
//! the tokens (i32, little-endian), and llama.cpp's state of the sequence.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;
use protection::{FileKey, SealedFileError, SealedName, SealedReader, SealedWriter};
use zeroize::Zeroizing;

use crate::cache::CHAT;
use crate::cache::unusable::Unusable;

/// Bytes of a number in the content.
const NUMBER: usize = 4;

/// The encrypted file of one cache.
pub(super) struct SealedState<'k> {
    pub(super) key: &'k FileKey,
    pub(super) name: SealedName,
}

impl SealedState<'_> {
    /// Loads the file at `path` into the context and returns its tokens.
    pub(super) fn read(
        &self,
        context: &mut LlamaContext<'_>,
        path: &Path,
    ) -> Result<Vec<LlamaToken>, Unusable> {
        let content = self.content(path)?;
        let (tokens, state) = split(&content).ok_or(Unusable::Damaged)?;
        if restore(context, state) {
            Ok(tokens)
        } else {
            Err(Unusable::Rejected)
        }
    }

    fn content(&self, path: &Path) -> Result<Zeroizing<Vec<u8>>, Unusable> {
        let opened = SealedReader::open(File::open(path)?, self.key, &self.name);
        let content = opened.and_then(|mut reader| reader.read_all());
        content.map_err(|error| match error {
            SealedFileError::Io(error) => Unusable::Io(error),
            _ => Unusable::Damaged,
        })
    }

    /// Writes the context's cache of `tokens`. Only encrypted bytes reach the file.
    pub(super) fn write(
        &self,
        context: &LlamaContext<'_>,
        tokens: &[LlamaToken],
        file: &File,
    ) -> io::Result<()> {
        let state = state(context)?;
        let mut writer = SealedWriter::new(file, self.key, &self.name)?;
        writer.write_all(&header(tokens)?)?;
        writer.write_all(&state)?;
        writer.finish()?;
        Ok(())
    }
}

/// The part of the content before the state.
fn header(tokens: &[LlamaToken]) -> io::Result<Zeroizing<Vec<u8>>> {
    let count = u32::try_from(tokens.len()).map_err(io::Error::other)?;
    let mut bytes = Zeroizing::new(Vec::<u8>::with_capacity(NUMBER * (tokens.len() + 1)));
    bytes.extend_from_slice(&count.to_le_bytes());
    for token in tokens {
        bytes.extend_from_slice(&token.0.to_le_bytes());
    }
    Ok(bytes)
}

/// Returns the tokens and the state.
fn split(content: &[u8]) -> Option<(Vec<LlamaToken>, &[u8])> {
    let (count, rest) = content.split_first_chunk::<NUMBER>()?;
    let bytes = (u32::from_le_bytes(*count) as usize).checked_mul(NUMBER)?;
    let (tokens, state) = rest.split_at_checked(bytes)?;
    let (tokens, _) = tokens.as_chunks::<NUMBER>();
    let tokens = tokens
        .iter()
        .map(|bytes| LlamaToken(i32::from_le_bytes(*bytes)))
        .collect();
    Some((tokens, state))
}

/// Copies the state of the chat's sequence. A large one may not fit into memory.
#[expect(
    unsafe_code,
    reason = "llama-cpp-2 gives no safe access to the bytes of a state"
)]
fn state(context: &LlamaContext<'_>) -> io::Result<Zeroizing<Vec<u8>>> {
    let flags = LlamaStateSeqFlags::empty();
    let size = context.state_seq_get_size_ext(CHAT, flags);
    let mut bytes = Zeroizing::new(Vec::<u8>::new());
    bytes
        .try_reserve_exact(size)
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(size, 0);
    // SAFETY: llama.cpp writes as many bytes as it has just stated for this sequence, which nothing
    // changes in between, and the buffer has that size.
    let written = unsafe { context.state_seq_get_data_ext(bytes.as_mut_ptr(), CHAT, flags) };
    if written == size {
        Ok(bytes)
    } else {
        Err(io::Error::other("llama.cpp did not return the whole state"))
    }
}

/// Loads a state into the chat's sequence. Returns false if llama.cpp rejects it.
#[expect(
    unsafe_code,
    reason = "llama-cpp-2 gives no safe way to load a state from bytes"
)]
fn restore(context: &mut LlamaContext<'_>, state: &[u8]) -> bool {
    // SAFETY: the bytes come from a sealed file, so this app wrote them with `state`. The name of
    // the file contains the model, the size of the context and the worker that wrote it.
    unsafe { context.state_seq_set_data_ext(state, CHAT, LlamaStateSeqFlags::empty()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_split_where_it_was_joined() {
        // Tokens of pictures are negative.
        let tokens = [0, 7, -2_000_000_000, i32::MAX].map(LlamaToken);
        let mut content = header(&tokens).unwrap().to_vec();
        assert_eq!(split(&content), Some((tokens.to_vec(), &[][..])));
        content.extend_from_slice(b"state");
        assert_eq!(split(&content), Some((tokens.to_vec(), &b"state"[..])));
    }

    #[test]
    fn short_content_has_no_tokens() {
        for content in [&[][..], &[1, 0], &[2, 0, 0, 0, 9, 9, 9, 9], &[0xff; 9]] {
            assert_eq!(split(content), None, "{content:?}");
        }
    }
}
