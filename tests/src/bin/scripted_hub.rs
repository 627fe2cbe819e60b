//! Serves one model file from a scripted hub, for an app under test. Prints the hub's address, and
//! ends when stdin closes.
//!
//! Arguments: the repository, the name of the file on the hub, the path of the file, and how the
//! next requests for its content end: `cut:BYTES`, `stall:BYTES` or `whole`.

use std::io::{Read as _, Write as _};

use tests::scripted_hub::{Quirk, ScriptedFile, ScriptedHub};

fn quirk(text: &str) -> Quirk {
    let bytes = |text: &str| text.parse().expect("a number of bytes");
    match text.split_once(':') {
        Some(("cut", length)) => Quirk::Cut(bytes(length)),
        Some(("stall", length)) => Quirk::Stalls(bytes(length)),
        _ => Quirk::Cut(usize::MAX),
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| {
        arguments
            .next()
            .unwrap_or_else(|| panic!("{what} is missing"))
    };
    let (repo, name, file) = (next("the repository"), next("the name"), next("the file"));
    let hub = ScriptedHub::start();
    hub.put(
        &repo,
        &name,
        ScriptedFile::new(std::fs::read(file).expect("the model is read")),
    );
    hub.next(arguments.map(|text| quirk(&text)));
    writeln!(std::io::stdout(), "{}", hub.address).expect("stdout is open");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
