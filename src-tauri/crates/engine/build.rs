//! Renders the pictures of the sample characters and lists them for `start.rs`.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// The host comes first: it greets at the first start.
const SAMPLES: [&str; 3] = ["mira", "otto-finch", "sorrel"];

fn main() -> Result<(), Box<dyn Error>> {
    let characters = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../../presets/characters").canonicalize()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo:rerun-if-changed={}", characters.display());
    let mut list = String::from("static SAMPLES: &[Sample] = &[\n");
    for name in SAMPLES {
        let (card, png) = (characters.join(format!("{name}.json")), out.join(format!("{name}.png")));
        fs::write(&png, render(&characters.join(format!("{name}.svg")))?)?;
        writeln!(list, "    Sample {{ card: include_str!({card:?}), picture: include_bytes!({png:?}) }},")?;
    }
    list.push_str("];\n");
    fs::write(out.join("samples.rs"), list)?;
    Ok(())
}

fn render(svg: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let tree = Tree::from_str(&fs::read_to_string(svg)?, &Options::default())?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("a picture without a size")?;
    resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}
