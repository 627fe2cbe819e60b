//! Writing, reading and changing sealed files.

use std::io::{self, Cursor, Read as _, Seek as _, SeekFrom, Write as _};

use proptest::prelude::*;
use protection::{
    DataKey, FileKey, SEALED_MAGIC, SealedFileError, SealedName, SealedReader, SealedWriter,
    sealed_content_bytes,
};

use crate::rounds;
use crate::world::{CHUNK, HEADER, SEALED_CHUNK, content, seal, unseal};

/// A key and a name for one file.
struct Place {
    key: FileKey,
    name: SealedName,
}

impl Place {
    fn new() -> Self {
        let key = DataKey::generate().unwrap();
        Self {
            key: key.file_key(),
            name: key.name_key().sealed_name("assets/lamp.png"),
        }
    }

    fn seal(&self, content: &[u8]) -> Vec<u8> {
        seal(content, &self.key, &self.name)
    }

    fn unseal(&self, file: &[u8]) -> Result<Vec<u8>, SealedFileError> {
        unseal(file, &self.key, &self.name)
    }

    fn reader(&self, file: Vec<u8>) -> SealedReader<Cursor<Vec<u8>>> {
        SealedReader::open(Cursor::new(file), &self.key, &self.name)
            .ok()
            .unwrap()
    }

    /// The error of a changed file.
    #[track_caller]
    fn refusal(&self, file: &[u8]) -> SealedFileError {
        self.unseal(file).unwrap_err()
    }
}

#[track_caller]
fn assert_damaged(error: &SealedFileError, expected: u32) {
    match error {
        SealedFileError::Damaged { chunk } => assert_eq!(*chunk, expected),
        other => panic!("{other:?}"),
    }
}

/// The bytes of a sealed chunk.
fn chunk(number: usize) -> std::ops::Range<usize> {
    let start = HEADER + number * SEALED_CHUNK;
    start..start + SEALED_CHUNK
}

#[test]
fn content_around_chunk_borders_is_read_again() {
    let place = Place::new();
    for border in [0, CHUNK, 2 * CHUNK] {
        for length in border.saturating_sub(1)..=border + 1 {
            let content = content(length);
            let sealed = place.seal(&content);
            let chunks = length.div_ceil(CHUNK).max(1);
            assert_eq!(sealed.len(), HEADER + length + 16 * chunks);
            assert!(place.unseal(&sealed).unwrap() == content, "{length}");
        }
    }
}

#[test]
fn sealed_file_does_not_show_content() {
    let place = Place::new();
    let text = "The lamps burn whale oil. ".repeat(10_000);
    let sealed = place.seal(text.as_bytes());
    assert!(!sealed.windows(6).any(|bytes| bytes == b"whale "));
    assert_ne!(sealed, place.seal(text.as_bytes()));
}

#[test]
fn another_name_or_key_does_not_open() {
    let place = Place::new();
    let sealed = place.seal(b"The lamps burn whale oil.");
    let other = Place::new();
    assert_damaged(&unseal(&sealed, &place.key, &other.name).unwrap_err(), 0);
    assert_damaged(&unseal(&sealed, &other.key, &place.name).unwrap_err(), 0);
    let data_key = DataKey::generate().unwrap();
    let sealed = seal(b"oil", &data_key.file_key(), &place.name);
    let private = data_key.private_folder_key();
    for key in [
        data_key.cache_key(),
        private.file_key(),
        private.cache_key(),
    ] {
        assert_damaged(&unseal(&sealed, &key, &place.name).unwrap_err(), 0);
    }
}

#[test]
fn file_cut_at_a_chunk_is_truncated() {
    let place = Place::new();
    let sealed = place.seal(&content(3 * CHUNK));
    for chunks in 0..3 {
        let cut = &sealed[..HEADER + chunks * SEALED_CHUNK];
        assert!(matches!(place.refusal(cut), SealedFileError::Truncated));
    }
    let within_tag = &sealed[..HEADER + SEALED_CHUNK + 15];
    assert!(matches!(
        place.refusal(within_tag),
        SealedFileError::Truncated
    ));
}

