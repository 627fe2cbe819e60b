//! Hostile files through the real program. Each file is refused with a message that names it and
//! the violated rule. Memory stays low, and nothing is written outside the data folder or
//! overwritten.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::world::{World, card};

/// Maximum peak memory of the program in KiB. The same program took 255 to 323 MiB for the largest
/// list that is read, at different hours on one machine.
const MAX_MEMORY: u64 = 360 << 10;
/// Timeout for an import. The released program must take less than five seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A file, and words of the expected message.
struct Case {
    file: &'static str,
    bytes: Vec<u8>,
    says: &'static str,
}

fn case(file: &'static str, bytes: impl Into<Vec<u8>>, says: &'static str) -> Case {
    Case {
        file,
        bytes: bytes.into(),
        says,
    }
}

fn chunk(kind: &str, data: &[u8]) -> Vec<u8> {
    let body = [kind.as_bytes(), data].concat();
    [
        &(data.len() as u32).to_be_bytes()[..],
        &body,
        &crc32fast::hash(&body).to_be_bytes(),
    ]
    .concat()
}

/// Builds a PNG that claims these dimensions, with `extra` chunks after its pixels.
pub(crate) fn png(width: u32, height: u32, extra: &[Vec<u8>]) -> Vec<u8> {
    let header = [
        &width.to_be_bytes()[..],
        &height.to_be_bytes(),
        &[8, 6, 0, 0, 0],
    ]
    .concat();
    let pixels = packed(&[0; 5]);
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk("IHDR", &header),
        chunk("IDAT", &pixels),
        extra.concat(),
        chunk("IEND", b""),
    ]
    .concat()
}

pub(crate) fn text(keyword: &str, text: &[u8]) -> Vec<u8> {
    chunk("tEXt", &[keyword.as_bytes(), b"\0", text].concat())
}

fn card_text(json: &str) -> Vec<u8> {
    text("chara", STANDARD.encode(json).as_bytes())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Builds an archive with a valid card and another member.
fn archive(name: &str, bytes: &[u8], how: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("card.json", SimpleFileOptions::default())
        .unwrap();
    zip.write_all(card("Wolf").as_bytes()).unwrap();
    zip.start_file(name, how).unwrap();
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap().into_inner()
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

fn with_link() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("card.json", SimpleFileOptions::default())
        .unwrap();
    zip.write_all(card("Wolf").as_bytes()).unwrap();
    zip.add_symlink("icon.png", "/etc/passwd", SimpleFileOptions::default())
        .unwrap();
    zip.finish().unwrap().into_inner()
}

/// Changes the central directory of an archive.
fn relisted(archive: Vec<u8>, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let end = archive.len() - 22;
    let start = u32::from_le_bytes(archive[end + 16..end + 20].try_into().unwrap()) as usize;
    let list = change(&archive[start..end]);
    let mut tail = archive[end..].to_vec();
    tail[12..16].copy_from_slice(&(list.len() as u32).to_le_bytes());
    [&archive[..start], &list, &tail].concat()
}

/// Builds an archive whose two members start at the same position.
fn overlapping() -> Vec<u8> {
    relisted(
        archive("other.json", card("Wolf").as_bytes(), stored()),
        |list| {
            let second = (1..list.len())
                .find(|at| list[*at..].starts_with(b"PK\x01\x02"))
                .unwrap();
            let mut list = list.to_vec();
            list[second + 42..second + 46].fill(0);
            list
        },
    )
}

/// Builds a ZIP64 archive, whose directory may list a million members.
fn crowd(count: u64) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("a", stored()).unwrap();
    let one = zip.finish().unwrap().into_inner();
    let end = one.len() - 22;
    let start = u32::from_le_bytes(one[end + 16..end + 20].try_into().unwrap()) as usize;
    let list = one[start..end].repeat(count as usize);
    let record = (start + list.len()) as u64;
    let mut bytes = [&one[..start], &list].concat();
    bytes.extend(b"PK\x06\x06");
    bytes.extend(44_u64.to_le_bytes());
    bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(
        [count, count, list.len() as u64, start as u64]
            .map(u64::to_le_bytes)
            .concat(),
    );
    bytes.extend(b"PK\x06\x07\0\0\0\0");
    bytes.extend(record.to_le_bytes());
    bytes.extend([1, 0, 0, 0]);
    bytes.extend([b"PK\x05\x06\0\0\0\0", &[0xff; 12][..], &[0, 0]].concat());
    bytes
}

