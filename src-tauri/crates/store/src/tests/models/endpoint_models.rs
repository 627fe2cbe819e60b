//! The models of endpoints.

use domain::EndpointId;
use domain::model::{Endpoint, EndpointDialect};
use uuid::Uuid;

use crate::Store;
use crate::tests::empty_store;

async fn with_models(models: &[&str]) -> (Store, EndpointId) {
    let store = empty_store();
    let endpoint = Endpoint {
        id: EndpointId(Uuid::now_v7()),
        name: "elsewhere".into(),
        dialect: EndpointDialect::OpenAi,
        url: "https://api.example.com/v1".into(),
        model: "large".into(),
        context: 32_768,
        headers: Vec::new(),
    };
    let id = endpoint.id;
    let rows = rows(models);
    store
        .write(move |w| {
            w.endpoints_mut().insert(&endpoint)?;
            w.endpoint_models_mut().replace(id, &rows)
        })
        .await
        .unwrap();
    (store, id)
}

fn rows(models: &[&str]) -> Vec<(String, Option<u32>, bool)> {
    models
        .iter()
        .map(|name| ((*name).to_owned(), Some(4_096), false))
        .collect()
}

async fn list(store: &Store, id: EndpointId) -> Vec<(EndpointId, String)> {
    let models = store
        .read(move |r| r.endpoint_models().of(id))
        .await
        .unwrap();
    models
        .into_iter()
        .map(|model| (model.id, model.name))
        .collect()
}

#[tokio::test]
async fn a_new_list_keeps_known_ids() {
    let (store, id) = with_models(&["large", "small"]).await;
    let before = list(&store, id).await;
    store
        .write(move |w| {
            w.endpoint_models_mut()
                .replace(id, &rows(&["new", "small"]))
        })
        .await
        .unwrap();
    let after = list(&store, id).await;
    assert_eq!(
        after
            .iter()
            .map(|(_, name)| name.as_str())
            .collect::<Vec<_>>(),
        ["new", "small"]
    );
    assert_eq!(after[1], before[1]);
}

#[tokio::test]
async fn a_model_no_longer_offered_still_resolves() {
    let (store, id) = with_models(&["large", "small"]).await;
    let small = list(&store, id).await[1].0;
    store
        .write(move |w| w.endpoint_models_mut().replace(id, &[]))
        .await
        .unwrap();
    let resolved = store
        .read(move |r| r.endpoint_models().resolve(small))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (resolved.id, resolved.model.as_str(), resolved.context),
        (id, "small", 4_096)
    );
}

#[tokio::test]
async fn an_endpoint_id_selects_its_default_model() {
    let (store, id) = with_models(&["small"]).await;
    let resolved = store
        .read(move |r| r.endpoint_models().resolve(id))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (resolved.model.as_str(), resolved.context),
        ("large", 32_768)
    );
    let small = list(&store, id).await[0].0;
    store
        .write(move |w| w.endpoints_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.endpoint_models().resolve(small))
            .await
            .unwrap(),
        None
    );
}
