//! Models with their adapters and projectors, endpoints, and token counts.

use domain::model::{Endpoint, EndpointDialect, LocalModel};
use domain::{EndpointId, ModelId, Timestamp};
use uuid::Uuid;

use crate::tests::{empty_store, purge, uuid};
use crate::{AssetHash, ModelAdapter, ProjectorChoice, StoreError, TextHash};

#[tokio::test]
async fn an_adapter_is_removed_with_its_model() {
    let store = empty_store();
    let model = LocalModel {
        id: ModelId(uuid(1)),
        name: "SmolLM2".into(),
        path: "/models/smol.gguf".into(),
        bytes: 1,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    };
    let adapter = |name: &str, weight| ModelAdapter {
        path: format!("/models/{name}.gguf"),
        weight,
    };
    let id = model.id;
    let adapters = vec![adapter("pirate", 0.5), adapter("calm", 1.0)];
    let stored = adapters.clone();
    let first = adapter("pirate", 1.0);
    store
        .write(move |w| {
            w.models_mut().insert(&model)?;
            w.model_adapters_mut().set(id, &[first])?;
            w.model_adapters_mut().set(id, &stored)
        })
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.model_adapters().of(id))
            .await
            .unwrap(),
        adapters
    );
    store
        .write(move |w| w.models_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.model_adapters().of(id))
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn choice_of_projector_is_removed_with_its_model() {
    let store = empty_store();
    let model = LocalModel {
        id: ModelId(uuid(1)),
        name: "Eyes".into(),
        path: "/models/eyes.gguf".into(),
        bytes: 1,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    };
    let id = model.id;
    let row = model.clone();
    let choice = async || {
        store
            .read(move |r| r.model_projectors().get(id))
            .await
            .unwrap()
    };
    store
        .write(move |w| w.models_mut().insert(&row))
        .await
        .unwrap();
    assert_eq!(choice().await, ProjectorChoice::Automatic);
    let file = ProjectorChoice::File("/models/mmproj.gguf".into());
    for next in [
        ProjectorChoice::None,
        file.clone(),
        ProjectorChoice::Automatic,
        file,
    ] {
        let chosen = next.clone();
        store
            .write(move |w| w.model_projectors_mut().set(id, &chosen))
            .await
            .unwrap();
        assert_eq!(choice().await, next);
    }
    store
        .write(move |w| w.models_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(choice().await, ProjectorChoice::Automatic);
}

fn smol() -> LocalModel {
    LocalModel {
        id: ModelId(uuid(1)),
        name: "SmolLM2".into(),
        path: "/models/smol.gguf".into(),
        bytes: 5_000_000_000,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    }
}

fn home() -> Endpoint {
    Endpoint {
        id: EndpointId(uuid(2)),
        name: "home".into(),
        url: "http://127.0.0.1:8080/v1".into(),
        model: String::new(),
        context: 4096,
        dialect: EndpointDialect::OpenAi,
        headers: vec!["x-team".into()],
    }
}

#[tokio::test]
async fn models_and_endpoints_are_stored_unchanged() {
    let store = empty_store();
    let model = smol();
    let endpoint = home();
    let first = model.clone();
    let second = endpoint.clone();
    store
        .write(move |w| {
            w.models_mut().insert(&first)?;
            w.endpoints_mut().insert(&second)?;
            w.models_mut().update(&LocalModel {
                name: "Smol".into(),
                ..first
            })?;
            w.endpoints_mut().update(&Endpoint {
                context: 8192,
                ..second
            })
        })
        .await
        .unwrap();
    let (models, endpoints) = store
        .read(|r| Ok((r.models().list()?, r.endpoints().list()?)))
        .await
        .unwrap();
    assert_eq!(
        models,
        [LocalModel {
            name: "Smol".into(),
            ..model.clone()
        }]
    );
    assert_eq!(
        endpoints,
        [Endpoint {
            context: 8192,
            ..endpoint.clone()
        }]
    );

    let model = model.id;
    let endpoint = endpoint.id;
    store
        .write(move |w| {
            w.models_mut().delete(model)?;
            w.endpoints_mut().delete(endpoint)
        })
        .await
        .unwrap();
    let left = store
        .read(move |r| Ok((r.models().get(model)?, r.endpoints().get(endpoint)?)))
        .await
        .unwrap();
    assert_eq!(left, (None, None));
}

#[tokio::test]
async fn token_counts_belong_to_a_tokenizer() {
    let store = empty_store();
    let hello = TextHash::of("hello");
    let bye = TextHash::of("bye");
    let new = TextHash::of("new");
    store
        .checkpoint(move |w| {
            w.token_counts_mut()
                .insert_many("smol", &[(hello, 1), (bye, 2)])?;
            w.token_counts_mut().insert_many("other", &[(hello, 7)])
        })
        .await
        .unwrap();
    let known = store
        .read(move |r| r.token_counts().get_many("smol", &[hello, bye, new]))
        .await
        .unwrap();
    assert_eq!(known, [(hello, 1), (bye, 2)].into());
    let known = store
        .read(move |r| r.token_counts().get_many("other", &[hello, bye]))
        .await
        .unwrap();
    assert_eq!(known, [(hello, 7)].into());
}

#[tokio::test]
async fn a_calibration_is_removed_with_its_endpoint() {
    let store = empty_store();
    let endpoint = Endpoint {
        id: EndpointId(Uuid::now_v7()),
        name: "elsewhere".into(),
        url: "https://api.example.com/v1".into(),
        model: "large".into(),
        context: 32_768,
        dialect: EndpointDialect::OpenAi,
        headers: Vec::new(),
    };
    let id = endpoint.id;
    store
        .write(move |w| {
            w.endpoints_mut().insert(&endpoint)?;
            w.calibrations_mut().set(id, "large", "{\"a\": 1}")?;
            w.endpoint_dialects_mut().set(id, "large", "{\"b\": 1}")?;
            w.calibrations_mut().set(id, "large", "{\"a\": 2}")
        })
        .await
        .unwrap();
    let get = move |model: &'static str| store_get(id, model);
    assert_eq!(
        store.read(get("large")).await.unwrap().as_deref(),
        Some("{\"a\": 2}")
    );
    assert_eq!(store.read(get("small")).await.unwrap(), None);
    let dialect = move || store_dialect(id, "large");
    assert_eq!(
        store.read(dialect()).await.unwrap().as_deref(),
        Some("{\"b\": 1}")
    );
    store
        .write(move |w| w.endpoints_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(store.read(get("large")).await.unwrap(), None);
    assert_eq!(store.read(dialect()).await.unwrap(), None);
}

fn store_dialect(
    id: EndpointId,
    model: &'static str,
) -> impl FnOnce(&crate::ReadTransaction<'_>) -> Result<Option<String>, StoreError> {
    move |read| read.endpoint_dialects().get(id, model)
}

fn store_get(
    id: EndpointId,
    model: &'static str,
) -> impl FnOnce(&crate::ReadTransaction<'_>) -> Result<Option<String>, StoreError> {
    move |read| read.calibrations().get(id, model)
}

#[tokio::test]
async fn a_tokenizer_survives_edits_of_its_endpoint() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::tests::open(dir.path()).store;
    let endpoint = Endpoint {
        id: EndpointId(Uuid::now_v7()),
        name: "elsewhere".into(),
        url: "https://api.example.com/v1".into(),
        model: "large".into(),
        context: 32_768,
        dialect: EndpointDialect::OpenAi,
        headers: Vec::new(),
    };
    let id = endpoint.id;
    let renamed = Endpoint {
        name: "far away".into(),
        ..endpoint.clone()
    };
    let hash = store
        .write(move |w| {
            w.endpoints_mut().insert(&endpoint)?;
            let hash = w
                .assets_mut()
                .put(b"{}", "application/json", Timestamp(1))?;
            w.endpoints_mut().set_tokenizer(id, Some(hash))?;
            w.endpoints_mut().update(&renamed)?;
            Ok(hash)
        })
        .await
        .unwrap();
    assert_eq!(purge(&store, 5).await.assets, 0);
    assert_eq!(
        store
            .read(move |r| r.endpoints().tokenizer(id, "large"))
            .await
            .unwrap(),
        Some(hash)
    );
    let unknown = AssetHash::of(b"never kept");
    store
        .write(move |w| w.endpoints_mut().set_tokenizer(id, Some(unknown)))
        .await
        .unwrap_err();
    store
        .write(move |w| w.endpoints_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.endpoints().tokenizer(id, "large"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(purge(&store, 5).await.assets, 1);
}