/// Built one after the other, because some are as large as the limit.
type Cases = Vec<fn() -> Case>;

macro_rules! cases {
    ($($case:expr),* $(,)?) => { vec![$(|| $case),*] };
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default()
}

fn archives() -> Cases {
    cases![
        case(
            "slip.charx",
            archive("../../slipped.json", b"{}", deflated()),
            "lead out of a folder"
        ),
        case(
            "absolute.charx",
            archive("/tmp/slipped.json", b"{}", deflated()),
            "lead out of a folder"
        ),
        case(
            "drive.charx",
            archive("C:\\slipped.json", b"{}", deflated()),
            "lead out of a folder"
        ),
        case(
            "slip.byaf",
            archive("images/../../slipped.json", b"{}", deflated()),
            "lead out of a folder"
        ),
        case("link.charx", with_link(), "is a link"),
        case(
            "ratio.charx",
            archive("bomb.bin", &vec![0; 48 << 20], deflated()),
            "more than 200 times its packed size"
        ),
        case("overlap.charx", overlapping(), "overlap"),
        case("crowd.charx", crowd(1_000_000), "1000000 members"),
        case(
            "large.charx",
            archive("sound.wav", &vec![7; 97 << 20], stored()),
            "96"
        ),
        case(
            "full.charx",
            archive("sound.wav", &vec![7; 65 << 20], stored()),
            "takes 68157440 bytes"
        ),
        case(
            "deep.charx",
            archive("x_meta/a.json", b"{}", stored())[..200].to_vec(),
            "not a complete ZIP"
        ),
    ]
}

fn honest() -> Vec<u8> {
    card_text(&card("Wolf"))
}

/// A text chunk that decompresses to 64 MiB.
fn text_bomb(kind: &str, head: &[u8]) -> Vec<u8> {
    chunk(kind, &[head, &packed(&vec![b'A'; 64 << 20])].concat())
}

fn endless() -> Vec<u8> {
    let mut endless = png(1, 1, &[honest()]);
    let at = endless.windows(4).position(|kind| kind == b"tEXt").unwrap() - 4;
    endless[at..at + 4].copy_from_slice(&0x7fff_0000_u32.to_be_bytes());
    endless
}

/// A PNG with this text as its card.
fn holding(keyword: &str, base64: impl AsRef<[u8]>) -> Vec<u8> {
    png(1, 1, &[text(keyword, base64.as_ref())])
}

fn pictures() -> Cases {
    cases![
        case("giant.png", png(100_000, 100_000, &[honest()]), "16384"),
        case(
            "wide.png",
            png(16_000, 16_000, &[honest()]),
            "more than 100 MiB"
        ),
        case("just.png", png(5_000, 5_000, &[honest()]), "cannot be read"),
        case(
            "ztxt.png",
            png(1, 1, &[text_bomb("zTXt", b"chara\0\0")]),
            "the card text in the picture takes"
        ),
        case(
            "itxt.png",
            png(1, 1, &[text_bomb("iTXt", b"ccv3\0\x01\0\0\0")]),
            "the card text in the picture takes"
        ),
        case("length.png", endless(), "this picture is incomplete"),
        case(
            "base64.png",
            holding("chara", "*** no base64 ***"),
            "is not base64"
        ),
        case(
            "latin.png",
            holding("chara", STANDARD.encode(b"{\"name\":\"Ren\xe9\"}")),
            "not UTF-8"
        ),
        case(
            "text.png",
            holding("ccv3", vec![b'A'; (32 << 20) + 1]),
            "33554433 bytes"
        ),
        case(
            "long.png",
            holding("ccv3", STANDARD.encode(name_of(20 << 20))),
            "longer than 300"
        ),
        case(
            "described.png",
            holding("ccv3", STANDARD.encode(described(23 << 20))),
            "["
        ),
        case(
            "crowd.png",
            png(1, 1, &vec![chunk("tIME", b""); 70_000]),
            "too many parts"
        ),
        case(
            "naidata.png",
            holding("naidata", vec![b'A'; 40 << 20]),
            "contains no character card"
        ),
        case(
            "hundred.png",
            png(1, 1, &[chunk("IDAT", &vec![0; 100_000_000])]),
            "95 MiB"
        ),
    ]
}

