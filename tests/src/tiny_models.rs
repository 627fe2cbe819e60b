//! Tiny GGUF models with random weights, one per kind of memory that llama.cpp has. Their replies are noise, but a
//! reply depends on every earlier token, so a wrong cache changes it. The same architecture always gives the same
//! bytes. Keys and tensors follow `load_arch_hparams` and `load_arch_tensors` of llama.cpp.

use std::path::{Path, PathBuf};

/// Architectures with a generator, by their GGUF name.
pub const ARCHITECTURES: [&str; 10] =
    ["llama", "gemma3", "mamba2", "granitehybrid", "lfm2", "qwen3next", "qwen35", "deepseek2", "gpt-oss", "qwen2vl"];

/// Kinds of projectors with a generator, by their GGUF name: one that reads a picture in order like text, one whose tokens
/// see each other, and one with two-dimensional positions.
pub const PROJECTORS: [&str; 3] = ["mlp", "gemma3", "qwen2vl_merger"];

/// Sliding window of the models that have one, in tokens.
pub const SLIDING_WINDOW: u32 = 32;

/// Embedding length.
pub const WIDTH: u64 = 64;
/// Length of the hidden layer of a feed-forward network.
const HIDDEN: u64 = 96;
/// Attention heads, and the length of one.
const HEADS: u64 = 2;
const HEAD: u64 = 32;
/// Experts of a mixture, and how many of them a token uses.
const EXPERTS: u64 = 4;
const USED_EXPERTS: u32 = 2;
/// Length of a recurrent state, and its heads.
const STATE: u64 = 32;
const STATE_HEADS: u64 = 4;
const CONVOLUTION: u64 = 4;

/// Edge in pixels of a picture and of a patch, and sizes of the encoder of pictures.
const PICTURE: u64 = 64;
const PATCH: u64 = 8;
const SIGHT: u64 = 32;
const SIGHT_HIDDEN: u64 = 48;

const F32: u32 = 0;
const ALIGNMENT: usize = 32;

/// Control tokens. The vocabulary continues with the blank, the line feed and the visible characters of ASCII.
const CONTROL: [&str; 5] = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"];

const CHAT_TEMPLATE: &str = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}\
                             <|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// Writes `<architecture>.gguf` into `folder`.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`], or the file cannot be written.
pub fn write(architecture: &str, folder: &Path) -> PathBuf {
    let path = folder.join(format!("{architecture}.gguf"));
    std::fs::write(&path, bytes(architecture)).expect("the model is written");
    path
}

/// Writes `mmproj-f32.gguf`, which reads pictures for models with an embedding length of `width`, into `folder`.
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
    let mut model = TinyModel::empty("clip");
    model.sight(kind, width);
    match kind {
        "mlp" => model.mlp_projector(width),
        "gemma3" => model.gemma3_projector(width),
        "qwen2vl_merger" => model.qwen2vl_projector(width),
        other => panic!("no generator for the projector {other}"),
    }
    model.file()
}

/// Returns the whole file.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`].
pub fn bytes(architecture: &str) -> Vec<u8> {
    bytes_with_template(architecture, CHAT_TEMPLATE)
}

/// Works like [`bytes`], with another chat template.
///
/// # Panics
/// The architecture is not in [`ARCHITECTURES`].
pub fn bytes_with_template(architecture: &str, template: &str) -> Vec<u8> {
    let mut model = TinyModel::new(architecture, template);
    match architecture {
        "llama" => model.llama(),
        "gemma3" => model.gemma3(),
        "mamba2" => model.mamba2(),
        "granitehybrid" => model.granite_hybrid(),
        "lfm2" => model.lfm2(),
        "qwen3next" => model.qwen3_next(),
        "qwen35" => model.qwen35(),
        "deepseek2" => model.deepseek2(),
        "gpt-oss" => model.gpt_oss(),
        "qwen2vl" => model.qwen2vl(),
        other => panic!("no generator for {other}"),
    }
    model.file()
}

/// Returns an adapter (LoRA) of this rank for all attention queries and outputs of a model. Each seed gives another one.
pub fn adapter(architecture: &str, rank: u64, seed: u64) -> Vec<u8> {
    adapter_file(
        architecture,
        rank,
        seed,
        &["blk.0.attn_q", "blk.0.attn_output", "blk.1.attn_q"]
            .map(|name| (format!("{name}.weight"), [WIDTH, HEADS * HEAD])),
    )
}

