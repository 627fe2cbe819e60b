//! Reads the lists of models of OpenAI-compatible servers.

use serde_json::Value;

use crate::endpoint::api::{ListedModel, ModelPrice, tokens};
use crate::endpoint::api_error::number;

/// Maximum number of models in a list. It is larger than any known list.
pub(crate) const MAX_MODELS: usize = 2000;

/// Returns `None` if `list` is not a list of models. An empty list or `null` is valid.
pub(crate) fn listed(list: &Value) -> Option<Vec<ListedModel>> {
    let of = |key: &str| list.get(key);
    let entries = match (of("data"), of("models")) {
        (Some(Value::Array(entries)), _) | (_, Some(Value::Array(entries))) => entries.as_slice(),
        (Some(Value::Null), _) | (_, Some(Value::Null)) => &[],
        _ if of("object").is_some_and(|kind| kind == "list") => &[],
        _ => list.as_array()?.as_slice(),
    };
    let models: Vec<ListedModel> = entries.iter().filter_map(model).take(MAX_MODELS).collect();
    (entries.is_empty() || !models.is_empty()).then_some(models)
}

fn model(entry: &Value) -> Option<ListedModel> {
    let name = ["id", "name", "model"]
        .iter()
        .find_map(|key| entry.get(*key)?.as_str());
    let name = name.or_else(|| entry.as_str())?.to_owned();
    Some(ListedModel {
        name,
        context: context_of(entry),
        price: price_of(&entry["pricing"]),
    })
}

/// Reads `meta.n_ctx` (llama.cpp), `max_model_len` (vLLM) or `context_length` (OpenRouter).
fn context_of(entry: &Value) -> Option<u32> {
    [
        &entry["meta"]["n_ctx"],
        &entry["max_model_len"],
        &entry["context_length"],
    ]
    .into_iter()
    .find_map(tokens)
}

/// OpenRouter's prices, in dollars per token. A router without a fixed price says -1.
fn price_of(pricing: &Value) -> Option<ModelPrice> {
    let of = |name: &str| {
        number(&pricing[name])
            .filter(|price| *price >= 0.0)
            .map(|price| price * 1e6)
    };
    Some(ModelPrice {
        input: of("prompt")?,
        output: of("completion")?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_prices_per_million_tokens() {
        let model = |pricing: Value| {
            listed(&json!({"data": [{"id": "a", "pricing": pricing}]})).unwrap()[0].price
        };
        let price = model(json!({"prompt": "0.0000025", "completion": "0.00001"})).unwrap();
        assert!(
            (price.input - 2.5).abs() < 1e-9 && (price.output - 10.0).abs() < 1e-9,
            "{price:?}"
        );
        assert_eq!(
            model(json!({"prompt": "0", "completion": "0"})),
            Some(ModelPrice::default())
        );
        for odd in [
            json!(null),
            json!({"prompt": "-1", "completion": "-1"}),
            json!({"prompt": "x"}),
            json!(7),
        ] {
            assert_eq!(model(odd.clone()), None, "{odd}");
        }
    }
}
