//! Whether the swap space of this Linux system is encrypted: parts of texts and keys in memory can be
//! written to it at any time.
//!
//! A device is encrypted if dm-crypt makes it, or if all devices below it are encrypted, such as LVM
//! on LUKS. A swap file is as encrypted as the device of its file system. A device without a number,
//! such as that of btrfs, is unknown.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::api::SwapProtection;

/// Targets of the device mapper whose ids begin like those of dm-crypt. They encrypt nothing.
const NOT_ENCRYPTING: [&str; 3] = ["CRYPT-VERITY-", "CRYPT-INTEGRITY-", "CRYPT-SUBDEV-"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AreaKind {
    Device,
    File,
}

/// A row of `/proc/swaps`.
#[derive(Debug, PartialEq, Eq)]
struct SwapArea {
    path: PathBuf,
    kind: AreaKind,
}

/// A place to read about swap space. Tests have a folder and numbers of their own.
struct System<'s> {
    root: &'s Path,
    /// The number `MAJOR:MINOR` of a device, or of the device that a file is on.
    number: &'s dyn Fn(&SwapArea) -> Option<String>,
}

pub(super) fn swap_protection() -> SwapProtection {
    let here = System {
        root: Path::new("/"),
        number: &device_number,
    };
    here.protection()
}

impl System<'_> {
    fn protection(&self) -> SwapProtection {
        match fs::read_to_string(self.root.join("proc/swaps")) {
            Ok(table) => worst(areas(&table).iter().map(|area| self.area(area))),
            Err(_) => SwapProtection::Unknown,
        }
    }

    fn area(&self, area: &SwapArea) -> SwapProtection {
        let Some(number) = (self.number)(area) else {
            return SwapProtection::Unknown;
        };
        match fs::canonicalize(self.root.join("sys/dev/block").join(number)) {
            Ok(device) => self.device(&device),
            Err(_) => SwapProtection::Unknown,
        }
    }

    /// `device` is a folder of sysfs.
    fn device(&self, device: &Path) -> SwapProtection {
        if is_zram(device) {
            return self.memory_device(device);
        }
        if is_encrypted(device) {
            SwapProtection::Encrypted
        } else {
            SwapProtection::Plain
        }
    }

    /// Compressed memory is on no disk, unless it has a device for pages that do not fit.
    fn memory_device(&self, device: &Path) -> SwapProtection {
        let backing = fs::read_to_string(device.join("backing_dev")).unwrap_or_default();
        match backing.trim() {
            "" | "none" => SwapProtection::Encrypted,
            path => self.area(&SwapArea {
                path: path.into(),
                kind: AreaKind::Device,
            }),
        }
    }
}

fn worst(areas: impl Iterator<Item = SwapProtection>) -> SwapProtection {
    areas.max().unwrap_or(SwapProtection::None)
}

fn areas(table: &str) -> Vec<SwapArea> {
    table.lines().skip(1).filter_map(area).collect()
}

fn area(line: &str) -> Option<SwapArea> {
    let mut columns = line.split_whitespace();
    let path = unescaped(columns.next()?).into();
    let kind = match columns.next()? {
        "partition" => AreaKind::Device,
        _ => AreaKind::File,
    };
    Some(SwapArea { path, kind })
}

/// The kernel writes a blank or a backslash in a path as `\` and three octal digits.
fn unescaped(written: &str) -> String {
    let mut pieces = written.split('\\');
    let mut path = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let escape = piece.split_at_checked(3);
        let letter = escape.and_then(|(digits, _)| u8::from_str_radix(digits, 8).ok());
        path.extend(letter.map(char::from));
        path.push_str(escape.map_or(piece, |(_, rest)| rest));
    }
    path
}

fn is_zram(device: &Path) -> bool {
    let name = device.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with("zram")
}

fn is_encrypted(device: &Path) -> bool {
    let id = fs::read_to_string(device.join("dm/uuid")).unwrap_or_default();
    let is_similar = NOT_ENCRYPTING.iter().any(|prefix| id.starts_with(prefix));
    if id.starts_with("CRYPT-") && !is_similar {
        return true;
    }
    let below = devices_below(device);
    !below.is_empty() && below.iter().all(|device| is_encrypted(device))
}

