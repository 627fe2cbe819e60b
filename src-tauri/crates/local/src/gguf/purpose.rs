//! Recognizes GGUF files that are not models for text generation: components, auxiliary files and
//! models for other tasks.

use super::other_purpose::OtherPurpose;
use super::tensor::Tensor;
use super::value::Metadata;

/// Architectures of models that generate images or videos, as their converters write them.
const PAINTING: [&str; 19] = [
    "flux",
    "flux2",
    "sd1",
    "sd2",
    "sd3",
    "sd3.5",
    "sdxl",
    "aura",
    "auraflow",
    "pixart",
    "lumina2",
    "hidream",
    "chroma",
    "ltxv",
    "hyvid",
    "wan",
    "cosmos",
    "qwen_image",
    "z_image",
];
const SPEAKING: [&str; 5] = ["wavtokenizer-dec", "outetts", "bark", "csm", "kokoro"];

/// Determines the purpose from the file's metadata.
pub(super) fn of_settings(metadata: &Metadata) -> Option<OtherPurpose> {
    let architecture = metadata.text("general.architecture").unwrap_or_default();
    let kind = metadata.text("general.type").unwrap_or_default();
    let parts = metadata.number("split.count").filter(|count| *count > 1);
    match (architecture, kind) {
        _ if kind == "imatrix" || metadata.number("imatrix.chunk_count").is_some() => {
            Some(OtherPurpose::Statistics)
        }
        _ if kind == "adapter" || metadata.text("adapter.type").is_some() => {
            Some(adapter(architecture))
        }
        ("clip", _) | (_, "mmproj") => Some(OtherPurpose::Projector),
        ("controlvector", _) => Some(OtherPurpose::ControlVector),
        ("whisper", _) => Some(OtherPurpose::Hearing),
        ("t5encoder", _) => Some(OtherPurpose::TextEncoder),
        (name, _) if SPEAKING.contains(&name) => Some(OtherPurpose::Speaking),
        (name, _) if PAINTING.contains(&name) => Some(OtherPurpose::Painting(name.to_owned())),
        _ => {
            let number = metadata.number("split.no").unwrap_or(0).saturating_add(1);
            parts.map(|count| OtherPurpose::Part { number, count })
        }
    }
}

/// Determines the purpose from the tensor names, for files whose metadata does not show it.
pub(super) fn of_tensors(metadata: &Metadata, tensors: &[Tensor]) -> Option<OtherPurpose> {
    let any = |test: &dyn Fn(&str) -> bool| tensors.iter().any(|tensor| test(&tensor.name));
    let begins = |starts: &[&str]| any(&|name| starts.iter().any(|start| name.starts_with(start)));
    let architecture = metadata.text("general.architecture").unwrap_or_default();
    if any(&|name| name.ends_with(".lora_a") || name.contains(".lora_down.")) {
        return Some(adapter(architecture));
    }
    // A model with token embeddings can generate text, even if it also has vision or audio tensors.
    if any(&|name| name.contains("token_embd") || name.contains("embed_tokens")) {
        return None;
    }
    if begins(&[
        "double_blocks.",
        "model.diffusion_model.",
        "first_stage_model.",
        "joint_blocks.",
        "input_blocks.",
    ]) {
        return Some(OtherPurpose::Painting(String::new()));
    }
    if begins(&["v.patch_embd", "v.blk.", "mm.", "a.blk."]) {
        return Some(OtherPurpose::Projector);
    }
    if begins(&["encoder.conv1", "model.encoder.conv1"]) {
        return Some(OtherPurpose::Hearing);
    }
    begins(&["direction."]).then_some(OtherPurpose::ControlVector)
}

fn adapter(architecture: &str) -> OtherPurpose {
    let an = if architecture.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    OtherPurpose::Adapter(if architecture.is_empty() {
        String::new()
    } else {
        format!("{an} {architecture}")
    })
}

/// Describes a file that is not GGUF by its first bytes.
pub(super) fn of_magic(magic: [u8; 4]) -> String {
    let what = match &magic {
        b"<!DO" | b"<!do" | b"<htm" | b"<HTM" | b"<?xm" => {
            "it is a web page, so the download went wrong. Download the file itself"
        }
        b"vers" => {
            "it is a Git LFS pointer, which only names the model. Run `git lfs pull`, or download the file itself"
        }
        b"PK\x03\x04" => "it is a ZIP archive. Unpack it, and add the model in it",
        b"\x1f\x8b\x08\x00" | b"Rar!" | b"7z\xbc\xaf" => {
            "it is an archive. Unpack it, and add the model in it"
        }
        b"lmgg" | b"fmgg" | b"tjgg" | b"algg" => {
            "it is in the older GGML format, which is not supported. Download the model as GGUF"
        }
        _ if magic[0] == b'{' => {
            "it is JSON text, such as an error of a server. Download the file itself"
        }
        _ => return format!("it begins with \"{}\"", magic.escape_ascii()),
    };
    what.to_owned()
}
