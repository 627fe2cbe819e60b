//! A reply of a model without a character. Its prompt is what the client sent: nothing is added and nothing is left out.

use std::sync::Arc;

use context::chat_template::{RenderedRun, RenderedTurn};
use context::display::PassageFilter;
use context::{ChatTemplate, CountTokens, Estimate};
use domain::chat::{Chat, WindowState};
use domain::prompt::{Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound, Segment};
use domain::sampling::{Dry, Dynatemp, Mirostat, SamplerOrder, Sampling, TokenRules, Xtc};
use domain::{CharacterId, ChatId, Timestamp};
use provider::Request;
use uuid::Uuid;

use crate::api::TurnOptions;
use crate::api::client::{ClientOptions, ClientRole, ReplyPlace, ReplyStream};
use crate::base::error::ApiResult;
use crate::settings::model_handle::ModelHandle;
use crate::settings::raw_models::RawModel;
use crate::turn::client::calls::Conversation;
use crate::turn::client::options;
use crate::turn::client::stream::ReplyText;
use crate::turn::handle::Turns;

/// Longest reply of an endpoint's model if the client sets no limit, in tokens.
const ENDPOINT_REPLY: u32 = 4_096;
/// KV sequence of all such requests.
const SEQUENCE: &str = "local api";

impl Turns {
    /// `plain` continues the text of the only message instead of answering it, if the model is local.
    ///
    /// # Errors
    /// `NotFound` if the model is gone; `Provider` if it cannot be loaded or its chat format fails.
    pub(crate) async fn client_raw_reply(
        &self,
        raw: &RawModel,
        conversation: Conversation,
        client: &ClientOptions,
        plain: bool,
    ) -> ApiResult<ReplyStream> {
        let turn = TurnOptions { model: Some(raw.model.clone()), sampler: client.sampler, ..TurnOptions::default() };
        let answerer = self.config().answerer(&nobody(), &turn).await?;
        let now = self.base().clock().civil(self.base().now());
        let template = answerer.template.as_ref().map(|template| template.at(now));
        let mut prompt = prompt(conversation);
        if let Some(template) = &template {
            let texts = || prompt.messages.iter().map(|message| text_segment(&message.text)).collect();
            let (segments, places) = match plain {
                true => (texts(), (0..prompt.messages.len()).map(Some).collect()),
                false => render(template, &prompt)?,
            };
            prompt.segments = segments;
            for picture in &mut prompt.pictures {
                picture.segment = places.get(picture.message).copied().flatten();
            }
            prompt.stop.extend(template.stop_strings().iter().filter(|stop| !stop.trim().is_empty()).cloned());
        }
        let sampling = sampling(&answerer, client, &prompt);
        let background = false;
        let mut request =
            Request { cache_key: SEQUENCE.to_owned(), background, prompt, sampling, response_schema: None };
        options::apply(client, &mut request);
        let opens = request.prompt.segments.last().is_some_and(|last| last.text.trim_end().ends_with("<think>"));
        let filter = if opens { PassageFilter::thinking() } else { PassageFilter::default() };
        let text = ReplyText::Raw(filter);
        Ok(self.client_stream(Arc::clone(&answerer.provider), request, text, ReplyPlace::default()))
    }
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

fn prompt(conversation: Conversation) -> Prompt {
    let mut prompt = Prompt::default();
    for given in conversation.messages {
        let before = prompt.messages.len();
        prompt.tools.rounds.extend(given.rounds.into_iter().map(|round| PromptToolRound { before, round }));
        prompt.pictures.extend(given.message.pictures.into_iter().map(|url| PromptPicture {
            message: before,
            segment: None,
            url,
        }));
        prompt.messages.push(PromptMessage { role: role(given.message.role), text: given.message.text });
    }
    let before = prompt.messages.len();
    let is_round_open = !conversation.open.is_empty();
    prompt.tools.rounds.extend(conversation.open.into_iter().map(|round| PromptToolRound { before, round }));
    let ends_with_reply = prompt.messages.last().is_some_and(|last| last.role == PromptRole::Character);
    prompt.continues = ends_with_reply && !is_round_open;
    prompt
}

fn role(role: ClientRole) -> PromptRole {
    match role {
        ClientRole::System => PromptRole::System,
        ClientRole::Assistant => PromptRole::Character,
        ClientRole::User | ClientRole::Tool => PromptRole::User,
    }
}

fn text_segment(text: &str) -> Segment {
    Segment { text: context::unix_lines(text).into_owned(), control: false }
}

/// The segments of the messages in the model's chat format, and the segment of each message.
type Rendered = (Vec<Segment>, Vec<Option<usize>>);

fn render(template: &ChatTemplate, prompt: &Prompt) -> ApiResult<Rendered> {
    let turns: Vec<RenderedTurn> = prompt
        .messages
        .iter()
        .enumerate()
        .map(|(part, message)| RenderedTurn { role: message.role, parts: vec![part] })
        .collect();
    let mut segments: Vec<Segment> = Vec::new();
    let mut places = vec![None; prompt.messages.len()];
    for run in template.render(&turns, prompt.continues)? {
        segments.push(match run {
            RenderedRun::Control(text) => Segment { text, control: true },
            RenderedRun::Part(part) | RenderedRun::Quoted(part) => {
                places[part] = Some(segments.len());
                let mut segment = text_segment(&prompt.messages[part].text);
                if segments.last().is_some_and(|before| !before.control) {
                    segment.text.insert_str(0, "\n\n");
                }
                segment
            }
        });
    }
    Ok((segments, places))
}

/// A local model uses its own sampler settings, because it has no others. An endpoint gets only what the client sent.
fn sampling(answerer: &ModelHandle, client: &ClientOptions, prompt: &Prompt) -> Sampling {
    let own = Sampling { rules: TokenRules::default(), ..answerer.sampling.clone() };
    let limit = answerer.budget.limit;
    if answerer.template.is_some() {
        return Sampling { max_tokens: client.sampler.max_tokens.unwrap_or(limit), ..own };
    }
    let estimate = |message: &PromptMessage| Estimate.count(&text_segment(&message.text)).unwrap_or(0);
    let room = limit.saturating_sub(prompt.messages.iter().map(estimate).sum()).max(1);
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
        dry: Dry { multiplier: 0.0, ..own.dry },
        xtc: Xtc { probability: 0.0, ..own.xtc },
        mirostat: Mirostat { version: 0, ..own.mirostat },
        dynatemp: Dynatemp { range: 0.0, ..own.dynatemp },
        max_tokens: sampler.max_tokens.unwrap_or(ENDPOINT_REPLY.min(room)),
        alternatives: 0,
        order: SamplerOrder::default(),
        ..own
    }
}