/// Works like [`adapter`], for one tensor with these lengths.
pub fn adapter_with(architecture: &str, rank: u64, seed: u64, (name, lengths): (&str, [u64; 2])) -> Vec<u8> {
    adapter_file(architecture, rank, seed, &[(name.to_owned(), lengths)])
}

fn adapter_file(architecture: &str, rank: u64, seed: u64, targets: &[(String, [u64; 2])]) -> Vec<u8> {
    let (architecture, keys) = (architecture.to_owned(), Vec::new());
    let random = 0x9e37_79b9_7f4a_7c15 ^ (seed + 1);
    let mut file = TinyModel { architecture, keys, key_count: 0, tensors: Vec::new(), random };
    file.text("general.architecture", &file.architecture.clone());
    file.text("general.type", "adapter");
    file.text("adapter.type", "lora");
    file.key("adapter.lora.alpha", 6);
    file.keys.extend((2.0 * rank as f32).to_le_bytes());
    for (name, [columns, rows]) in targets {
        file.tensor(&format!("{name}.lora_a"), &[*columns, rank], 1.0);
        file.tensor(&format!("{name}.lora_b"), &[rank, *rows], 1.0);
    }
    file.file()
}

struct TinyModel {
    architecture: String,
    keys: Vec<u8>,
    key_count: u64,
    tensors: Vec<(String, Vec<u64>, Vec<f32>)>,
    random: u64,
}

impl TinyModel {
    fn new(architecture: &str, template: &str) -> Self {
        let mut model = Self::empty(architecture);
        model.vocabulary(template);
        model.number("context_length", 4096);
        model.number("embedding_length", WIDTH as u32);
        model.real("attention.layer_norm_rms_epsilon", 1e-5);
        model.tensor("token_embd.weight", &[WIDTH, vocabulary().len() as u64], 1.0);
        model.output();
        model
    }

    /// A file with a name and nothing else.
    fn empty(architecture: &str) -> Self {
        let (architecture, keys) = (architecture.to_owned(), Vec::new());
        let mut model = Self { architecture, keys, key_count: 0, tensors: Vec::new(), random: 0x1234_5678_9abc_def1 };
        model.text("general.architecture", &model.architecture.clone());
        model.text("general.name", &format!("tiny {}", model.architecture));
        model
    }

    fn llama(&mut self) {
        self.dense(2);
        self.number("rope.dimension_count", HEAD as u32);
        for layer in 0..2 {
            self.attention(layer, HEADS * HEAD, 1);
            self.feed_forward(layer);
        }
    }

    /// Five layers with a sliding window, then one without.
    fn gemma3(&mut self) {
        self.dense(6);
        self.lengths(HEAD as u32, HEAD as u32);
        self.number("attention.sliding_window", SLIDING_WINDOW);
        for layer in 0..6 {
            self.attention(layer, HEADS * HEAD, 1);
            self.head_norms(layer);
            self.norm(layer, "post_attention_norm", WIDTH);
            self.feed_forward(layer);
            self.norm(layer, "post_ffw_norm", WIDTH);
        }
    }

    fn mamba2(&mut self) {
        self.number("block_count", 2);
        self.number("feed_forward_length", 0);
        self.number("attention.head_count", 0);
        self.state_space(1, 2 * WIDTH);
        for layer in 0..2 {
            self.norm(layer, "attn_norm", WIDTH);
            self.mamba_mixer(layer);
        }
    }

    /// Two recurrent layers, one with attention, one more recurrent layer.
    fn granite_hybrid(&mut self) {
        self.hybrid(&[0, 0, 1, 0]);
        self.number("rope.dimension_count", HEAD as u32);
        self.state_space(1, 2 * WIDTH);
        for layer in 0..4 {
            if layer == 2 {
                self.attention(layer, HEADS * HEAD, 1);
            } else {
                self.norm(layer, "attn_norm", WIDTH);
                self.mamba_mixer(layer);
            }
            self.feed_forward(layer);
        }
    }

