//! The compilers that make Windows programs on Linux.
//!
//! Rust's is the one of rustup if its target is installed. Else Debian's `rustc-web` also compiles
//! the standard library, from the sources in `rust-web-src`. C and C++ are compiled by MinGW.

use crate::process::{cargo_program, command, file_name, output, root, run, target};
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Target triple of the programs.
pub(crate) const TARGET: &str = "x86_64-pc-windows-gnu";

/// Folder of Debian's `rustc` and `cargo`, which are not rustup's.
const DEBIAN: &str = "/usr/bin";
const C_COMPILER: &str = "x86_64-w64-mingw32-gcc-posix";
const CXX_COMPILER: &str = "x86_64-w64-mingw32-g++-posix";
const ARCHIVER: &str = "x86_64-w64-mingw32-ar";
const STRIP: &str = "x86_64-w64-mingw32-strip";

/// Libraries of MinGW that llama.cpp's libraries are linked with.
const RUNTIME: [&str; 4] = [
    "libgcc_s_seh-1.dll",
    "libgomp-1.dll",
    "libstdc++-6.dll",
    "libwinpthread-1.dll",
];

/// The compilers found on this machine.
pub(crate) struct Toolchain {
    /// Whether the standard library is compiled too.
    builds_std: bool,
}

impl Toolchain {
    /// Finds the compilers.
    ///
    /// # Errors
    /// There is no Rust compiler for Windows.
    pub(crate) fn find() -> Result<Self> {
        let sysroot = output(command("rustc").args(["--print", "sysroot"])).unwrap_or_default();
        let library = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET);
        if library.is_dir() {
            return Ok(Self { builds_std: false });
        }
        if !Path::new(DEBIAN).join("rustc").is_file() {
            bail!(
                "there is no Rust compiler for Windows; run `rustup target add {TARGET}`, or install rustc-web, \
                 cargo-web and rust-web-src on Debian 12"
            );
        }
        eprintln!("Building with Debian's Rust, because rustup's target {TARGET} is not installed");
        Ok(Self { builds_std: true })
    }

    /// Creates a call of cargo for Windows.
    ///
    /// # Errors
    /// This program is not in a target folder.
    pub(crate) fn cargo(&self, subcommand: &str) -> Result<Command> {
        let include = root().join("src-tauri/crates/xtask/windows/mingw.h");
        let flags = format!("-include {}", include.display());
        let mut call = if self.builds_std {
            debian_cargo(subcommand)?
        } else {
            let mut call = command(cargo_program());
            call.arg(subcommand);
            call
        };
        call.args(["--locked", "--target", TARGET])
            .env("CARGO_TARGET_DIR", target_folder()?)
            .env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", C_COMPILER)
            .env("CC_x86_64_pc_windows_gnu", C_COMPILER)
            .env("CXX_x86_64_pc_windows_gnu", CXX_COMPILER)
            .env("AR_x86_64_pc_windows_gnu", ARCHIVER)
            .env("CFLAGS_x86_64_pc_windows_gnu", &flags)
            .env("CXXFLAGS_x86_64_pc_windows_gnu", &flags);
        Ok(call)
    }

    /// Returns the folder of the built programs.
    ///
    /// # Errors
    /// This program is not in a target folder.
    pub(crate) fn programs(&self) -> Result<PathBuf> {
        Ok(target_folder()?.join(TARGET).join("release"))
    }

    /// Finds the libraries of MinGW that the worker needs.
    ///
    /// # Errors
    /// The compiler does not know one of them.
    pub(crate) fn runtime_libraries(&self) -> Result<Vec<PathBuf>> {
        let find = |name: &&str| {
            let printed = output(command(C_COMPILER).arg(format!("-print-file-name={name}")));
            let path = PathBuf::from(printed.unwrap_or_default().trim());
            // The compiler prints the bare name of a file that it does not find.
            let found = Some(path).filter(|path| path.is_absolute());
            found.with_context(|| format!("{C_COMPILER} has no {name}"))
        };
        RUNTIME.iter().map(find).collect()
    }

    /// Copies a library without its symbols into `folder`, and returns the copy.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn strip(&self, library: &Path, folder: &Path) -> Result<PathBuf> {
        let copy = folder.join(file_name(library));
        run(command(STRIP)
            .arg("--strip-unneeded")
            .arg("-o")
            .args([&copy, library]))?;
        Ok(copy)
    }

    /// Compiles a library for Wine from one C file.
    ///
    /// # Errors
    /// The compiler fails.
    pub(crate) fn compile_library(&self, source: &Path, library: &Path) -> Result<()> {
        if let Some(folder) = library.parent() {
            fs::create_dir_all(folder)?;
        }
        run(command(C_COMPILER)
            .args(["-shared", "-o"])
            .args([library, source])
            .arg("-ladvapi32"))
    }
}

/// Debian's cargo refuses the option for the standard library without this variable, and rustup's
/// would be found first.
fn debian_cargo(subcommand: &str) -> Result<Command> {
    let mut path = vec![PathBuf::from(DEBIAN)];
    path.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    let mut call = command(Path::new(DEBIAN).join("cargo"));
    call.arg(subcommand)
        .args(["-Z", "build-std=std,panic_unwind"])
        .env("PATH", env::join_paths(path)?)
        .env("RUSTC", Path::new(DEBIAN).join("rustc"))
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    Ok(call)
}

/// The target folder of the builds for Windows, which another compiler of Rust makes.
///
/// # Errors
/// This program is not in a target folder.
pub(crate) fn target_folder() -> Result<PathBuf> {
    Ok(target()?.join("windows"))
}
