use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// Builder for a test file: settings, then tensors, then data.
#[derive(Default)]
struct TestGguf {
    pairs: Vec<Vec<u8>>,
    tensors: Vec<Vec<u8>>,
    data: usize,
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

impl TestGguf {
    fn pair(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.pairs
            .push([string(key), kind.to_le_bytes().to_vec(), value.to_vec()].concat());
        self
    }

    fn text(self, key: &str, text: &str) -> Self {
        self.pair(key, 8, &string(text))
    }

    fn number(self, key: &str, number: u32) -> Self {
        self.pair(key, 4, &number.to_le_bytes())
    }

    fn texts(self, key: &str, texts: &[&str]) -> Self {
        let mut value = [
            8u32.to_le_bytes().to_vec(),
            (texts.len() as u64).to_le_bytes().to_vec(),
        ]
        .concat();
        texts.iter().for_each(|text| value.extend(string(text)));
        self.pair(key, 9, &value)
    }

    fn tensor(mut self, name: &str, shape: &[u64], kind: u32, offset: u64) -> Self {
        let mut tensor = [string(name), (shape.len() as u32).to_le_bytes().to_vec()].concat();
        shape
            .iter()
            .for_each(|length| tensor.extend(length.to_le_bytes()));
        tensor.extend(kind.to_le_bytes());
        tensor.extend(offset.to_le_bytes());
        self.tensors.push(tensor);
        self
    }

    fn data(mut self, bytes: usize) -> Self {
        self.data = bytes;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = [&b"GGUF"[..], &3u32.to_le_bytes()].concat();
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.pairs.len() as u64).to_le_bytes());
        self.pairs
            .iter()
            .chain(&self.tensors)
            .for_each(|part| bytes.extend(part));
        bytes.resize(bytes.len().next_multiple_of(32) + self.data, 0);
        bytes
    }
}

fn small_model() -> TestGguf {
    TestGguf::default()
        .text("general.architecture", "llama")
        .text("general.name", "Tiny")
        .number("general.file_type", 15)
        .number("llama.context_length", 8192)
        .number("llama.block_count", 30)
        .number("llama.embedding_length", 576)
        .number("llama.attention.head_count", 9)
        .number("llama.attention.head_count_kv", 3)
        .texts("tokenizer.ggml.tokens", &["<unk>", "<s>", "</s>", "a"])
        .number("tokenizer.ggml.bos_token_id", 1)
        .number("tokenizer.ggml.eos_token_id", 2)
        .pair("tokenizer.ggml.add_bos_token", 7, &[1])
        .text("tokenizer.chat_template", "{{ messages }}")
        .tensor("token_embd.weight", &[32, 4], 3, 0)
        .tensor("output_norm.weight", &[8], 0, 96)
        .data(128)
}

fn parsed(bytes: &[u8]) -> Result<GgufHeader, GgufFault> {
    parse(Cursor::new(bytes), bytes.len() as u64)
}

fn fault(sketch: &TestGguf) -> String {
    parsed(&sketch.bytes()).unwrap_err().to_string()
}

#[test]
fn reads_the_fields_of_a_header() {
    let header = parsed(&small_model().bytes()).unwrap();
    assert_eq!(header.architecture, "llama");
    assert_eq!(header.name.as_deref(), Some("Tiny"));
    assert_eq!(header.context_length, Some(8192));
    assert_eq!(header.chat_template.as_deref(), Some("{{ messages }}"));
    assert_eq!(
        (header.bos.as_deref(), header.eos.as_deref()),
        (Some("<s>"), Some("</s>"))
    );
    assert_eq!(header.add_bos, Some(true));
    assert_eq!(header.file_type, Some("Q4_K_M"));
    assert_eq!(header.tensors, 2);
    // 30 layers x 3 heads x (64 + 64) values x 2 bytes.
    assert_eq!(header.cache_bytes_per_token, Some(23_040));
}

#[test]
fn truncated_file_reports_its_length() {
    let model = TestGguf::default()
        .text("general.architecture", "llama")
        .tensor("token_embd.weight", &[1024, 1024, 23], 0, 0)
        .data(61 * 1024 * 1024);
    assert_eq!(
        fault(&model),
        "is incomplete: it ends in the tensor data, after 61 of 92 MiB. Download it again"
    );
    let whole = small_model().bytes();
    assert_eq!(
        parsed(&whole[..70]).unwrap_err().to_string(),
        "is incomplete: it ends in its settings, after 70 bytes. Download it again"
    );
    assert_eq!(
        parsed(&whole[..10]).unwrap_err().to_string(),
        "is incomplete: it ends in its header, after 10 bytes. Download it again"
    );
}

