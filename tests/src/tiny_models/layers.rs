//! Parts of a layer that architectures share.

use super::file::TinyModel;
use super::*;

impl TinyModel {
    pub(super) fn lengths(&mut self, key: u32, value: u32) {
        self.number("attention.key_length", key);
        self.number("attention.value_length", value);
    }

    pub(super) fn state_space(&mut self, groups: u32, inner: u64) {
        self.number("ssm.conv_kernel", CONVOLUTION as u32);
        self.number("ssm.inner_size", inner as u32);
        self.number("ssm.state_size", STATE as u32);
        self.number("ssm.time_step_rank", STATE_HEADS as u32);
        self.number("ssm.group_count", groups);
    }

    pub(super) fn experts_of(&mut self, hidden: u64) {
        self.number("expert_count", EXPERTS as u32);
        self.number("expert_used_count", USED_EXPERTS);
        self.number("expert_feed_forward_length", hidden as u32);
    }

    pub(super) fn attention(&mut self, layer: u64, query: u64, kv_heads: u64) {
        self.norm(layer, "attn_norm", WIDTH);
        self.layer(layer, "attn_q", &[WIDTH, query]);
        self.layer(layer, "attn_k", &[WIDTH, kv_heads * HEAD]);
        self.layer(layer, "attn_v", &[WIDTH, kv_heads * HEAD]);
        self.layer(layer, "attn_output", &[HEADS * HEAD, WIDTH]);
    }

    pub(super) fn head_norms(&mut self, layer: u64) {
        self.norm(layer, "attn_q_norm", HEAD);
        self.norm(layer, "attn_k_norm", HEAD);
    }

    pub(super) fn mamba_mixer(&mut self, layer: u64) {
        let inner = 2 * WIDTH;
        let convolved = inner + 2 * STATE;
        self.layer(layer, "ssm_in", &[WIDTH, inner + convolved + STATE_HEADS]);
        self.layer(layer, "ssm_conv1d", &[CONVOLUTION, convolved]);
        self.vector(layer, "ssm_conv1d.bias", convolved);
        self.vector(layer, "ssm_dt.bias", STATE_HEADS);
        self.decay(layer, &[1, STATE_HEADS]);
        self.tensor(&format!("blk.{layer}.ssm_d"), &[1, STATE_HEADS], 1.0);
        self.tensor_of(
            format!("blk.{layer}.ssm_norm.weight"),
            vec![inner, 1],
            vec![1.0; inner as usize],
        );
        self.layer(layer, "ssm_out", &[inner, WIDTH]);
    }

    /// Negative, so that the state decays.
    pub(super) fn decay(&mut self, layer: u64, dims: &[u64]) {
        let values = (0..STATE_HEADS)
            .map(|head| -0.05 - 0.1 * head as f32)
            .collect();
        self.tensor_of(format!("blk.{layer}.ssm_a"), dims.to_vec(), values);
    }

    pub(super) fn feed_forward(&mut self, layer: u64) {
        self.norm(layer, "ffn_norm", WIDTH);
        self.gate_up_down(layer);
    }

    pub(super) fn gate_up_down(&mut self, layer: u64) {
        self.layer(layer, "ffn_gate", &[WIDTH, HIDDEN]);
        self.layer(layer, "ffn_up", &[WIDTH, HIDDEN]);
        self.layer(layer, "ffn_down", &[HIDDEN, WIDTH]);
    }

    pub(super) fn experts(&mut self, layer: u64, hidden: u64) {
        self.layer(layer, "ffn_gate_inp", &[WIDTH, EXPERTS]);
        self.layer(layer, "ffn_gate_exps", &[WIDTH, hidden, EXPERTS]);
        self.layer(layer, "ffn_up_exps", &[WIDTH, hidden, EXPERTS]);
        self.layer(layer, "ffn_down_exps", &[hidden, WIDTH, EXPERTS]);
    }

    pub(super) fn shared_expert(&mut self, layer: u64, hidden: u64) {
        self.layer(layer, "ffn_gate_shexp", &[WIDTH, hidden]);
        self.layer(layer, "ffn_up_shexp", &[WIDTH, hidden]);
        self.layer(layer, "ffn_down_shexp", &[hidden, WIDTH]);
    }

    pub(super) fn layer(&mut self, layer: u64, name: &str, dims: &[u64]) {
        self.tensor(&format!("blk.{layer}.{name}.weight"), dims, 1.0);
    }

    pub(super) fn vector(&mut self, layer: u64, name: &str, length: u64) {
        self.tensor(&format!("blk.{layer}.{name}"), &[length], 0.1);
    }

    pub(super) fn norm(&mut self, layer: u64, name: &str, length: u64) {
        self.ones(&format!("blk.{layer}.{name}.weight"), length);
    }

    pub(super) fn ones(&mut self, name: &str, length: u64) {
        self.tensor_of(name.to_owned(), vec![length], vec![1.0; length as usize]);
    }
}
