//! Serves a scripted hub for a window under test: the models in the folder given as argument, as `test/NAME-GGUF`.
//! Prints its address, and ends when stdin closes.

use std::io::{Read as _, Write as _};
use std::path::Path;

use tests::scripted_hub::{Quirk, ScriptedFile, ScriptedHub};

fn main() {
    let hub = ScriptedHub::start();
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().expect("a folder of models");
    for path in std::fs::read_dir(&folder).expect("the folder is read").flatten().map(|entry| entry.path()) {
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let Some(name) = name(&path).filter(|name| name.ends_with(".gguf")) else { continue };
        let content = std::fs::read(&path).expect("the model is read");
        hub.put(&format!("test/{}-GGUF", name.trim_end_matches(".gguf")), &name, ScriptedFile::new(content));
    }
    // Each further argument cuts one connection after that many bytes.
    hub.next(arguments.filter_map(|bytes| bytes.parse().ok().map(Quirk::Cut)));
    writeln!(std::io::stdout(), "{}", hub.address).expect("stdout is open");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}
