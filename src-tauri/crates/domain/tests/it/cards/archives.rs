//! Builds archives for tests: regular ones, and ones with false directories.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// Builds a regular archive.
pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Unpacks all members.
pub(crate) fn members(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let count = zip.len();
    let read = |at| {
        let mut member = zip.by_index(at).unwrap();
        let (name, mut bytes) = (member.name().unwrap().into_owned(), Vec::new());
        member.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    (0..count).map(read).collect()
}

pub(crate) fn all_but_the_card(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut all = members(archive);
    assert!(all.remove("card.json").is_some());
    all
}

/// Directory data of a member, true or false. The data is stored uncompressed.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) name: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    /// Unpacked size.
    pub(crate) size: u32,
    pub(crate) packed: u32,
    /// Unix file mode.
    pub(crate) mode: u32,
    /// Index of the member whose data this entry points at, if not its own.
    pub(crate) data_of: Option<usize>,
}

impl Listed {
    pub(crate) fn new(name: &str, bytes: &[u8]) -> Self {
        let size = bytes.len() as u32;
        Self {
            name: name.into(),
            bytes: bytes.to_vec(),
            flags: 0,
            method: 0,
            size,
            packed: size,
            mode: 0o100_644,
            data_of: None,
        }
    }
}

/// Builds an archive with exactly this directory.
pub(crate) fn listed(members: &[Listed]) -> Vec<u8> {
    let (mut bytes, mut list, mut starts) = (Vec::new(), Vec::new(), Vec::<u32>::new());
    for member in members {
        let crc = crc32fast::hash(&member.bytes).to_le_bytes();
        let fields = [
            &member.flags.to_le_bytes()[..],
            &member.method.to_le_bytes(),
            &[0, 0, 0x21, 0],
            &crc,
            &member.packed.to_le_bytes(),
            &member.size.to_le_bytes(),
            &(member.name.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        starts.push(bytes.len() as u32);
        let start = starts[member.data_of.unwrap_or(starts.len() - 1)];
        bytes.extend(
            [
                b"PK\x03\x04\x14\x00",
                &fields[..],
                &member.name,
                &member.bytes,
            ]
            .concat(),
        );
        // Created on Unix, so that readers use the mode.
        list.extend([b"PK\x01\x02\x14\x03\x14\x00", &fields[..], &[0; 6]].concat());
        list.extend((member.mode << 16).to_le_bytes());
        list.extend([&start.to_le_bytes()[..], &member.name].concat());
    }
    let (at, count) = (bytes.len() as u32, members.len() as u16);
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    bytes.extend([(list.len() as u32).to_le_bytes(), at.to_le_bytes()].concat());
    bytes.extend([0, 0]);
    bytes
}

/// Builds a ZIP64 archive whose directory lists `count` empty members.
pub(crate) fn crowd(count: u64) -> Vec<u8> {
    let first = listed(&[Listed::new("a", b"")]);
    let (at, end) = (31, first.len() - 22);
    let member = first[at..end].to_vec();
    let mut bytes = first[..at].to_vec();
    for _ in 0..count {
        bytes.extend(&member);
    }
    let record = bytes.len() as u64;
    let length = record - at as u64;
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44_u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(
        [count, count, length, at as u64]
            .map(u64::to_le_bytes)
            .concat(),
    );
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(record.to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &[0xff; 12][..], &[0, 0]].concat());
    bytes
}
