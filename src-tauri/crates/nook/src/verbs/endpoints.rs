//! `endpoints`: remote endpoints and their models.

use std::path::Path;

use engine::Engine;
use engine::api::{
    Endpoint, EndpointDialect, EndpointDraft, EndpointService, HeaderDraft, KeyNeed, ModelRef,
    OfferedModel, SettingsChange,
};

use crate::cli::{EndpointArgs, EndpointVerb};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::keys::{self, secret};

pub(crate) async fn endpoints(
    engine: &Engine,
    verb: EndpointVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        EndpointVerb::List => lines(
            ItemList {
                items: engine.list_endpoints().await?,
            },
            out,
            line,
        ),
        EndpointVerb::Services => lines(
            ItemList {
                items: engine.endpoint_services().await?,
            },
            out,
            service,
        ),
        EndpointVerb::Add(args) => {
            let added = add(engine, args).await?;
            if added.key_is_for_session {
                out.warn(keys::KEY_IS_LOST);
            }
            out.answer(&added, line)
        }
        EndpointVerb::Models { name } => models(engine, &name, out).await,
        EndpointVerb::Test { name } => test(engine, &name, out).await,
        EndpointVerb::Default { name } => set_default(engine, &name, out).await,
        EndpointVerb::Remove { name } => {
            let found = find::endpoint(engine, &name).await?;
            engine.delete_endpoint(found.id).await?;
            out.answer(&found, |found| {
                format!("removed {} and its key", found.name)
            })
        }
    }
}

async fn models(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let found = find::endpoint(engine, name).await?;
    lines(
        ItemList {
            items: found.models,
        },
        out,
        |model| match model.context {
            Some(context) => format!("{}  {} ({context} tokens)", model.id, model.name),
            None => format!("{}  {}", model.id, model.name),
        },
    )
}

async fn set_default(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let (endpoint, id) = find::endpoint_model(engine, name).await?;
    let default_model = Some(ModelRef::Remote { id });
    engine
        .update_settings(SettingsChange {
            default_model,
            ..SettingsChange::default()
        })
        .await?;
    out.answer(
        &find::endpoint(engine, &endpoint.id.to_string()).await?,
        now_default,
    )
}

async fn test(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let endpoint = find::endpoint(engine, name).await?;
    keys::give_to(engine, &endpoint).await?;
    let found = engine.refresh_endpoint(endpoint.id).await?;
    out.answer(&found, |found| {
        let models = found.models.len();
        let price = found.price.map(|price| {
            format!(
                "; ${:.2} in and ${:.2} out per million tokens",
                price.input, price.output
            )
        });
        format!(
            "answered in {:.0} ms; {models} model{} listed{}",
            found.took_ms,
            if models == 1 { "" } else { "s" },
            price.unwrap_or_default()
        )
    })
}

async fn add(engine: &Engine, args: EndpointArgs) -> Result<Endpoint, CommandError> {
    let EndpointArgs {
        name,
        url,
        service,
        api,
        model,
        context,
        key_from,
        headers_from,
    } = args;
    let services = engine.endpoint_services().await?;
    let known = match &service {
        Some(wanted) => Some(
            services
                .into_iter()
                .find(|one| one.id == *wanted || one.name.eq_ignore_ascii_case(wanted))
                .ok_or_else(|| {
                    CommandError::not_found(format!("there is no service named \"{wanted}\""))
                })?,
        ),
        None => None,
    };
    let dialect = match api.as_deref() {
        Some(name) => Some(dialect(name)?),
        None => known
            .as_ref()
            .filter(|_| url.is_none())
            .map(|one| one.dialect),
    };
    let url = url
        .or_else(|| known.as_ref().map(|one| one.url.clone()))
        .unwrap_or_default();
    let typed = model
        .iter()
        .map(|name| OfferedModel {
            name: name.clone(),
            context: None,
            typed: true,
        })
        .collect();
    let draft = EndpointDraft {
        name: name
            .or_else(|| known.map(|one| one.name))
            .unwrap_or_else(|| url.clone()),
        url,
        dialect,
        model: model.unwrap_or_default(),
        context,
        key: key_from.as_deref().map(secret).transpose()?,
        headers: headers_from.as_deref().map(headers).transpose()?,
        models: Some(typed),
        ..EndpointDraft::default()
    };
    Ok(engine.save_endpoint(draft).await?)
}

/// Parses the name of an API as the engine writes it.
fn dialect(name: &str) -> Result<EndpointDialect, CommandError> {
    serde_json::from_value(name.into())
        .map_err(|_| CommandError::because("badInput", format!("there is no API named \"{name}\"")))
}

/// Parses lines such as `X-Team: lamps`.
fn headers(file: &Path) -> Result<Vec<HeaderDraft>, CommandError> {
    let text = secret(file)?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            CommandError::because(
                "badInput",
                "each header line needs a name, a colon and a value, such as X-Team: lamps",
            )
        })?;
        Ok(HeaderDraft {
            name: name.trim().to_owned(),
            value: Some(value.trim().to_owned()),
        })
    };
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(header)
        .collect()
}

/// Names the new default, with its model unless that is the endpoint's own.
fn now_default(endpoint: &Endpoint) -> String {
    let model = endpoint
        .default_model
        .as_ref()
        .filter(|model| **model != endpoint.model);
    let model = model.map(|model| format!("/{model}")).unwrap_or_default();
    format!("{}{model} is now the default", endpoint.name)
}

fn line(endpoint: &Endpoint) -> String {
    let mark = if endpoint.default { "*" } else { " " };
    let model = endpoint.default_model.as_ref().unwrap_or(&endpoint.model);
    let model = if model.is_empty() {
        String::new()
    } else {
        format!(", {model}")
    };
    let count = endpoint.models.len();
    let models = if count == 0 {
        String::new()
    } else {
        format!(", {count} models")
    };
    format!(
        "{mark} {}  {} ({}{model}{models})",
        endpoint.id, endpoint.name, endpoint.url
    )
}

fn service(service: &EndpointService) -> String {
    let key = match service.key {
        KeyNeed::None => "no key",
        KeyNeed::Optional => "key optional",
        KeyNeed::Required => "needs a key",
    };
    format!("{}  {}  {} ({key})", service.id, service.name, service.url)
}
