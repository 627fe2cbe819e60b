use super::*;

#[test]
fn service_decides_which_presets_are_active() {
    let active = |settings: Value| -> Vec<&str> {
        PRESETS
            .iter()
            .map(|(folder, _)| *folder)
            .filter(|folder| is_active(folder, &settings))
            .collect()
    };
    assert_eq!(active(json!({ "main_api": "openai" })), ["OpenAI Settings"]);
    let text = json!({ "main_api": "textgenerationwebui", "power_user": { "instruct": { "enabled": false } } });
    assert_eq!(active(text), ["TextGen Settings", "context", "sysprompt"]);
    assert_eq!(
        active(json!({ "main_api": "novel" })).last(),
        Some(&"NovelAI Settings")
    );
}

#[test]
fn visible_quick_replies_are_in_use() {
    let of = |on: bool| {
        quick_replies_in_use(
            &json!({ "extension_settings": { "quickReplyV2": { "isEnabled": on, "config": {
            "setList": [{ "set": "Default", "isVisible": true }, { "set": "Hidden", "isVisible": false }] } } } }),
        )
    };
    assert_eq!(
        (of(true), of(false)),
        (vec!["Default".to_owned()], Vec::new())
    );
}

#[test]
fn shipped_presets_are_named_in_one_line() {
    assert_eq!(shipped_row("instruct", &[]), None);
    let one = shipped_row("instruct", &["Alpaca".to_owned()])
        .unwrap()
        .reason;
    assert!(
        one.starts_with("1 preset that comes with SillyTavern was not in use"),
        "{one}"
    );
    assert!(
        one.ends_with("Alpaca. Drop its file on the window to import it"),
        "{one}"
    );
    let many: Vec<String> = (0..20).map(|number| format!("P{number}")).collect();
    let many = shipped_row("instruct", &many).unwrap().reason;
    assert!(
        many.contains("20 presets") && many.contains("P11, ..."),
        "{many}"
    );
}