#[test]
fn explains_files_that_are_not_models() {
    for (bytes, named) in [
        (&b"<!DOCTYPE html><title>404</title>"[..], "a web page"),
        (
            b"version https://git-lfs.github.com/spec/v1",
            "a Git LFS pointer",
        ),
        (b"PK\x03\x04 and more", "a ZIP archive"),
        (b"tjgg\x03\0\0\0", "the older GGML format"),
        (b"{\"error\": \"not found\"}", "JSON text"),
        (b"OggS and more", "it begins with \"OggS\""),
        (b"", "is empty"),
    ] {
        let why = parsed(bytes).unwrap_err().to_string();
        assert!(why.contains(named), "{why}");
    }
    let mut other = small_model().bytes();
    other[4] = 1;
    assert_eq!(
        parsed(&other).unwrap_err().to_string(),
        "is a GGUF file of version 1; versions 2 and 3 are supported. Download a newer conversion of the model"
    );
    other[4..8].copy_from_slice(&3u32.to_be_bytes());
    assert!(matches!(parsed(&other), Err(GgufFault::BigEndian)));
    assert_eq!(
        fault(&TestGguf::default().text("general.architecture", "x")),
        "contains only a vocabulary and no weights. Add the complete model file"
    );
    assert_eq!(
        fault(&TestGguf::default().tensor("t", &[1], 0, 0).data(4)),
        "does not name its architecture"
    );
}

/// The metadata decides the purpose, with or without weights; otherwise the tensor names decide.
#[test]
fn explains_models_for_other_tasks() {
    let of = |architecture: &str| TestGguf::default().text("general.architecture", architecture);
    let part = |number: u16, count: u16| {
        small_model()
            .pair("split.no", 2, &number.to_le_bytes())
            .pair("split.count", 2, &count.to_le_bytes())
    };
    for (sketch, tensor, named) in [
        (
            of("clip").text("general.type", "mmproj"),
            "v.patch_embd.weight",
            "mmproj",
        ),
        (of("clip"), "mm.0.weight", "mmproj"),
        (
            of("llama").text("general.type", "adapter"),
            "blk.0.attn_q.weight.lora_a",
            "LoRA) for a llama model",
        ),
        (
            of("llama"),
            "blk.0.attn_q.weight.lora_a",
            "LoRA) for a llama model",
        ),
        (TestGguf::default(), "blk.0.attn_q.weight.lora_a", "LoRA"),
        (of("controlvector"), "direction.1", "a control vector"),
        (of("whisper"), "encoder.conv1.weight", "Whisper"),
        (
            of("flux"),
            "double_blocks.0.img_attn.proj.weight",
            "generates pictures (flux)",
        ),
        (
            TestGguf::default(),
            "model.diffusion_model.input_blocks.0.0.weight",
            "generates pictures",
        ),
        (of("t5encoder"), "enc.blk.0.attn_q.weight", "text encoder"),
        (
            TestGguf::default().text("general.type", "imatrix"),
            "blk.0.in_sum2",
            "imatrix",
        ),
        (part(0, 2), "more", "part 1 of 2 of a split model"),
        (part(3, 5), "more", "part 4 of 5 of a split model"),
    ] {
        let offset = 128;
        assert!(
            fault(&sketch.tensor(tensor, &[1], 0, offset).data(132)).contains(named),
            "{named}"
        );
    }
    for architecture in ["clip", "whisper", "flux", "controlvector"] {
        assert!(
            fault(&of(architecture)).contains("Add a") || architecture == "clip",
            "{architecture} without tensors"
        );
    }
    assert!(
        parsed(&part(0, 1).bytes()).is_ok(),
        "a single part is a complete model"
    );
}

#[test]
fn recognises_embedding_models() {
    let embeds = |sketch: TestGguf| {
        parsed(&sketch.tensor("t", &[1], 0, 0).data(4).bytes())
            .unwrap()
            .embeds
    };
    assert!(embeds(
        TestGguf::default().text("general.architecture", "nomic-bert")
    ));
    assert!(embeds(
        TestGguf::default()
            .text("general.architecture", "qwen3")
            .number("qwen3.pooling_type", 3)
    ));
    assert!(!embeds(
        TestGguf::default()
            .text("general.architecture", "qwen3")
            .number("qwen3.pooling_type", 0)
    ));
}