    fn lfm2(&mut self) {
        const KERNEL: u64 = 3;
        self.hybrid(&[0, 0, 1, 0]);
        self.number("rope.dimension_count", HEAD as u32);
        self.number("shortconv.l_cache", KERNEL as u32);
        // The norm of the output has this name.
        self.tensors.retain(|(name, ..)| name != "output_norm.weight");
        self.ones("token_embd_norm.weight", WIDTH);
        for layer in 0..4 {
            if layer == 2 {
                self.attention(layer, WIDTH, 1);
                self.head_norms(layer);
            } else {
                self.norm(layer, "attn_norm", WIDTH);
                self.layer(layer, "shortconv.conv", &[KERNEL, WIDTH]);
                self.layer(layer, "shortconv.in_proj", &[WIDTH, 3 * WIDTH]);
                self.layer(layer, "shortconv.out_proj", &[WIDTH, WIDTH]);
            }
            self.feed_forward(layer);
        }
    }

    /// Three layers with a gated delta net, then one with gated attention; experts in all of them.
    fn qwen3_next(&mut self) {
        self.qwen_hybrid();
        self.experts_of(HIDDEN / 2);
        self.number("expert_shared_feed_forward_length", (HIDDEN / 2) as u32);
        for layer in 0..4 {
            self.qwen_mixer(layer);
            if layer != 3 {
                self.layer(layer, "ssm_ba", &[WIDTH, 2 * STATE_HEADS]);
            }
            self.norm(layer, "post_attention_norm", WIDTH);
            self.experts(layer, HIDDEN / 2);
            self.vector(layer, "ffn_gate_inp_shexp.weight", WIDTH);
            self.shared_expert(layer, HIDDEN / 2);
        }
    }

    fn qwen35(&mut self) {
        self.qwen_hybrid();
        self.numbers("rope.dimension_sections", &[2, 1, 1, 0]);
        for layer in 0..4 {
            self.qwen_mixer(layer);
            if layer != 3 {
                self.layer(layer, "ssm_beta", &[WIDTH, STATE_HEADS]);
                self.layer(layer, "ssm_alpha", &[WIDTH, STATE_HEADS]);
            }
            self.norm(layer, "post_attention_norm", WIDTH);
            self.gate_up_down(layer);
        }
    }

    /// Multi-head latent attention: one compressed key and value for all heads.
    fn deepseek2(&mut self) {
        const QUERY_RANK: u64 = 24;
        const RANK: u64 = 32;
        const ROTATED: u64 = 8;
        const PLAIN: u64 = 16;
        self.number("block_count", 2);
        self.number("feed_forward_length", HIDDEN as u32);
        self.number("attention.head_count", HEADS as u32);
        self.number("attention.head_count_kv", 1);
        self.lengths((RANK + ROTATED) as u32, RANK as u32);
        self.number("attention.key_length_mla", (PLAIN + ROTATED) as u32);
        self.number("attention.value_length_mla", PLAIN as u32);
        self.number("attention.q_lora_rank", QUERY_RANK as u32);
        self.number("attention.kv_lora_rank", RANK as u32);
        self.number("rope.dimension_count", ROTATED as u32);
        self.number("leading_dense_block_count", 1);
        self.experts_of(HIDDEN / 2);
        self.number("expert_shared_count", 1);
        self.real("expert_weights_scale", 1.0);
        for layer in 0..2 {
            self.norm(layer, "attn_norm", WIDTH);
            self.layer(layer, "attn_q_a", &[WIDTH, QUERY_RANK]);
            self.norm(layer, "attn_q_a_norm", QUERY_RANK);
            self.layer(layer, "attn_q_b", &[QUERY_RANK, HEADS * (PLAIN + ROTATED)]);
            self.layer(layer, "attn_kv_a_mqa", &[WIDTH, RANK + ROTATED]);
            self.norm(layer, "attn_kv_a_norm", RANK);
            self.layer(layer, "attn_k_b", &[PLAIN, RANK, HEADS]);
            self.layer(layer, "attn_v_b", &[RANK, PLAIN, HEADS]);
            self.layer(layer, "attn_output", &[HEADS * PLAIN, WIDTH]);
            if layer == 0 {
                self.feed_forward(layer);
            } else {
                self.norm(layer, "ffn_norm", WIDTH);
                self.experts(layer, HIDDEN / 2);
                self.shared_expert(layer, HIDDEN / 2);
            }
        }
    }

