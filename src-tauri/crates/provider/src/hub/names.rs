//! Names on a hub: repositories, quantisations, parts of split files, and safe names for this
//! machine. All of them are untrusted.

use std::fmt;

/// Maximum length of a name on this machine, in bytes.
const MAX_NAME: usize = 120;

/// Name of a repository, such as `owner/model`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoId(String);

/// A repository, and the file or the quantisation that its address names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoAddress {
    pub repo: RepoId,
    /// A path, such as that of the page of a file, or a quantisation, such as in
    /// `owner/model:Q4_K_M`.
    pub file: Option<String>,
}

/// Names in the address of a page, after the name of the repository.
const PAGES: [&str; 9] = [
    "blob",
    "commit",
    "commits",
    "discussions",
    "edit",
    "raw",
    "resolve",
    "tree",
    "viewer",
];
/// Hubs whose addresses people write without `https://`.
const HUBS: [&str; 3] = ["hf.co", "huggingface.co", "hf-mirror.com"];

impl RepoAddress {
    /// Reads `owner/model`, `owner/model:Q4_K_M`, `hf.co/owner/model`, or the address of a page of
    /// a hub or a mirror.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_matches(['<', '>', '"', '\'']);
        let (is_address, path) = match text.split_once("://") {
            Some(("hf", path)) => (false, path),
            Some((_, rest)) => (true, rest.split_once('/')?.1),
            None => match text.split_once('/') {
                Some((host, path)) if HUBS.contains(&host.trim_start_matches("www.")) => {
                    (true, path)
                }
                _ => (false, text),
            },
        };
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').collect();
        let segments = if is_address {
            segments.into_iter().filter(|one| !one.is_empty()).collect()
        } else {
            segments
        };
        let page = segments
            .iter()
            .skip(2)
            .position(|one| PAGES.contains(one))
            .map(|at| at + 2);
        let (repository, rest) =
            segments.split_at(page.filter(|_| is_address).unwrap_or(segments.len()));
        let [before @ .., owner, name] = repository else {
            return None;
        };
        // A mirror may have its models below a path.
        if !before.is_empty() && !is_address {
            return None;
        }
        let (name, chosen) = match name.split_once(':') {
            Some((name, chosen)) => (
                name,
                Some(chosen.to_owned()).filter(|chosen| !chosen.is_empty()),
            ),
            None => (*name, None),
        };
        let file = chosen.or_else(|| match rest {
            ["blob" | "raw" | "resolve", _, path @ ..] if !path.is_empty() => Some(path.join("/")),
            _ => None,
        });
        let repo =
            (is_segment(owner) && is_segment(name)).then(|| RepoId(format!("{owner}/{name}")))?;
        Some(Self { repo, file })
    }

    /// Whether the address names the file at `path`.
    pub fn names(&self, path: &str) -> bool {
        let Some(file) = &self.file else { return false };
        let is_name = path
            .rsplit('/')
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case(file));
        path == file
            || is_name
            || quantisation(path).is_some_and(|known| known.eq_ignore_ascii_case(file))
    }
}

impl RepoId {
    /// Accepts `owner/model` in the characters that hubs allow, also as an address of
    /// [`RepoAddress`].
    pub fn parse(text: &str) -> Option<Self> {
        RepoAddress::parse(text).map(|address| address.repo)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn owner(&self) -> &str {
        self.0.split('/').next().unwrap_or_default()
    }

    pub fn name(&self) -> &str {
        self.0.split('/').nth(1).unwrap_or_default()
    }
}

impl fmt::Display for RepoId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn is_segment(text: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    !text.is_empty()
        && text.len() <= 96
        && text.chars().all(known)
        && !text.starts_with('.')
        && !text.contains("..")
}

/// Returns a name that every file system accepts as one file or folder, made from a name of a hub.
pub fn safe_name(text: &str) -> String {
    let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let known = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let name: String = last
        .chars()
        .map(|letter| if known(letter) { letter } else { '-' })
        .collect();
    let name = name.trim_start_matches(['.', '-']).trim_end_matches('.');
    // Cuts at the front, because the end has the quantisation, the part number and the ending.
    let name = &name[name.len().saturating_sub(MAX_NAME)..];
    match name {
        "" => "model".to_owned(),
        name if is_device(name) => format!("model-{name}"),
        name => name.to_owned(),
    }
}

/// Returns a name made from the last folder and the name of a file, for files of one name in
/// several folders.
pub fn safe_name_with_folder(path: &str) -> String {
    let mut names = path.rsplit('/');
    let name = names.next().unwrap_or_default();
    let folder = names.next().unwrap_or_default();
    if folder.is_empty() {
        safe_name(name)
    } else {
        safe_name(&format!("{}-{name}", safe_name(folder)))
    }
}

/// Windows opens a device for these names, with any ending.
fn is_device(name: &str) -> bool {
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_uppercase();
    let numbered = |start: &str| {
        stem.strip_prefix(start)
            .is_some_and(|rest| rest.len() == 1 && rest.parse::<u8>().is_ok())
    };
    ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || numbered("COM") || numbered("LPT")
}

/// Position of a file among the parts of a split model, from names such as
/// `model-00002-of-00003.gguf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitPart<'n> {
    /// The name before the numbers.
    pub stem: &'n str,
    /// From 1.
    pub number: u32,
    pub count: u32,
}

