//! Projectors, which read pictures for a model.

use std::path::{Path, PathBuf};

use super::file::TinyModel;

/// Kinds of projectors with a generator, by their GGUF name: one that reads a picture in order like
/// text, one whose tokens see each other, and one with two-dimensional positions.
pub const PROJECTORS: [&str; 3] = ["mlp", "gemma3", "qwen2vl_merger"];

/// Edge in pixels of a picture and of a patch, and sizes of the encoder of pictures.
const PICTURE: u64 = 64;
pub(super) const PATCH: u64 = 8;
pub(super) const SIGHT: u64 = 32;
const SIGHT_HIDDEN: u64 = 48;

/// Writes `mmproj-f32.gguf`, which reads pictures for models with an embedding length of `width`,
/// into `folder`.
///
/// # Panics
/// The kind is not in [`PROJECTORS`], or the file cannot be written.
pub fn write_projector(kind: &str, width: u64, folder: &Path) -> PathBuf {
    let path = folder.join("mmproj-f32.gguf");
    std::fs::write(&path, projector_bytes(kind, width)).expect("the projector is written");
    path
}

/// Returns the whole file of a projector for models with an embedding length of `width`.
///
/// # Panics
/// The kind is not in [`PROJECTORS`].
pub fn projector_bytes(kind: &str, width: u64) -> Vec<u8> {
    projector(kind, width).file()
}

pub(super) fn projector(kind: &str, width: u64) -> TinyModel {
    let mut model = TinyModel::empty("clip");
    model.sight(kind, width);
    match kind {
        "mlp" => model.mlp_projector(width),
        "gemma3" => model.gemma3_projector(width),
        "qwen2vl_merger" => model.qwen2vl_projector(width),
        other => panic!("no generator for the projector {other}"),
    }
    model
}

impl TinyModel {
    /// The encoder of pictures: two layers, of which some kinds leave out the last.
    fn sight(&mut self, kind: &str, width: u64) {
        self.key("clip.has_vision_encoder", 7);
        self.keys.push(1);
        self.text("clip.projector_type", kind);
        self.number("vision.image_size", PICTURE as u32);
        self.number("vision.patch_size", PATCH as u32);
        self.number("vision.embedding_length", SIGHT as u32);
        self.number("vision.feed_forward_length", SIGHT_HIDDEN as u32);
        self.number("vision.block_count", 2);
        self.number("vision.attention.head_count", 2);
        self.number("vision.projection_dim", width as u32);
        self.real("vision.attention.layer_norm_epsilon", 1e-5);
        for key in ["mean", "std"] {
            self.key(&format!("clip.vision.image_{key}"), 9);
            self.array_head(6, 3);
            self.keys
                .extend([0.5f32; 3].iter().flat_map(|value| value.to_le_bytes()));
        }
        self.tensor("v.patch_embd.weight", &[PATCH, PATCH, 3, SIGHT], 0.3);
        for layer in 0..2 {
            for name in ["attn_q", "attn_k", "attn_v", "attn_out"] {
                self.sight_layer(layer, name, &[SIGHT, SIGHT]);
            }
            for name in ["ln1", "ln2"] {
                self.ones(&format!("v.blk.{layer}.{name}.weight"), SIGHT);
                self.tensor(&format!("v.blk.{layer}.{name}.bias"), &[SIGHT], 0.1);
            }
            self.sight_layer(layer, "ffn_up", &[SIGHT, SIGHT_HIDDEN]);
            self.sight_layer(layer, "ffn_down", &[SIGHT_HIDDEN, SIGHT]);
        }
    }

    fn sight_layer(&mut self, layer: u64, name: &str, dims: &[u64]) {
        self.tensor(&format!("v.blk.{layer}.{name}.weight"), dims, 1.0);
        self.tensor(&format!("v.blk.{layer}.{name}.bias"), &dims[1..], 0.1);
    }

    fn sight_positions(&mut self) {
        self.tensor(
            "v.position_embd.weight",
            &[SIGHT, (PICTURE / PATCH).pow(2)],
            1.0,
        );
    }

    /// One token for each patch.
    fn mlp_projector(&mut self, width: u64) {
        self.sight_positions();
        self.two_layers([SIGHT, SIGHT, width]);
    }

    /// One token for each square of four patches.
    fn gemma3_projector(&mut self, width: u64) {
        self.number("vision.projector.scale_factor", 2);
        self.sight_positions();
        self.ones("mm.soft_emb_norm.weight", SIGHT);
        self.tensor("mm.input_projection.weight", &[width, SIGHT], 1.0);
    }

    /// One token for each square of four patches, in pictures of any size.
    fn qwen2vl_projector(&mut self, width: u64) {
        self.tensor("v.patch_embd.weight.1", &[PATCH, PATCH, 3, SIGHT], 0.3);
        self.two_layers([4 * SIGHT, 4 * SIGHT, width]);
    }

    fn two_layers(&mut self, [input, hidden, output]: [u64; 3]) {
        self.tensor("mm.0.weight", &[input, hidden], 1.0);
        self.tensor("mm.0.bias", &[hidden], 0.1);
        self.tensor("mm.2.weight", &[hidden, output], 1.0);
        self.tensor("mm.2.bias", &[output], 0.1);
    }
}
