//! Files of a card in the editor: list, show, rename, remove and add. Every export format keeps
//! them.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::CharacterId;
use engine::api::{ApiError, CardAsset, CardAssetPlace, CardFormat};
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::write::SimpleFileOptions;

fn picture(shade: u8) -> Vec<u8> {
    let mut png = Cursor::new(Vec::new());
    RgbImage::from_pixel(8, 8, image::Rgb([shade; 3]))
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    png.into_inner()
}

fn card(assets: Value) -> String {
    let data = json!({ "name": "Mira", "first_mes": "Hello.", "group_only_greetings": [], "assets": assets });
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": data }).to_string()
}

fn asset(kind: &str, name: &str, uri: &str) -> Value {
    json!({ "type": kind, "name": name, "ext": "png", "uri": uri, "own": [7] })
}

fn charx(assets: Value, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let json = card(assets);
    for (name, bytes) in [("card.json", json.as_bytes())].iter().chain(files) {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

struct House {
    app: Headless,
    mira: CharacterId,
}

impl House {
    async fn with(file: &str, bytes: Vec<u8>) -> Self {
        let app = Headless::new().await;
        let report = app.engine.import_bytes(file.into(), bytes).await.unwrap();
        Self {
            mira: report.imported[0].id.parse().unwrap(),
            app,
        }
    }

    async fn list(&self) -> Vec<CardAsset> {
        self.app.engine.card_assets(self.mira).await.unwrap()
    }

    async fn named(&self, name: &str) -> String {
        self.list()
            .await
            .into_iter()
            .find(|one| one.name == name)
            .unwrap()
            .id
    }

    async fn shown(&self, name: &str) -> Option<Vec<u8>> {
        let hash = self
            .app
            .engine
            .show_card_asset(self.mira, self.named(name).await)
            .await
            .unwrap()?;
        Some(self.app.engine.asset(hash).await.unwrap().bytes)
    }

    async fn add(&self, kind: &str, file: &str, bytes: &[u8]) -> Result<Vec<CardAsset>, ApiError> {
        let data = BASE64_STANDARD.encode(bytes);
        self.app
            .engine
            .add_card_asset(self.mira, kind.into(), file.into(), data)
            .await
    }

    /// Returns the card as another user would import it.
    async fn handed_on(&self, format: CardFormat) -> Self {
        let exported = self
            .app
            .engine
            .export_character(self.mira, format)
            .await
            .unwrap();
        assert_eq!(exported.warnings, Vec::<String>::new(), "{format:?}");
        Self::with(&exported.file_name, exported.bytes).await
    }
}

fn told(list: &[CardAsset]) -> Vec<String> {
    let place = |one: &CardAsset| match &one.place {
        CardAssetPlace::Here => "here".to_owned(),
        CardAssetPlace::Own => "own".to_owned(),
        CardAssetPlace::Missing => "missing".to_owned(),
        CardAssetPlace::Elsewhere { uri } => uri.clone(),
    };
    list.iter()
        .map(|one| format!("{} {} {}", one.kind, one.name, place(one)))
        .collect()
}

/// Every place is listed. Nothing is requested from another machine, which would fail the import
/// here.
#[tokio::test]
async fn lists_every_file_and_shows_pictures() {
    let assets = json!([
        asset("icon", "main", "embeded://main.png"),
        asset("emotion", "joy", "embeded://faces/joy.png"),
        asset("x_song", "tune", "embeded://tune.ogg"),
        asset("emotion", "gone", "embeded://faces/gone.png"),
        asset("background", "main", "https://127.0.0.1:9/sea.png"),
        asset(
            "emotion",
            "inline",
            &format!(
                "data:image/png;base64,{}",
                BASE64_STANDARD.encode(picture(3))
            )
        ),
        asset("icon", "own", "ccdefault:"),
    ]);
    let files: [(&str, &[u8]); 3] = [
        ("main.png", &picture(1)),
        ("faces/joy.png", &picture(2)),
        ("tune.ogg", b"la"),
    ];
    let house = House::with("mira.charx", charx(assets, &files)).await;
    let list = house.list().await;
    assert_eq!(
        told(&list),
        [
            "icon main here",
            "emotion joy here",
            "x_song tune here",
            "emotion gone missing",
            "background main https://127.0.0.1:9/sea.png",
            "emotion inline here",
            "icon own own",
        ]
    );
    let joy = image::load_from_memory(&house.shown("joy").await.unwrap())
        .unwrap()
        .to_rgb8();
    assert!(
        joy.get_pixel(0, 0).0[0].abs_diff(2) < 3,
        "the exact picture"
    );
    assert!(house.shown("inline").await.is_some());
    for name in ["tune", "gone"] {
        assert_eq!(
            house.shown(name).await,
            None,
            "{name} is not an available picture"
        );
    }
    let unknown = house
        .app
        .engine
        .show_card_asset(house.mira, "1-000000000000".into())
        .await;
    assert!(
        matches!(unknown, Err(ApiError::NotFound { .. })),
        "an id of another list"
    );
}

/// Changed files are exported with the card, and unchanged ones stay identical, in every format.
#[tokio::test]
async fn edited_files_are_exported_with_the_card() {
    let assets = json!([
        asset("icon", "main", "embeded://main.png"),
        asset("emotion", "joy", "embeded://joy.png")
    ]);
    let files: [(&str, &[u8]); 2] = [("main.png", &picture(1)), ("joy.png", &picture(2))];
    let house = House::with("mira.charx", charx(assets, &files)).await;
    let (engine, mira) = (&house.app.engine, house.mira);
    house
        .add("emotion", "folder/Sad ness.PNG", &picture(4))
        .await
        .unwrap();
    let list = house.add("x_song", "tune.ogg", b"la la").await.unwrap();
    assert_eq!(
        told(&list)[2..],
        ["emotion Sad ness here", "x_song tune here"]
    );
    assert_eq!(
        list.iter().map(|one| one.ext.as_str()).collect::<Vec<_>>(),
        ["png", "png", "png", "ogg"]
    );

    let renamed =
        engine.update_card_asset(mira, list[1].id.clone(), "emotion".into(), "delight".into());
    assert_eq!(told(&renamed.await.unwrap())[1], "emotion delight here");
    let second = engine
        .update_card_asset(mira, list[2].id.clone(), "icon".into(), "main".into())
        .await;
    assert!(
        matches!(second, Err(ApiError::BadInput { .. })),
        "{second:?}"
    );
    let stale = engine.remove_card_asset(mira, list[1].id.clone()).await;
    assert!(
        matches!(stale, Err(ApiError::NotFound { .. })),
        "it was renamed"
    );

    for format in [CardFormat::Charx, CardFormat::Png, CardFormat::JsonV3] {
        let exported = engine.export_character(mira, format).await.unwrap();
        let left = usize::from(format != CardFormat::Charx);
        assert_eq!(
            exported.warnings.len(),
            left,
            "{format:?} cannot contain the archive's other files"
        );
        let other = House::with(&exported.file_name, exported.bytes).await;
        let (own, theirs) = (told(&house.list().await), told(&other.list().await));
        assert_eq!(theirs[2..], own[2..], "{format:?}");
        assert!(other.shown("Sad ness").await.is_some(), "{format:?}");
    }

    let removed = engine
        .remove_card_asset(mira, house.named("Sad ness").await)
        .await
        .unwrap();
    assert_eq!(house.list().await.len(), 3);
    assert_eq!(
        house.handed_on(CardFormat::Charx).await.list().await.len(),
        3
    );
    let back = engine.restore_card_asset(mira, removed).await.unwrap();
    assert_eq!(told(&back)[2], "emotion Sad ness here");
    let trap = json!({ "at": 0, "asset": {}, "file": ["../../x.png", "0".repeat(64)] }).to_string();
    assert!(matches!(
        engine.restore_card_asset(mira, trap).await,
        Err(ApiError::BadInput { .. })
    ));
    let card = engine
        .export_character(mira, CardFormat::JsonV3)
        .await
        .unwrap();
    let card: Value = serde_json::from_slice(&card.bytes).unwrap();
    assert_eq!(
        card["data"]["assets"][1]["own"],
        json!([7]),
        "unknown fields stay"
    );
}

/// A card without a file list has its own picture, also after another file is added.
#[tokio::test]
async fn card_without_a_list_keeps_its_picture() {
    let house = House::with("mira.json", card(Value::Null).into_bytes()).await;
    assert_eq!(house.list().await, []);
    let list = house.add("emotion", "joy.png", &picture(5)).await.unwrap();
    assert_eq!(told(&list), ["icon main own", "emotion joy here"]);
    assert_eq!(
        house.add("emotion", "joy.png", &picture(5)).await.unwrap(),
        list,
        "adding the same file again changes nothing"
    );
    let (png, charx) = (
        house.handed_on(CardFormat::Png).await,
        house.handed_on(CardFormat::Charx).await,
    );
    assert!(png.shown("joy").await.is_some() && charx.shown("joy").await.is_some());
    assert!(matches!(
        house.add("", "x.png", b"x").await,
        Err(ApiError::BadInput { .. })
    ));

    let id = house.mira;
    let app = house.app.restart().await;
    assert_eq!(
        told(&app.engine.card_assets(id).await.unwrap()),
        told(&list),
        "it survives a restart"
    );
}
