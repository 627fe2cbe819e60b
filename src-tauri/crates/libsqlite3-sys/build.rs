//! Compiles SQLite3 Multiple Ciphers with the options of the crate that this one replaces.

use std::env;

/// The options of `libsqlite3-sys` 0.39.1 with the feature `bundled`.
const SQLITE: [&str; 18] = [
    "-DSQLITE_CORE",
    "-DSQLITE_DEFAULT_FOREIGN_KEYS=1",
    "-DSQLITE_ENABLE_API_ARMOR",
    "-DSQLITE_ENABLE_COLUMN_METADATA",
    "-DSQLITE_ENABLE_DBSTAT_VTAB",
    "-DSQLITE_ENABLE_FTS3",
    "-DSQLITE_ENABLE_FTS3_PARENTHESIS",
    "-DSQLITE_ENABLE_FTS5",
    "-DSQLITE_ENABLE_JSON1",
    "-DSQLITE_ENABLE_LOAD_EXTENSION=1",
    "-DSQLITE_ENABLE_RTREE",
    "-DSQLITE_ENABLE_STAT4",
    "-DSQLITE_SOUNDEX",
    "-DSQLITE_THREADSAFE=1",
    "-DSQLITE_USE_URI",
    "-DHAVE_USLEEP=1",
    "-DHAVE_ISNAN",
    // For MinGW.
    "-D_POSIX_THREAD_SAFE_FUNCTIONS",
];

/// Only ChaCha20-Poly1305: no other cipher can be chosen by mistake, and their code is not compiled.
const CIPHERS: [&str; 8] = [
    "-DCODEC_TYPE=CODEC_TYPE_CHACHA20",
    "-DHAVE_CIPHER_CHACHA20=1",
    "-DHAVE_CIPHER_AES_128_CBC=0",
    "-DHAVE_CIPHER_AES_256_CBC=0",
    "-DHAVE_CIPHER_SQLCIPHER=0",
    "-DHAVE_CIPHER_RC4=0",
    "-DHAVE_CIPHER_ASCON128=0",
    "-DHAVE_CIPHER_AEGIS=0",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LIBSQLITE3_FLAGS");
    let mut compiler = cc::Build::new();
    let source = sqlite3mc_src::source_dir().join(sqlite3mc_src::SOURCE_FILE);
    compiler.file(source).warnings(false);
    for option in SQLITE.iter().chain(&CIPHERS) {
        compiler.flag(option);
    }
    if env::var_os("CARGO_CFG_WINDOWS").is_none() {
        compiler.flag("-DHAVE_LOCALTIME_R");
    }
    if env::var("TARGET").is_ok_and(|target| target == "x86_64-pc-windows-gnu") {
        // GCC aligns the stack of this target to 16 bytes only, and ChaCha20 uses AVX2 (GCC bug 54412).
        compiler.flag("-Wa,-muse-unaligned-vector-move");
    }
    let extra = env::var("LIBSQLITE3_FLAGS").unwrap_or_default();
    for option in extra.split_whitespace() {
        let known = option.starts_with("-D") || option.starts_with("-U");
        assert!(
            known,
            "LIBSQLITE3_FLAGS may contain only -D and -U, not {option}"
        );
        compiler.flag(option);
    }
    compiler.compile("sqlite3");
}