    /// Layers with a sliding window and layers without in turn, with attention sinks.
    fn gpt_oss(&mut self) {
        self.dense(4);
        self.lengths(HEAD as u32, HEAD as u32);
        self.number("rope.dimension_count", HEAD as u32);
        self.number("attention.sliding_window", SLIDING_WINDOW);
        self.experts_of(HIDDEN / 2);
        for layer in 0..4 {
            self.attention(layer, HEADS * HEAD, 1);
            self.vector(layer, "attn_output.bias", WIDTH);
            self.vector(layer, "attn_sinks.weight", HEADS);
            self.norm(layer, "post_attention_norm", WIDTH);
            self.experts(layer, HIDDEN / 2);
            self.vector(layer, "ffn_gate_inp.bias", EXPERTS);
            for (name, length) in [("gate", HIDDEN / 2), ("up", HIDDEN / 2), ("down", WIDTH)] {
                self.tensor(&format!("blk.{layer}.ffn_{name}_exps.bias"), &[length, EXPERTS], 0.1);
            }
        }
    }

    fn qwen2vl(&mut self) {
        self.dense(2);
        self.number("rope.dimension_count", HEAD as u32);
        self.numbers("rope.dimension_sections", &[4, 6, 6, 0]);
        for layer in 0..2 {
            self.attention(layer, HEADS * HEAD, 1);
            self.feed_forward(layer);
        }
    }

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
            self.keys.extend([0.5f32; 3].iter().flat_map(|value| value.to_le_bytes()));
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
        self.tensor("v.position_embd.weight", &[SIGHT, (PICTURE / PATCH).pow(2)], 1.0);
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

    fn dense(&mut self, layers: u32) {
        self.number("block_count", layers);
        self.number("feed_forward_length", HIDDEN as u32);
        self.number("attention.head_count", HEADS as u32);
        self.number("attention.head_count_kv", 1);
    }

    /// A layer without key and value heads is recurrent.
    fn hybrid(&mut self, kv_heads: &[i32]) {
        self.number("block_count", kv_heads.len() as u32);
        self.number("feed_forward_length", HIDDEN as u32);
        self.number("attention.head_count", HEADS as u32);
        self.numbers("attention.head_count_kv", kv_heads);
    }

    fn qwen_hybrid(&mut self) {
        self.dense(4);
        self.lengths(HEAD as u32, HEAD as u32);
        self.number("rope.dimension_count", HEAD as u32 / 4);
        self.state_space(2, STATE * STATE_HEADS);
    }

    fn lengths(&mut self, key: u32, value: u32) {
        self.number("attention.key_length", key);
        self.number("attention.value_length", value);
    }

    fn state_space(&mut self, groups: u32, inner: u64) {
        self.number("ssm.conv_kernel", CONVOLUTION as u32);
        self.number("ssm.inner_size", inner as u32);
        self.number("ssm.state_size", STATE as u32);
        self.number("ssm.time_step_rank", STATE_HEADS as u32);
        self.number("ssm.group_count", groups);
    }

    fn experts_of(&mut self, hidden: u64) {
        self.number("expert_count", EXPERTS as u32);
        self.number("expert_used_count", USED_EXPERTS);
        self.number("expert_feed_forward_length", hidden as u32);
    }

    fn attention(&mut self, layer: u64, query: u64, kv_heads: u64) {
        self.norm(layer, "attn_norm", WIDTH);
        self.layer(layer, "attn_q", &[WIDTH, query]);
        self.layer(layer, "attn_k", &[WIDTH, kv_heads * HEAD]);
        self.layer(layer, "attn_v", &[WIDTH, kv_heads * HEAD]);
        self.layer(layer, "attn_output", &[HEADS * HEAD, WIDTH]);
    }

    fn head_norms(&mut self, layer: u64) {
        self.norm(layer, "attn_q_norm", HEAD);
        self.norm(layer, "attn_k_norm", HEAD);
    }