fn name_of(length: usize) -> String {
    format!(r#"{{"description":"","name":"{}"}}"#, "x".repeat(length))
}

/// A valid card with a very long description.
fn described(length: usize) -> String {
    format!(
        r#"{{"name":"Wolf","description":"{}"}}"#,
        "word ".repeat(length / 5)
    )
}

fn listed(item: &str, count: usize) -> String {
    format!(
        r#"{{"name":"x","first_mes":"","a":[{}0]}}"#,
        format!("{item},").repeat(count)
    )
}

fn members() -> String {
    let members: String = (0..900_000).map(|at| format!(r#""{at}":0,"#)).collect();
    format!(r#"{{{members}"name":"x"}}"#)
}

fn deep(open: &str, close: &str) -> String {
    format!(
        r#"{{"name":"x","a":{}0{}}}"#,
        open.repeat(200_000),
        close.repeat(200_000)
    )
}

fn swipes() -> String {
    let swipes = format!(
        r#"{{"mes":"","send_date":"{}","swipes":[{}""]}}"#,
        "9".repeat(200),
        "\"\",".repeat(499)
    );
    format!("{swipes}\n").repeat(20_000)
}

fn texts() -> Cases {
    cases![
        case("deep.json", deep("[", "]"), "too many levels"),
        case("deeper.json", deep(r#"{"a":"#, "}"), "too many levels"),
        case("wide.json", listed("[]", 20 << 20), "limit is 25165824"),
        case("lists.json", listed("[]", 3_000_000), "too many values"),
        case(
            "objects.json",
            listed(r#"{"":0}"#, 1_000_000),
            "too many values"
        ),
        case("few.json", listed(r#"{"":0}"#, 140_000), "["),
        case("members.json", members(), "too many values"),
        case(
            "entries.json",
            format!(
                r#"{{"entries":[{{"key":["sea"],"content":"s"}},{}0]}}"#,
                "0,".repeat(1_000_000)
            ),
            "too many entries"
        ),
        case("string.json", described(60 << 20), "limit is 25165824"),
        case(
            "latin.json",
            b"{\"name\":\"Ren\xe9\",\"description\":\"\"}".to_vec(),
            "not UTF-8"
        ),
        case("name.json", name_of(1 << 20), "longer than 300"),
        case(
            "laughs.yaml",
            format!(
                "name: x\na: &a [x, x]\ngreeting: [{}*a]\n",
                "*a, ".repeat(100)
            ),
            "repeat"
        ),
        case(
            "lines.jsonl",
            "x\n".repeat(20 << 20),
            "not a SillyTavern chat"
        ),
        case("swipes.jsonl", swipes(), "versions"),
        case("large.jsonl", vec![b'x'; 65 << 20], "64"),
        case(
            "broken.gguf",
            [b"GGUF\x03\0\0\0", &[0xff; 16][..]].concat(),
            ""
        ),
    ]
}

/// Returns every file below a folder with its contents, except the files of the database.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            let working = ["inglenook.db", "inglenook.commits", "lock", "log"]
                .iter()
                .any(|part| name.contains(part));
            match path.is_dir() {
                true => open.push(path),
                false if !working => _ = found.insert(name, std::fs::read(&path).unwrap()),
                false => {}
            }
        }
    }
    found
}

/// Returns the peak memory of a running process in KiB.
fn high_water(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .trim()
        .strip_suffix(" kB")?
        .trim()
        .parse()
        .ok()
}

struct Ran {
    code: Option<i32>,
    out: String,
    peak: u64,
    took: Duration,
}

/// Runs a command and samples its peak memory. The peak only rises, so the last sample misses only
/// the final moment.
fn run(mut command: Command) -> Ran {
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut out = String::new();
        stdout.read_to_string(&mut out).unwrap();
        out
    });
    let mut peak = 0;
    let status = loop {
        peak = high_water(&child).unwrap_or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(2));
    };
    Ran {
        code: status.code(),
        out: reader.join().unwrap(),
        peak,
        took: began.elapsed(),
    }
}

/// Imports a file and then checks the home, working and temporary folders.
fn import(world: &World, file: &Path) -> Ran {
    let mut command = world.command(&["import", "--json", file.to_str().unwrap()]);
    let around = world.path("around");
    command
        .current_dir(&around)
        .env("HOME", &around)
        .env("TMPDIR", &around);
    run(command)
}

fn check(cases: Cases) {
    let world = World::without_model();
    world.file("around/keep.txt", "mine");
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let characters = world.json(&["list", "characters"]);
    let (around, data) = (kept(&world.path("around")), kept(&world.data_dir()));
    let mut wrong = Vec::new();
    for make in cases {
        let Case { file, bytes, says } = make();
        let path = world.path(file);
        std::fs::write(&path, &bytes).unwrap();
        drop(bytes);
        let ran = import(&world, &path);
        std::fs::remove_file(&path).unwrap();
        let report: Value = serde_json::from_str(&ran.out).unwrap_or_default();
        let message = message_in(&report, file);
        eprintln!(
            "{file:16} {:4} MiB {:6} ms  {message}",
            ran.peak >> 10,
            ran.took.as_millis()
        );
        if !message.contains(says) || message.is_empty() || ran.code.is_none_or(|code| code > 1) {
            wrong.push(format!("{file}: {:?} {}", ran.code, ran.out));
        }
        if ran.peak > MAX_MEMORY || (cfg!(unix) && ran.peak == 0) {
            wrong.push(format!("{file}: {} KiB", ran.peak));
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
    assert_eq!(
        kept(&world.path("around")),
        around,
        "files outside the data folder are unchanged"
    );
    let now = kept(&world.data_dir());
    assert!(
        data.iter()
            .all(|(name, bytes)| now.get(name) == Some(bytes)),
        "no file was overwritten"
    );
    let still = world.json(&["list", "characters"]);
    assert!(
        characters["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| still["items"].as_array().unwrap().contains(one))
    );
}

/// Returns the reason for a refusal, or a description of the imported item.
fn message_in(report: &Value, file: &str) -> String {
    let of_file = |list: &str| {
        report[list]
            .as_array()
            .into_iter()
            .flatten()
            .find(|one| one["file"] == file)
            .cloned()
    };
    match (of_file("refused"), of_file("imported")) {
        (Some(refused), _) => refused["reason"].as_str().unwrap().to_owned(),
        (None, Some(imported)) => imported["warnings"].to_string(),
        (None, None) => String::new(),
    }
}

#[test]
fn refuses_hostile_archives() {
    check(archives());
}

#[test]
fn refuses_hostile_pictures() {
    check(pictures());
}

#[test]
fn refuses_hostile_texts() {
    check(texts());
}

/// Symbolic links in a folder are not followed.
#[cfg(unix)]
#[test]
fn does_not_follow_links_in_a_folder() {
    let world = World::without_model();
    world.file("cards/inside.json", card("Inside"));
    world.file("secret/outside.json", card("Outside"));
    std::os::unix::fs::symlink(
        world.path("secret/outside.json"),
        world.path("cards/link.json"),
    )
    .unwrap();
    std::os::unix::fs::symlink(world.path("secret"), world.path("cards/folder")).unwrap();
    std::os::unix::fs::symlink(world.path("cards"), world.path("cards/round")).unwrap();
    let report = world.json(&["import", world.path("cards").to_str().unwrap()]);
    let names: Vec<_> = report["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["Inside"], "{report}");
    assert!(
        report["skipped"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("link"),
        "{report}"
    );
}
