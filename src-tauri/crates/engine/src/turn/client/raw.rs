//! A reply of a model without a character. Its prompt is what the client sent: nothing is added and
//! nothing is left out.

use std::sync::Arc;

use context::display::PassageFilter;
use context::tools::ToolForm;
use context::{CountTokens, Estimate};
use domain::chat::{Chat, WindowState};
use domain::prompt::{Prompt, PromptMessage};
use domain::sampling::{Dry, Dynatemp, Mirostat, SamplerOrder, Sampling, TokenRules, Xtc};
use domain::{CharacterId, ChatId, Timestamp};
use provider::Request;
use uuid::Uuid;

use crate::api::TurnOptions;
use crate::api::client::{ClientOptions, ReplyPlace, ReplyStream};
use crate::base::error::ApiResult;
use crate::settings::model_handles::handle::ModelHandle;
use crate::settings::models::raw_models::RawModel;
use crate::turn::client::calls::Conversation;
use crate::turn::client::stream::{ReplyReader, ReplyText};
use crate::turn::client::{Clients, options, raw_prompt, schema};
use crate::turn::tools::offered;
use crate::turn::tools::turn_tools::TurnTools;

/// Longest reply of an endpoint's model if the client sets no limit, in tokens.
const ENDPOINT_REPLY: u32 = 4_096;

impl Clients {
    /// `holder` is the name of the key. `plain` continues the text of the only message instead of
    /// answering it, if the model reads text: a local one, or that of an endpoint with text
    /// completions.
    ///
    /// # Errors
    /// `NotFound` if the model is gone; `Provider` if it cannot be loaded or its chat format fails.
    pub(crate) async fn client_raw_reply(
        &self,
        (holder, raw): (&str, &RawModel),
        conversation: Conversation,
        client: &ClientOptions,
        plain: bool,
    ) -> ApiResult<ReplyStream> {
        let turn = TurnOptions {
            model: Some(raw.model.clone()),
            sampler: client.sampler,
            ..TurnOptions::default()
        };
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&nobody(), &turn)
            .await?;
        let now = self.base().clock().civil(self.base().now());
        let template = model_handle
            .template
            .as_ref()
            .map(|template| template.at(now));
        let used = conversation.call_ids();
        let mut prompt = raw_prompt::prompt(conversation);
        let tools = raw_tools(client, &model_handle)?;
        raw_prompt::offer(&mut prompt, &tools.frame);
        if let Some(template) = &template {
            if plain {
                prompt.segments = raw_prompt::plain(&prompt)
            } else {
                raw_prompt::render(template, &mut prompt)?
            }
            prompt.stop.extend(
                template
                    .stop_strings()
                    .iter()
                    .filter(|stop| !stop.trim().is_empty())
                    .cloned(),
            );
        }
        let sampling = sampling(&model_handle, client, &prompt);
        let cache_key = self
            .client_caches()
            .sequence(holder, &raw.name, texts(&prompt));
        let mut request = Request {
            cache_key,
            background: false,
            prompt,
            sampling,
            response_schema: None,
        };
        options::apply(client, &mut request);
        schema::adapt(&model_handle, &mut request.sampling.rules)?;
        if let Some(grammar) = call_grammar(&tools, &model_handle, &request.sampling.rules) {
            (
                request.sampling.rules.grammar,
                request.sampling.rules.json_schema,
            ) = (Some(grammar), None);
        }
        let opens = request
            .prompt
            .segments
            .last()
            .is_some_and(|last| last.text.trim_end().ends_with("<think>"));
        let filter = if opens {
            PassageFilter::thinking()
        } else {
            PassageFilter::default()
        };
        let reader = ReplyReader {
            text: ReplyText::Raw(filter),
            calls: tools.reader(),
            used,
        };
        Ok(self.client_stream(
            Arc::clone(&model_handle.provider),
            request,
            reader,
            ReplyPlace::default(),
        ))
    }
}

/// The messages that the model reads, in order.
fn texts(prompt: &Prompt) -> impl Iterator<Item = &str> {
    let segments = prompt.segments.iter().map(|segment| segment.text.as_str());
    let messages = prompt.messages.iter().map(|message| message.text.as_str());
    segments.chain(messages.filter(|_| prompt.segments.is_empty()))
}

/// The tools of the client. Without any, only the form of earlier calls matters.
fn raw_tools(client: &ClientOptions, model_handle: &ModelHandle) -> ApiResult<TurnTools> {
    let mut tools = TurnTools::default();
    if client.tools.is_empty() {
        tools.frame.form = offered::form(model_handle).unwrap_or(ToolForm::Text);
        return Ok(tools);
    }
    offered::form_for_client(client, model_handle, &mut tools.frame)?;
    tools.syntax = offered::syntax(&tools.frame, model_handle);
    Ok(tools)
}

/// The grammar of calls in the text of a model. A schema of the client replaces it, unless a call
/// is demanded.
fn call_grammar(
    tools: &TurnTools,
    model_handle: &ModelHandle,
    rules: &TokenRules,
) -> Option<String> {
    let syntax = tools
        .syntax
        .as_ref()
        .filter(|_| tools.can_call() && model_handle.template.is_some())?;
    let is_free = rules.json_schema.is_none() || tools.frame.choice.is_forced();
    is_free.then(|| context::tools::grammar(syntax, &tools.frame))
}

/// A chat that no setting belongs to.
fn nobody() -> Chat {
    Chat {
        id: ChatId(Uuid::nil()),
        character: CharacterId(Uuid::nil()),
        persona: None,
        title: String::new(),
        model: None,
        draft: String::new(),
        window: WindowState::default(),
        scene_after: None,
        variables: String::new(),
        created: Timestamp(0),
        updated: Timestamp(0),
    }
}

/// A local model uses its own sampler settings, because it has no others. An endpoint gets only
/// what the client sent.
fn sampling(model_handle: &ModelHandle, client: &ClientOptions, prompt: &Prompt) -> Sampling {
    let own = Sampling {
        rules: TokenRules::default(),
        ..model_handle.sampling.clone()
    };
    let limit = model_handle.budget.limit;
    if model_handle.is_local() {
        return Sampling {
            max_tokens: client.sampler.max_tokens.unwrap_or(limit),
            ..own
        };
    }
    let estimate = |message: &PromptMessage| {
        Estimate
            .count(&raw_prompt::text_segment(&message.text))
            .unwrap_or(0)
    };
    let room = limit
        .saturating_sub(prompt.messages.iter().map(estimate).sum())
        .max(1);
    let sampler = client.sampler;
    Sampling {
        temperature: sampler.temperature.unwrap_or(1.0),
        top_p: sampler.top_p.unwrap_or(1.0),
        top_k: sampler.top_k.unwrap_or(0),
        min_p: sampler.min_p.unwrap_or(0.0),
        repeat_penalty: sampler.repeat_penalty.unwrap_or(1.0),
        typical_p: 1.0,
        top_n_sigma: 0.0,
        frequency_penalty: 0.0,
        presence_penalty: 0.0,
        dry: Dry {
            multiplier: 0.0,
            ..own.dry
        },
        xtc: Xtc {
            probability: 0.0,
            ..own.xtc
        },
        mirostat: Mirostat {
            version: 0,
            ..own.mirostat
        },
        dynatemp: Dynatemp {
            range: 0.0,
            ..own.dynatemp
        },
        max_tokens: sampler.max_tokens.unwrap_or(ENDPOINT_REPLY.min(room)),
        alternatives: 0,
        order: SamplerOrder::default(),
        ..own
    }
}