#[test]
fn refuses_false_sizes_before_allocating() {
    let tensor = |shape: &[u64], kind, offset| {
        fault(
            &TestGguf::default()
                .text("general.architecture", "x")
                .tensor("t", shape, kind, offset)
                .data(64),
        )
    };
    assert_eq!(
        tensor(&[u64::MAX, 2], 0, 0),
        "is damaged: the tensor \"t\" is larger than any file"
    );
    assert_eq!(
        tensor(&[1 << 62], 0, 0),
        "is damaged: the tensor \"t\" is larger than any file"
    );
    assert_eq!(
        tensor(&[33], 3, 0),
        "is damaged: the tensor \"t\" has rows that are not a multiple of its block size"
    );
    assert_eq!(
        tensor(&[1], 31, 0),
        "is damaged: the tensor \"t\" has a type that this version does not support"
    );
    assert_eq!(
        tensor(&[1], 0, 7),
        "is damaged: the tensor \"t\" is not aligned"
    );
    assert_eq!(
        tensor(&[1; 5], 0, 0),
        "is damaged: the tensor \"t\" has more than four dimensions"
    );
    assert!(
        tensor(&[1], 0, u64::MAX - 31).starts_with("is incomplete: it ends in the tensor data")
    );

    let huge_list = [8u32.to_le_bytes().to_vec(), u64::MAX.to_le_bytes().to_vec()].concat();
    assert!(fault(&TestGguf::default().pair("k", 9, &huge_list)).contains("values in a list"));
    assert!(
        fault(&TestGguf::default().pair("k", 8, &u64::MAX.to_le_bytes()))
            .starts_with("is incomplete")
    );
    assert_eq!(
        fault(&TestGguf::default().pair("k", 99, &[])),
        "is damaged: \"k\" has a value of an unknown kind (99)"
    );
    assert_eq!(
        fault(&TestGguf::default().number("k", 1).number("k", 1)),
        "is damaged: \"k\" occurs twice"
    );
    let mut counts = small_model().bytes();
    counts[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(
        parsed(&counts),
        Err(GgufFault::TooMany {
            what: "tensors",
            ..
        })
    ));
}

#[test]
fn a_token_id_beyond_the_vocabulary_has_no_text() {
    let model = small_model().number("tokenizer.ggml.padding_token_id", 4);
    assert_eq!(parsed(&model.bytes()).unwrap().bos.as_deref(), Some("<s>"));
    let odd = TestGguf::default()
        .text("general.architecture", "x")
        .texts("tokenizer.ggml.tokens", &["a"])
        .number("tokenizer.ggml.bos_token_id", u32::MAX)
        .tensor("t", &[1], 0, 0)
        .data(4);
    assert_eq!(parsed(&odd.bytes()).unwrap().bos, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn mutated_headers_are_read_or_refused(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = small_model().bytes();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut {
            bytes.truncate(keep.index(bytes.len()));
        }
        let _ = parsed(&bytes).map_err(|fault| fault.to_string());
    }

    #[test]
    fn random_bytes_after_the_magic_are_read_or_refused(tail in proptest::collection::vec(any::<u8>(), 0..300)) {
        let bytes = [&b"GGUF\x03\0\0\0"[..], &tail].concat();
        prop_assert!(parsed(&bytes).is_err());
    }
}

fn part(number: u16, count: u16) -> TestGguf {
    TestGguf::default()
        .pair("split.no", 2, &(number - 1).to_le_bytes())
        .pair("split.count", 2, &count.to_le_bytes())
        .tensor(&format!("blk.{number}.weight"), &[8], 0, 0)
        .data(32)
}

fn first_part(count: u16) -> TestGguf {
    small_model().pair("split.no", 2, &0u16.to_le_bytes()).pair(
        "split.count",
        2,
        &count.to_le_bytes(),
    )
}

#[test]
fn split_model_is_read_with_all_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |number: u16| {
        folder
            .path()
            .join(format!("Tiny-{number:05}-of-00003.gguf"))
    };
    std::fs::write(path(1), first_part(3).bytes()).unwrap();
    std::fs::write(path(2), part(2, 3).bytes()).unwrap();
    let missing = read(&path(1)).unwrap_err().to_string();
    assert!(
        missing.contains("Tiny-00003-of-00003.gguf is not beside it"),
        "{missing}"
    );
    std::fs::write(path(3), part(2, 3).bytes()).unwrap();
    let wrong = read(&path(1)).unwrap_err();
    assert_eq!(wrong.path, path(3));
    std::fs::write(path(3), part(3, 3).bytes()).unwrap();
    assert_eq!(read(&path(1)).unwrap().tensors, 4);
    assert_eq!(parts_of(&path(1)).len(), 3);
    let second = read(&path(2)).unwrap_err().to_string();
    assert!(
        second.contains("is part 2 of 3") && second.contains("add the first one"),
        "{second}"
    );
    let renamed = folder.path().join("tiny.gguf");
    std::fs::copy(path(1), &renamed).unwrap();
    assert!(
        read(&renamed)
            .unwrap_err()
            .to_string()
            .contains("Keep all parts in one folder")
    );
}

#[test]
fn start_of_a_file_is_read_once_it_has_the_header() {
    let bytes = small_model().bytes();
    let header = bytes.len() - 128;
    assert_eq!(parse_start(&bytes[..40], bytes.len() as u64).unwrap(), None);
    assert_eq!(
        parse_start(&bytes[..header], bytes.len() as u64)
            .unwrap()
            .unwrap()
            .architecture,
        "llama"
    );
    assert!(matches!(
        parse_start(b"<!DOCTYPE html>", 5000),
        Err(GgufFault::NotGguf(_))
    ));
    assert!(matches!(
        parse_start(&bytes[..header], header as u64),
        Err(GgufFault::CutData { .. })
    ));
}
