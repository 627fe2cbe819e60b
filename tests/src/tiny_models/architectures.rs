//! Keys and layers of each architecture.

use super::file::TinyModel;
use super::*;

impl TinyModel {
    pub(super) fn llama(&mut self) {
        self.dense(2);
        self.number("rope.dimension_count", HEAD as u32);
        for layer in 0..2 {
            self.attention(layer, HEADS * HEAD, 1);
            self.feed_forward(layer);
        }
    }

    /// Five layers with a sliding window, then one without.
    pub(super) fn gemma3(&mut self) {
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

    pub(super) fn mamba2(&mut self) {
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
    pub(super) fn granite_hybrid(&mut self) {
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

    pub(super) fn lfm2(&mut self) {
        const KERNEL: u64 = 3;
        self.hybrid(&[0, 0, 1, 0]);
        self.number("rope.dimension_count", HEAD as u32);
        self.number("shortconv.l_cache", KERNEL as u32);
        // The norm of the output has this name.
        self.tensors
            .retain(|(name, ..)| name != "output_norm.weight");
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
    pub(super) fn qwen3_next(&mut self) {
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

    pub(super) fn qwen35(&mut self) {
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
    pub(super) fn deepseek2(&mut self) {
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
    pub(super) fn gpt_oss(&mut self) {
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
                self.tensor(
                    &format!("blk.{layer}.ffn_{name}_exps.bias"),
                    &[length, EXPERTS],
                    0.1,
                );
            }
        }
    }

    pub(super) fn qwen2vl(&mut self) {
        self.dense(2);
        self.number("rope.dimension_count", HEAD as u32);
        self.numbers("rope.dimension_sections", &[4, 6, 6, 0]);
        for layer in 0..2 {
            self.attention(layer, HEADS * HEAD, 1);
            self.feed_forward(layer);
        }
    }

    pub(super) fn dense(&mut self, layers: u32) {
        self.number("block_count", layers);
        self.number("feed_forward_length", HIDDEN as u32);
        self.number("attention.head_count", HEADS as u32);
        self.number("attention.head_count_kv", 1);
    }

    /// A layer without key and value heads is recurrent.
    pub(super) fn hybrid(&mut self, kv_heads: &[i32]) {
        self.number("block_count", kv_heads.len() as u32);
        self.number("feed_forward_length", HIDDEN as u32);
        self.number("attention.head_count", HEADS as u32);
        self.numbers("attention.head_count_kv", kv_heads);
    }

    pub(super) fn qwen_hybrid(&mut self) {
        self.dense(4);
        self.lengths(HEAD as u32, HEAD as u32);
        self.number("rope.dimension_count", HEAD as u32 / 4);
        self.state_space(2, STATE * STATE_HEADS);
    }

    pub(super) fn qwen_mixer(&mut self, layer: u64) {
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
}