/// Reads the part of a split model from a file's name; `None` for a whole file.
pub fn split_part(name: &str) -> Option<SplitPart<'_>> {
    let stem = strip_gguf(name)?;
    let (rest, count) = stem.rsplit_once("-of-")?;
    let (stem, number) = rest.rsplit_once('-')?;
    let digits = |text: &str| {
        Some(text)
            .filter(|text| text.len() == 5)?
            .parse::<u32>()
            .ok()
    };
    let number = digits(number)?;
    let count = digits(count)?;
    (1..=count).contains(&number).then_some(SplitPart {
        stem,
        number,
        count,
    })
}

/// Returns the name without `.gguf`; `None` for other endings.
pub fn strip_gguf(name: &str) -> Option<&str> {
    let at = name.len().checked_sub(5)?;
    name.is_char_boundary(at)
        .then(|| name.split_at(at))
        .filter(|(_, end)| end.eq_ignore_ascii_case(".gguf"))
        .map(|(stem, _)| stem)
}

/// Use of a GGUF file, guessed from its name. The header decides after the download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePurpose {
    Model,
    /// Reads pictures for a model of the same repository (mmproj).
    Projector,
    /// Cannot chat: an adapter, quantisation statistics, or a draft model of another file.
    Other,
}

pub fn purpose(path: &str) -> FilePurpose {
    let name = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let has = |word: &str| {
        name.split(|letter: char| !letter.is_ascii_alphanumeric())
            .any(|piece| piece == word)
    };
    if name.contains("mmproj") {
        FilePurpose::Projector
    } else if has("lora") || has("imatrix") || has("vocab") || has("adapter") || has("control") {
        FilePurpose::Other
    } else {
        FilePurpose::Model
    }
}

/// Bits per weight of the usual quantisations, from the tables of llama.cpp's `quantize` for 8B
/// models.
const QUANTISATIONS: [(&str, f64); 34] = [
    ("IQ1_S", 2.0),
    ("IQ1_M", 2.2),
    ("IQ2_XXS", 2.4),
    ("IQ2_XS", 2.6),
    ("IQ2_S", 2.7),
    ("IQ2_M", 2.9),
    ("Q2_K_S", 2.9),
    ("Q2_K_L", 3.4),
    ("Q2_K", 3.2),
    ("IQ3_XXS", 3.3),
    ("IQ3_XS", 3.5),
    ("IQ3_S", 3.7),
    ("IQ3_M", 3.8),
    ("Q3_K_S", 3.6),
    ("Q3_K_M", 4.0),
    ("Q3_K_L", 4.3),
    ("Q3_K", 4.0),
    ("IQ4_XS", 4.5),
    ("IQ4_NL", 4.7),
    ("Q4_K_S", 4.7),
    ("Q4_K_M", 4.9),
    ("Q4_K", 4.9),
    ("Q4_0", 4.6),
    ("Q4_1", 5.1),
    ("MXFP4", 4.5),
    ("Q5_K_S", 5.6),
    ("Q5_K_M", 5.7),
    ("Q5_K", 5.7),
    ("Q5_0", 5.6),
    ("Q5_1", 6.0),
    ("Q6_K", 6.6),
    ("Q8_0", 8.5),
    ("BF16", 16.0),
    ("F16", 16.0),
];

/// Reads the quantisation from a file's name, else from its folder; `None` if neither has one that
/// is known.
pub fn quantisation(path: &str) -> Option<&'static str> {
    path.rsplit('/').take(2).find_map(quantisation_in)
}

fn quantisation_in(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_uppercase();
    let is_border = |letter: Option<char>| {
        letter.is_none_or(|letter| !letter.is_ascii_alphanumeric() && letter != '_')
    };
    let fits = |known: &str| {
        name.match_indices(known).any(|(at, _)| {
            is_border(name[..at].chars().next_back())
                && is_border(name[at + known.len()..].chars().next())
        })
    };
    if name.contains("FP16") {
        return Some("F16");
    }
    QUANTISATIONS
        .iter()
        .map(|(known, _)| *known)
        .filter(|known| fits(known))
        .max_by_key(|known| known.len())
}

/// Returns the approximate bits per weight of a quantisation.
pub fn bits_per_weight(quantisation: &str) -> Option<f64> {
    QUANTISATIONS
        .iter()
        .find(|(known, _)| *known == quantisation)
        .map(|(_, bits)| *bits)
}

#[cfg(test)]
mod tests;