    fn mamba_mixer(&mut self, layer: u64) {
        let inner = 2 * WIDTH;
        let convolved = inner + 2 * STATE;
        self.layer(layer, "ssm_in", &[WIDTH, inner + convolved + STATE_HEADS]);
        self.layer(layer, "ssm_conv1d", &[CONVOLUTION, convolved]);
        self.vector(layer, "ssm_conv1d.bias", convolved);
        self.vector(layer, "ssm_dt.bias", STATE_HEADS);
        self.decay(layer, &[1, STATE_HEADS]);
        self.tensor(&format!("blk.{layer}.ssm_d"), &[1, STATE_HEADS], 1.0);
        self.tensor_of(format!("blk.{layer}.ssm_norm.weight"), vec![inner, 1], vec![1.0; inner as usize]);
        self.layer(layer, "ssm_out", &[inner, WIDTH]);
    }

    fn qwen_mixer(&mut self, layer: u64) {
        if layer == 3 {
            // The query carries its gate.
            self.attention(layer, 2 * HEADS * HEAD, 1);
            self.head_norms(layer);
            return;
        }
        let (keys, values) = (2 * STATE, STATE_HEADS * STATE);
        self.norm(layer, "attn_norm", WIDTH);
        self.layer(layer, "attn_qkv", &[WIDTH, 2 * keys + values]);
        self.layer(layer, "attn_gate", &[WIDTH, values]);
        self.layer(layer, "ssm_conv1d", &[CONVOLUTION, 2 * keys + values]);
        self.vector(layer, "ssm_dt.bias", STATE_HEADS);
        self.decay(layer, &[STATE_HEADS]);
        self.norm(layer, "ssm_norm", STATE);
        self.layer(layer, "ssm_out", &[values, WIDTH]);
    }

    /// Negative, so that the state decays.
    fn decay(&mut self, layer: u64, dims: &[u64]) {
        let values = (0..STATE_HEADS).map(|head| -0.05 - 0.1 * head as f32).collect();
        self.tensor_of(format!("blk.{layer}.ssm_a"), dims.to_vec(), values);
    }

    fn feed_forward(&mut self, layer: u64) {
        self.norm(layer, "ffn_norm", WIDTH);
        self.gate_up_down(layer);
    }

    fn gate_up_down(&mut self, layer: u64) {
        self.layer(layer, "ffn_gate", &[WIDTH, HIDDEN]);
        self.layer(layer, "ffn_up", &[WIDTH, HIDDEN]);
        self.layer(layer, "ffn_down", &[HIDDEN, WIDTH]);
    }

    fn experts(&mut self, layer: u64, hidden: u64) {
        self.layer(layer, "ffn_gate_inp", &[WIDTH, EXPERTS]);
        self.layer(layer, "ffn_gate_exps", &[WIDTH, hidden, EXPERTS]);
        self.layer(layer, "ffn_up_exps", &[WIDTH, hidden, EXPERTS]);
        self.layer(layer, "ffn_down_exps", &[hidden, WIDTH, EXPERTS]);
    }

    fn shared_expert(&mut self, layer: u64, hidden: u64) {
        self.layer(layer, "ffn_gate_shexp", &[WIDTH, hidden]);
        self.layer(layer, "ffn_up_shexp", &[WIDTH, hidden]);
        self.layer(layer, "ffn_down_shexp", &[hidden, WIDTH]);
    }

    fn output(&mut self) {
        self.ones("output_norm.weight", WIDTH);
        self.tensor("output.weight", &[WIDTH, vocabulary().len() as u64], 4.0);
        // Zero logits for control tokens: they never are the most likely ones, so no reply ends early.
        if let Some((_, _, values)) = self.tensors.last_mut() {
            values[..CONTROL.len() * WIDTH as usize].fill(0.0);
        }
    }

    fn layer(&mut self, layer: u64, name: &str, dims: &[u64]) {
        self.tensor(&format!("blk.{layer}.{name}.weight"), dims, 1.0);
    }

    fn vector(&mut self, layer: u64, name: &str, length: u64) {
        self.tensor(&format!("blk.{layer}.{name}"), &[length], 0.1);
    }

    fn norm(&mut self, layer: u64, name: &str, length: u64) {
        self.ones(&format!("blk.{layer}.{name}.weight"), length);
    }

