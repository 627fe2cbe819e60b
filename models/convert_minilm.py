"""Converts all-MiniLM-L6-v2 (safetensors, f32) to a q8_0 GGUF file for llama.cpp.

usage: python3 convert_minilm.py MODEL_DIR OUT.gguf     (needs the packages `gguf` and `numpy`)

The output is reproducible, so that catalogue.json can pin its sha256.
"""

import json
import struct
import sys
from pathlib import Path

import gguf
import numpy

BLOCKS = 6


def read_safetensors(path):
    """Yields (name, f32 array). Format: eight bytes of header length, a JSON header, then the data."""
    raw = path.read_bytes()
    (header_bytes,) = struct.unpack_from("<Q", raw)
    data_start = 8 + header_bytes
    for name, entry in json.loads(raw[8:data_start]).items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            values = numpy.frombuffer(raw[data_start + start : data_start + end], dtype="<f4")
            yield name, values.reshape(entry["shape"])


def wordpiece_tokens(vocabulary):
    """Converts tokens: llama.cpp marks the start of a word (U+2581), BERT its continuation (`##`)."""
    for token in vocabulary:
        if token.startswith("[") and token.endswith("]"):
            yield token, gguf.TokenType.CONTROL
        elif token.startswith("##"):
            yield token[2:], gguf.TokenType.NORMAL
        else:
            yield "\u2581" + token, gguf.TokenType.NORMAL


def add_metadata(writer, config, vocabulary):
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_license("apache-2.0")
    writer.add_source_url("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)

    tokens, types = zip(*wordpiece_tokens(vocabulary))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_type_count(config["type_vocab_size"])
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_bos_token_id(vocabulary.index("[CLS]"))
    writer.add_sep_token_id(vocabulary.index("[SEP]"))
    writer.add_unk_token_id(vocabulary.index("[UNK]"))
    writer.add_pad_token_id(vocabulary.index("[PAD]"))
    writer.add_mask_token_id(vocabulary.index("[MASK]"))
    writer.add_add_bos_token(True)
    writer.add_add_sep_token(True)


def add_tensors(writer, tensors):
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, BLOCKS)
    for name, values in sorted(tensors):
        # Mean pooling uses neither, and llama.cpp refuses unknown tensors.
        if name.startswith("pooler.") or name.endswith("position_ids"):
            continue
        target = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if target is None:
            raise SystemExit(f"{name}: no such tensor in llama.cpp's BERT")
        # llama.cpp supports the two small tables and all vectors only as f32.
        if values.ndim < 2 or target in ("position_embd.weight", "token_types.weight"):
            writer.add_tensor(target, values)
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(target, gguf.quants.quantize(values, kind), raw_dtype=kind)


def main(model_dir, out):
    config = json.loads((model_dir / "config.json").read_text())
    vocabulary = (model_dir / "vocab.txt").read_text(encoding="utf-8").split("\n")[: config["vocab_size"]]
    assert config["num_hidden_layers"] == BLOCKS and len(vocabulary) == config["vocab_size"]

    writer = gguf.GGUFWriter(out, "bert")
    add_metadata(writer, config, vocabulary)
    add_tensors(writer, read_safetensors(model_dir / "model.safetensors"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