#[test]
fn file_cut_within_a_chunk_is_damaged() {
    let place = Place::new();
    let sealed = place.seal(&content(2 * CHUNK));
    assert_damaged(&place.refusal(&sealed[..sealed.len() - 1]), 1);
    assert_damaged(&place.refusal(&sealed[..HEADER + 100]), 0);
}

#[test]
fn appended_bytes_are_refused() {
    let place = Place::new();
    for length in [0, 100, CHUNK, 2 * CHUNK] {
        for more in [1, 16, SEALED_CHUNK] {
            let mut sealed = place.seal(&content(length));
            sealed.extend(vec![0; more]);
            let error = place.refusal(&sealed);
            assert!(
                matches!(
                    error,
                    SealedFileError::Damaged { .. } | SealedFileError::Truncated
                ),
                "{length} {more} {error:?}"
            );
        }
    }
}

#[test]
fn moved_doubled_and_missing_chunks_are_refused() {
    let place = Place::new();
    let sealed = place.seal(&content(4 * CHUNK - 7));
    let mut swapped = sealed.clone();
    swapped[chunk(0)].copy_from_slice(&sealed[chunk(1)]);
    swapped[chunk(1)].copy_from_slice(&sealed[chunk(0)]);
    assert_damaged(&place.refusal(&swapped), 0);
    let mut copied = sealed.clone();
    copied[chunk(2)].copy_from_slice(&sealed[chunk(1)]);
    assert_damaged(&place.refusal(&copied), 2);
    let doubled = [&sealed[..chunk(1).end], &sealed[chunk(1).start..]].concat();
    assert_damaged(&place.refusal(&doubled), 4);
    let missing = [&sealed[..chunk(1).start], &sealed[chunk(1).end..]].concat();
    assert_damaged(&place.refusal(&missing), 2);
}

#[test]
fn chunk_of_another_file_is_refused() {
    let place = Place::new();
    let [mut sealed, other] = [
        place.seal(&content(2 * CHUNK)),
        place.seal(&content(2 * CHUNK)),
    ];
    sealed[chunk(0)].copy_from_slice(&other[chunk(0)]);
    assert_damaged(&place.refusal(&sealed), 0);
}

#[test]
fn plain_and_newer_files_are_named() {
    let place = Place::new();
    let mut sealed = place.seal(b"oil");
    for plain in [&b""[..], b"oil", &[0; 1_000], &sealed[..HEADER - 1]] {
        assert!(matches!(place.refusal(plain), SealedFileError::NotSealed));
    }
    sealed[8] = 2;
    assert!(matches!(
        place.refusal(&sealed),
        SealedFileError::NewerVersion { found: 2 }
    ));
}

#[test]
fn unfinished_file_does_not_open() {
    let place = Place::new();
    for length in [0, 100, CHUNK, 3 * CHUNK] {
        let mut file = Vec::new();
        let mut writer = SealedWriter::new(&mut file, &place.key, &place.name).unwrap();
        writer.write_all(&content(length)).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert!(matches!(place.refusal(&file), SealedFileError::Truncated));
    }
}

#[test]
fn part_of_a_damaged_file_is_still_read() {
    let place = Place::new();
    let content = content(3 * CHUNK);
    let mut sealed = place.seal(&content);
    sealed[chunk(1).start] ^= 1;
    let mut reader = place.reader(sealed);
    let mut part = [0; 100];
    for start in [CHUNK - 100, 2 * CHUNK] {
        reader.seek(SeekFrom::Start(start as u64)).unwrap();
        reader.read_exact(&mut part).unwrap();
        assert_eq!(part[..], content[start..start + 100]);
    }
    reader.seek(SeekFrom::Start(CHUNK as u64)).unwrap();
    let error = reader.read(&mut part).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let source = error.into_inner().unwrap();
    assert_damaged(source.downcast_ref().unwrap(), 1);
}