fn devices_below(device: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(device.join("slaves")) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn device_number(area: &SwapArea) -> Option<String> {
    let metadata = fs::metadata(&area.path).ok()?;
    let number = match area.kind {
        AreaKind::Device => metadata.rdev(),
        AreaKind::File => metadata.dev(),
    };
    Some(shown_number(number))
}

/// Splits a device number as the C library does.
fn shown_number(number: u64) -> String {
    let major = ((number >> 8) & 0xfff) | ((number >> 32) & 0xffff_f000);
    let minor = (number & 0xff) | ((number >> 12) & 0xffff_ff00);
    format!("{major}:{minor}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    const HEADER: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

    /// A root folder whose devices have their names as numbers.
    struct FakeRoot(TempDir);

    impl FakeRoot {
        fn new() -> Self {
            let root = Self(TempDir::new().unwrap());
            fs::create_dir_all(root.0.path().join("sys/dev/block")).unwrap();
            root
        }

        fn device(&self, name: &str) -> PathBuf {
            let folder = self.0.path().join("sys/devices").join(name);
            fs::create_dir_all(folder.join("slaves")).unwrap();
            symlink(&folder, self.0.path().join("sys/dev/block").join(name)).unwrap();
            folder
        }

        fn mapped(&self, name: &str, id: &str, below: &[&str]) {
            let folder = self.device(name);
            fs::create_dir(folder.join("dm")).unwrap();
            fs::write(folder.join("dm/uuid"), format!("{id}\n")).unwrap();
            for lower in below {
                let target = self.0.path().join("sys/devices").join(lower);
                symlink(target, folder.join("slaves").join(lower)).unwrap();
            }
        }

        /// Files are on the device `root-device`, unless they are in the folder `away`.
        fn protection(&self, rows: &[&str]) -> SwapProtection {
            fs::create_dir_all(self.0.path().join("proc")).unwrap();
            let table = format!("{HEADER}{}\n", rows.join("\n"));
            fs::write(self.0.path().join("proc/swaps"), table).unwrap();
            let number = |area: &SwapArea| match area.kind {
                AreaKind::File if area.path.starts_with("/away") => None,
                AreaKind::File => Some("root-device".to_owned()),
                AreaKind::Device => area.path.file_name()?.to_str().map(str::to_owned),
            };
            let system = System {
                root: self.0.path(),
                number: &number,
            };
            system.protection()
        }
    }

    #[test]
    fn table_of_swaps_is_read() {
        let table = format!(
            "{HEADER}/dev/dm-1    partition\t8388604\t\t0\t\t-2\n/my\\040swap\\134file\tfile\t\t1024\t\t0\t\t-3\n"
        );
        let expected = [
            SwapArea {
                path: "/dev/dm-1".into(),
                kind: AreaKind::Device,
            },
            SwapArea {
                path: "/my swap\\file".into(),
                kind: AreaKind::File,
            },
        ];
        assert_eq!(areas(&table), expected);
        assert!(areas(HEADER).is_empty());
    }

    #[test]
    fn device_numbers_are_split_like_in_the_c_library() {
        assert_eq!(shown_number(0xfd01), "253:1");
        assert_eq!(shown_number(0x0000_0000_0010_0802), "8:258");
    }

    #[test]
    fn system_without_swap_has_none() {
        assert_eq!(FakeRoot::new().protection(&[]), SwapProtection::None);
    }

    #[test]
    fn swap_is_unknown_without_the_table() {
        let empty = TempDir::new().unwrap();
        let system = System {
            root: empty.path(),
            number: &|_| None,
        };
        assert_eq!(system.protection(), SwapProtection::Unknown);
    }

    #[test]
    fn partition_is_plain() {
        let root = FakeRoot::new();
        root.device("sda2");
        let found = root.protection(&["/dev/sda2 partition 1 0 -2"]);
        assert_eq!(found, SwapProtection::Plain);
    }

    #[test]
    fn crypt_device_and_volume_on_it_are_encrypted() {
        let root = FakeRoot::new();
        root.device("sda3");
        root.mapped("dm-0", "CRYPT-LUKS2-0123-luks", &["sda3"]);
        root.mapped("dm-1", "LVM-4567", &["dm-0"]);
        for row in ["/dev/dm-0 partition 1 0 -2", "/dev/dm-1 partition 1 0 -2"] {
            assert_eq!(root.protection(&[row]), SwapProtection::Encrypted, "{row}");
        }
    }

    #[test]
    fn volume_partly_on_a_plain_device_is_plain() {
        let root = FakeRoot::new();
        root.device("sda3");
        root.device("sdb1");
        root.mapped("dm-0", "CRYPT-LUKS2-0123-luks", &["sda3"]);
        root.mapped("dm-1", "LVM-4567", &["dm-0", "sdb1"]);
        root.mapped("dm-2", "CRYPT-VERITY-89ab", &["sdb1"]);
        for row in ["/dev/dm-1 partition 1 0 -2", "/dev/dm-2 partition 1 0 -2"] {
            assert_eq!(root.protection(&[row]), SwapProtection::Plain, "{row}");
        }
    }

    #[test]
    fn swap_file_is_as_encrypted_as_its_file_system() {
        let row = "/swapfile file 1 0 -2";
        let plain = FakeRoot::new();
        plain.device("root-device");
        assert_eq!(plain.protection(&[row]), SwapProtection::Plain);
        let encrypted = FakeRoot::new();
        encrypted.mapped("root-device", "CRYPT-LUKS1-0123-root", &[]);
        assert_eq!(encrypted.protection(&[row]), SwapProtection::Encrypted);
    }

    #[test]
    fn device_that_is_not_found_is_unknown() {
        let root = FakeRoot::new();
        for row in ["/away/swapfile file 1 0 -2", "/swapfile file 1 0 -2"] {
            assert_eq!(root.protection(&[row]), SwapProtection::Unknown, "{row}");
        }
    }

    #[test]
    fn compressed_memory_counts_without_a_disk_behind_it() {
        let root = FakeRoot::new();
        let zram = root.device("zram0");
        root.device("sda2");
        let row = "/dev/zram0 partition 1 0 100";
        assert_eq!(root.protection(&[row]), SwapProtection::Encrypted);
        fs::write(zram.join("backing_dev"), "none\n").unwrap();
        assert_eq!(root.protection(&[row]), SwapProtection::Encrypted);
        fs::write(zram.join("backing_dev"), "/dev/sda2\n").unwrap();
        assert_eq!(root.protection(&[row]), SwapProtection::Plain);
    }

    #[test]
    fn one_plain_area_makes_all_plain() {
        let root = FakeRoot::new();
        root.device("zram0");
        root.device("sda2");
        let zram = "/dev/zram0 partition 1 0 100";
        let away = "/away/swapfile file 1 0 -2";
        let disk = "/dev/sda2 partition 1 0 -2";
        assert_eq!(root.protection(&[zram, away]), SwapProtection::Unknown);
        assert_eq!(root.protection(&[disk, zram, away]), SwapProtection::Plain);
    }
}
