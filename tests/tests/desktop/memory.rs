//! Looks for a text in the memory of processes of this test.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use aho_corasick::AhoCorasick;

use crate::processes;

/// Bytes that are read at once.
const CHUNK: usize = 4 << 20;
const PAGE: u64 = 4096;
/// Pages whose entries are read at once.
const PAGES: u64 = 1 << 16;
/// Bits of an entry in `/proc/PID/pagemap` whose page has content: in memory, or swapped.
const HAS_CONTENT: u64 = 0b11 << 62;
/// Bytes that two reads share, more than a text has.
const OVERLAP: usize = 1 << 10;

/// Whether a process or one of its descendants has `text` in its memory, in UTF-8 or UTF-16.
pub(crate) fn tree_holds(root: u32, text: &str) -> bool {
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(utf16.len() < OVERLAP, "{text} is too long");
    let search = AhoCorasick::new([text.as_bytes(), &utf16[..]]).unwrap();
    processes::tree(root)
        .into_iter()
        .any(|id| holds(id, &search))
}

fn holds(id: u32, search: &AhoCorasick) -> bool {
    let open = |name| File::open(format!("/proc/{id}/{name}"));
    match open("mem").and_then(|memory| Ok((memory, open("pagemap")?))) {
        Ok((memory, pages)) => mappings(id)
            .into_iter()
            .flat_map(|range| with_content(&pages, range))
            .any(|range| holds_in(&memory, range, search)),
        Err(error) => {
            assert!(
                !processes::is_alive(id),
                "the memory of process {id} cannot be read: {error}"
            );
            false
        }
    }
}

fn holds_in(memory: &File, range: Range<u64>, search: &AhoCorasick) -> bool {
    let mut buffer = vec![0; CHUNK];
    let mut at = range.start;
    while at < range.end {
        let left = usize::try_from(range.end - at).unwrap();
        let part = &mut buffer[..left.min(CHUNK)];
        // Memory of a device has no bytes to read.
        let Ok(read @ 1..) = memory.read_at(part, at) else {
            return false;
        };
        if search.is_match(&part[..read]) {
            return true;
        }
        let is_last = read == left || read <= OVERLAP;
        let step = if is_last { read } else { read - OVERLAP };
        at += step as u64;
    }
    false
}

/// The readable memory of a process, without unchanged files such as libraries.
fn mappings(id: u32) -> Vec<Range<u64>> {
    let maps = fs::read_to_string(format!("/proc/{id}/maps")).unwrap_or_default();
    maps.lines().filter_map(mapping).collect()
}

/// The parts of a mapping that have content. WebKit reserves gigabytes that it does not use.
fn with_content(pages: &File, mapping: Range<u64>) -> Vec<Range<u64>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut entries = vec![0; usize::try_from(PAGES * 8).unwrap()];
    let mut at = mapping.start;
    while at < mapping.end {
        let count = PAGES.min((mapping.end - at) / PAGE);
        let entries = &mut entries[..usize::try_from(count * 8).unwrap()];
        if pages.read_exact_at(entries, at / PAGE * 8).is_err() {
            break;
        }
        for entry in entries.chunks_exact(8) {
            if u64::from_le_bytes(entry.try_into().unwrap()) & HAS_CONTENT != 0 {
                match parts.last_mut() {
                    Some(last) if last.end == at => last.end += PAGE,
                    _ => parts.push(at..at + PAGE),
                }
            }
            at += PAGE;
        }
    }
    parts
}

/// Reads a line such as `7f00-7f80 rw-p 00000000 00:00 0 [heap]`.
fn mapping(line: &str) -> Option<Range<u64>> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let path = words.nth(3).unwrap_or_default();
    let is_unchanged = path.starts_with('/') && matches!(rights, "r--p" | "r-xp");
    // `[vvar]` and `[vsyscall]` belong to the kernel.
    if !rights.starts_with('r') || is_unchanged || path.starts_with("[v") {
        return None;
    }
    let number = |hex| u64::from_str_radix(hex, 16).ok();
    Some(number(start)?..number(end)?)
}
