use super::*;

#[test]
fn reads_repositories_and_their_pages() {
    let parse = |text: &str| RepoId::parse(text).map(|repo| repo.as_str().to_owned());
    for good in [
        "Qwen/Qwen3-4B-GGUF",
        " Qwen/Qwen3-4B-GGUF ",
        "https://huggingface.co/Qwen/Qwen3-4B-GGUF/tree/main",
    ] {
        assert_eq!(parse(good).as_deref(), Some("Qwen/Qwen3-4B-GGUF"), "{good}");
    }
    for bad in [
        "",
        "Qwen",
        "a/b/c",
        "../etc/passwd",
        "a/..",
        "a/b c",
        "a/\u{202e}b",
        "/a/b",
        "a//b",
    ] {
        assert_eq!(parse(bad), None, "{bad}");
    }
}

#[test]
fn reads_addresses_of_hubs_and_mirrors() {
    let parse = |text: &str| {
        RepoAddress::parse(text).map(|address| (address.repo.to_string(), address.file))
    };
    for (text, file) in [
        ("hf.co/Owner/Name", None),
        ("huggingface.co/Owner/Name/", None),
        ("hf://Owner/Name", None),
        ("Owner/Name:Q4_K_M", Some("Q4_K_M")),
        ("hf.co/Owner/Name:q8_0", Some("q8_0")),
        ("https://huggingface.co/Owner/Name?library=true#files", None),
        ("https://mirror.example/hf/Owner/Name", None),
        ("https://mirror.example/hf/Owner/Name/tree/main/Q4", None),
        (
            "https://mirror.example:8443/a/b/Owner/Name/discussions/3",
            None,
        ),
        (
            "https://huggingface.co/Owner/Name/blob/main/Q4/model.gguf",
            Some("Q4/model.gguf"),
        ),
        (
            "https://hf-mirror.com/Owner/Name/resolve/main/m.gguf?download=true",
            Some("m.gguf"),
        ),
    ] {
        let expected = Some(("Owner/Name".to_owned(), file.map(str::to_owned)));
        assert_eq!(parse(text), expected, "{text}");
    }
    for bad in [
        "https://hf.co/Owner",
        "hf.co",
        "https://hf.co",
        "a/b/c:Q4",
        "https://hf.co/a/..",
        "x:y/z",
    ] {
        assert_eq!(parse(bad), None, "{bad}");
    }
    let address = RepoAddress::parse("a/b:q4_k_m").unwrap();
    assert!(address.names("sub/Model-Q4_K_M.gguf") && !address.names("Model-Q8_0.gguf"));
}

#[test]
fn files_of_one_name_get_different_places() {
    let (one, other) = (
        safe_name_with_folder("Q4/model.gguf"),
        safe_name_with_folder("a/Q8/model.gguf"),
    );
    assert_eq!(
        (one.as_str(), other.as_str()),
        ("Q4-model.gguf", "Q8-model.gguf")
    );
    assert_eq!(safe_name_with_folder("model.gguf"), "model.gguf");
}

#[test]
fn names_from_a_hub_never_leave_their_folder() {
    for (given, safe) in [
        ("sub/model-Q4_K_M.gguf", "model-Q4_K_M.gguf"),
        ("../../.bashrc", "bashrc"),
        ("..\\..\\evil.gguf", "evil.gguf"),
        ("C:\\con.gguf", "model-con.gguf"),
        ("..", "model"),
        ("ä\u{202e}\0b.gguf", "b.gguf"),
        ("", "model"),
    ] {
        assert_eq!(safe_name(given), safe, "{given:?}");
    }
    assert!(safe_name(&format!("{}-Q4_K_M.gguf", "x".repeat(500))).ends_with("-Q4_K_M.gguf"));
}

#[test]
fn reads_parts_of_split_models() {
    let part = split_part("Big-Q8_0-00002-of-00003.gguf").unwrap();
    assert_eq!((part.stem, part.number, part.count), ("Big-Q8_0", 2, 3));
    for whole in [
        "a.gguf",
        "a-00004-of-00003.gguf",
        "a-00000-of-00003.gguf",
        "a-2-of-3.gguf",
        "a-00001-of-00002.bin",
    ] {
        assert_eq!(split_part(whole), None, "{whole}");
    }
}

#[test]
fn reads_quantisations_from_names() {
    for (name, expected) in [
        ("Mistral-Nemo-Instruct-2407-Q4_K_M.gguf", Some("Q4_K_M")),
        ("smollm2-1.7b-instruct-q4_k_m.gguf", Some("Q4_K_M")),
        ("phi-4-IQ4_XS.gguf", Some("IQ4_XS")),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", Some("Q4_1")),
        ("qwen2.5-7b-instruct-fp16-00001-of-00004.gguf", Some("F16")),
        ("gemma-3-4b-it-BF16.gguf", Some("BF16")),
        ("model.gguf", None),
        ("Q5_K_M/model.gguf", Some("Q5_K_M")),
        ("Q4_K_MAGIC.gguf", None),
    ] {
        assert_eq!(quantisation(name), expected, "{name}");
    }
    assert!(
        QUANTISATIONS
            .iter()
            .all(|(name, _)| quantisation(&format!("x-{name}.gguf")) == Some(name))
    );
}

#[test]
fn tells_models_from_their_parts() {
    assert_eq!(purpose("mmproj-model-f16.gguf"), FilePurpose::Projector);
    assert_eq!(
        purpose("gemma-3-4b-it.mmproj-Q8_0.gguf"),
        FilePurpose::Projector
    );
    assert_eq!(purpose("style-lora-f16.gguf"), FilePurpose::Other);
    assert_eq!(purpose("model.imatrix.gguf"), FilePurpose::Other);
    assert_eq!(purpose("Explorator-7B.gguf"), FilePurpose::Model);
}