    fn ones(&mut self, name: &str, length: u64) {
        self.tensor_of(name.to_owned(), vec![length], vec![1.0; length as usize]);
    }

    /// Adds a tensor whose products with a normalized vector have about the size `scale`.
    fn tensor(&mut self, name: &str, dims: &[u64], scale: f32) {
        let count: u64 = dims.iter().product();
        let spread = if dims.len() > 1 { scale * (3.0 / dims[0] as f32).sqrt() } else { scale };
        let values = (0..count).map(|_| self.draw() * spread).collect();
        self.tensor_of(name.to_owned(), dims.to_vec(), values);
    }

    fn tensor_of(&mut self, name: String, dims: Vec<u64>, values: Vec<f32>) {
        self.tensors.push((name, dims, values));
    }

    /// A number from -1 to 1 (xorshift64).
    fn draw(&mut self) -> f32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vocabulary(&mut self, template: &str) {
        let tokens = vocabulary();
        self.text("tokenizer.ggml.model", "llama");
        self.key("tokenizer.ggml.tokens", 9);
        self.array_head(8, tokens.len());
        tokens.iter().for_each(|token| put_text(&mut self.keys, token));
        self.key("tokenizer.ggml.scores", 9);
        self.array_head(6, tokens.len());
        self.keys.extend(tokens.iter().flat_map(|_| 0f32.to_le_bytes()));
        self.key("tokenizer.ggml.token_type", 9);
        self.array_head(5, tokens.len());
        let kind = |place| match place {
            0 => 2,
            place if place < CONTROL.len() => 3,
            _ => 1,
        };
        self.keys.extend((0..tokens.len()).flat_map(|place| i32::to_le_bytes(kind(place))));
        for (key, token) in [("unknown", 0u32), ("bos", 1), ("eos", 2)] {
            self.key(&format!("tokenizer.ggml.{key}_token_id"), 4);
            self.keys.extend(token.to_le_bytes());
        }
        for key in ["add_bos_token", "add_space_prefix"] {
            self.key(&format!("tokenizer.ggml.{key}"), 7);
            self.keys.push(0);
        }
        self.text("tokenizer.chat_template", template);
    }

    fn key(&mut self, key: &str, kind: u32) {
        put_text(&mut self.keys, key);
        self.keys.extend(kind.to_le_bytes());
        self.key_count += 1;
    }

    fn array_head(&mut self, kind: u32, length: usize) {
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend((length as u64).to_le_bytes());
    }

    fn text(&mut self, key: &str, value: &str) {
        self.key(key, 8);
        put_text(&mut self.keys, value);
    }

    /// A key of this architecture.
    fn number(&mut self, key: &str, value: u32) {
        self.key(&format!("{}.{key}", self.architecture), 4);
        self.keys.extend(value.to_le_bytes());
    }

    fn numbers(&mut self, key: &str, values: &[i32]) {
        self.key(&format!("{}.{key}", self.architecture), 9);
        self.array_head(5, values.len());
        self.keys.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    fn real(&mut self, key: &str, value: f32) {
        self.key(&format!("{}.{key}", self.architecture), 6);
        self.keys.extend(value.to_le_bytes());
    }

    fn file(self) -> Vec<u8> {
        let mut file = b"GGUF".to_vec();
        file.extend(3u32.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend(self.key_count.to_le_bytes());
        file.extend(&self.keys);
        let mut offset = 0;
        for (name, dims, values) in &self.tensors {
            put_text(&mut file, name);
            file.extend((dims.len() as u32).to_le_bytes());
            file.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
            file.extend(F32.to_le_bytes());
            file.extend((offset as u64).to_le_bytes());
            offset += (values.len() * 4).next_multiple_of(ALIGNMENT);
        }
        for (_, _, values) in &self.tensors {
            file.resize(file.len().next_multiple_of(ALIGNMENT), 0);
            file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        file
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn vocabulary() -> Vec<String> {
    let visible = (b'!'..=b'~').map(|byte| char::from(byte).to_string());
    CONTROL
        .iter()
        .map(|&token| token.to_owned())
        .chain(["\u{2581}".to_owned(), "\n".to_owned()])
        .chain(visible)
        .collect()
}