#[test]
fn places_outside_the_content_read_as_in_a_file() {
    let place = Place::new();
    let mut reader = place.reader(place.seal(b"whale oil"));
    assert_eq!(reader.content_bytes(), 9);
    assert_eq!(reader.seek(SeekFrom::End(-3)).unwrap(), 6);
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "oil");
    assert_eq!(reader.seek(SeekFrom::Current(1_000)).unwrap(), 1_009);
    assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
    let before = reader.seek(SeekFrom::Current(-2_000)).unwrap_err();
    assert_eq!(before.kind(), io::ErrorKind::InvalidInput);
    assert_eq!(reader.stream_position().unwrap(), 1_009);
}

/// Lengths of up to four chunks, half of them near a border.
fn length() -> impl Strategy<Value = usize> {
    let near = (0..4_usize, 0..40_usize)
        .prop_map(|(chunks, more)| (chunks * CHUNK + more).saturating_sub(20));
    prop_oneof![near, 0..4 * CHUNK]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(300)))]

    #[test]
    fn any_length_in_any_pieces_is_read_again(
        length in length(), pieces in prop::collection::vec(1..100_000_usize, 1..8),
    ) {
        let place = Place::new();
        let content = content(length);
        let mut writer = SealedWriter::new(Vec::new(), &place.key, &place.name).unwrap();
        let mut rest = &content[..];
        for piece in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at((*piece).min(rest.len()));
            writer.write_all(now).unwrap();
            rest = later;
        }
        prop_assert!(place.unseal(&writer.finish().unwrap()).unwrap() == content);
    }

    #[test]
    fn any_part_equals_the_content(
        length in length(), start in any::<prop::sample::Index>(), size in 1..100_000_usize,
    ) {
        let place = Place::new();
        let content = content(length);
        let start = start.index(length + 1);
        let mut reader = place.reader(place.seal(&content));
        reader.seek(SeekFrom::Start(start as u64)).unwrap();
        let mut part = Vec::new();
        reader.take(size as u64).read_to_end(&mut part).unwrap();
        prop_assert!(part == content[start..(start + size).min(length)]);
    }

    #[test]
    fn any_flipped_bit_is_refused(
        length in length(), byte in any::<prop::sample::Index>(), bit in 0..8_u32,
    ) {
        let place = Place::new();
        let mut sealed = place.seal(&content(length));
        let byte = byte.index(sealed.len());
        sealed[byte] ^= 1 << bit;
        let error = place.refusal(&sealed);
        match byte {
            0..8 => prop_assert!(matches!(error, SealedFileError::NotSealed)),
            8 => {
                let fits = matches!(
                    error,
                    SealedFileError::NotSealed | SealedFileError::NewerVersion { .. }
                );
                prop_assert!(fits, "{error}");
            }
            // The last chunk is opened first.
            9..HEADER => assert_damaged(&error, last_chunk(length)),
            _ => assert_damaged(&error, ((byte - HEADER) / SEALED_CHUNK) as u32),
        }
    }

    #[test]
    fn any_cut_is_refused(length in length(), left in any::<prop::sample::Index>()) {
        let place = Place::new();
        let sealed = place.seal(&content(length));
        let error = place.refusal(&sealed[..left.index(sealed.len())]);
        let fits = matches!(
            error,
            SealedFileError::NotSealed
                | SealedFileError::Truncated
                | SealedFileError::Damaged { .. }
        );
        prop_assert!(fits, "{error}");
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let place = Place::new();
        prop_assert!(place.unseal(&bytes).is_err());
        let sealed = [&place.seal(b"")[..HEADER], &bytes].concat();
        prop_assert!(place.unseal(&sealed).is_err());
    }
}

fn last_chunk(length: usize) -> u32 {
    (length.div_ceil(CHUNK).max(1) - 1) as u32
}

#[test]
fn the_size_of_a_file_gives_that_of_its_content() {
    let place = Place::new();
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
        let sealed = place.seal(&content(length));
        assert!(sealed.starts_with(SEALED_MAGIC));
        let bytes = sealed_content_bytes(sealed.len() as u64).unwrap();
        assert_eq!(bytes, length as u64);
    }
    for size in [0, HEADER, HEADER + 15, HEADER + SEALED_CHUNK + 15] {
        assert!(sealed_content_bytes(size as u64).is_err(), "{size}");
    }
}
