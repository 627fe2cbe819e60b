//! Asks the model who speaks next in a group scene. The prompt holds only this question and the
//! newest messages.

use context::frame::{Frame, HistoryMessage, Source};
use context::prompt_template::{Given, TemplateFlags, TemplateVariables, compose};
use context::{AssembleError, Setup, assemble};
use domain::chat::{Role, TurnOrder, WindowState};
use domain::prompt::Prompt;
use domain::sampling::SamplerOptions;
use domain::{CharacterId, MessageId};
use futures_util::StreamExt;
use provider::{GenerationEvent, Request};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::TurnOptions;
use crate::base::error::{ApiResult, bad_input, without_content};
use crate::library::chats::chat::said;
use crate::library::groups::scene::{NextSpeaker, Scene};
use crate::library::groups::turn_order::SpokenLine;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::settings::counting::token_counter::Counter;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::sending::Sending;

/// Id of the utility template.
const TEMPLATE: &str = "next-speaker";
/// Number of newest messages in the prompt.
const MESSAGES: usize = 8;
/// Characters of each message in the prompt.
const LETTERS: usize = 300;
/// Tokens of the answer if the template sets no limit.
const REPLY: u32 = 16;
/// Longer waits for an answer are cancelled, and the natural order applies.
const WAIT: std::time::Duration = std::time::Duration::from_secs(20);

impl Sending {
    /// The speaker that the model chooses, if the group's turn order asks it; `natural` otherwise,
    /// after an error, and if the answer names nobody. A member that is named or called upon is not
    /// asked about.
    pub(crate) async fn directed(
        &self,
        snapshot: &ChatSnapshot,
        natural: NextSpeaker,
        options: &TurnOptions,
    ) -> NextSpeaker {
        match self.ask_director(snapshot, options).await {
            Ok(Some(chosen)) => chosen,
            Ok(None) => natural,
            Err(error) => {
                tracing::info!(
                    error = without_content(&error),
                    "the model was not asked who speaks next"
                );
                natural
            }
        }
    }

    async fn ask_director(
        &self,
        snapshot: &ChatSnapshot,
        options: &TurnOptions,
    ) -> ApiResult<Option<NextSpeaker>> {
        let ChatSnapshot {
            chat, group: scene, ..
        } = snapshot;
        if scene.order() != TurnOrder::Director {
            return Ok(None);
        }
        let messages = self.library().groups.newest_lines(chat).await?;
        let lines: Vec<SpokenLine<'_>> = messages
            .iter()
            .rev()
            .filter(|message| !message.hidden)
            .map(SpokenLine::from)
            .collect();
        let able: Vec<CharacterId> = scene
            .able(lines.first())
            .iter()
            .map(|member| member.id)
            .collect();
        if able.len() < 2 || scene.is_settled(&lines) {
            return Ok(None);
        }
        let speakers = snapshot.speakers();
        let told = lines.iter().take(MESSAGES).rev().map(|line| {
            let text: String = said(line.role, line.text.to_owned())
                .trim()
                .chars()
                .take(LETTERS)
                .collect();
            format!("{}: {text}", speakers.of(line.id, line.role))
        });
        let transcript = told.collect::<Vec<_>>().join("\n\n");
        let model_handle = self
            .config()
            .model_handles
            .model_handle(chat, options)
            .await?;
        let Some((prompt, most)) = self
            .question(&model_handle, scene, &able, &transcript)
            .await?
        else {
            return Ok(None);
        };
        let key = format!("{} director", chat.id);
        let answer =
            tokio::time::timeout(WAIT, answer(&model_handle, key.clone(), prompt, most)).await;
        self.config().local().forget(&key);
        let Ok(answer) = answer else { return Ok(None) };
        Ok(scene.chosen_by_name(&said(Role::Character, answer?), &able))
    }

    /// The prompt and the token limit of its answer; `None` if it does not fit.
    async fn question(
        &self,
        model_handle: &ModelHandle,
        scene: &Scene,
        able: &[CharacterId],
        transcript: &str,
    ) -> ApiResult<Option<(Prompt, u32)>> {
        let (template, _) = self.config().prompts.template_or("auto", TEMPLATE).await?;
        let members = scene
            .members()
            .iter()
            .filter(|member| able.contains(&member.id));
        let given = Given::default()
            .list("group.members", members.map(|member| member.name.clone()))
            .text("transcript", transcript);
        let wrong = |error: String| {
            bad_input(
                format!("The template \"{}\": {error}.", template.name),
                "Correct it.",
            )
        };
        let variables =
            TemplateVariables::resolve(given).map_err(|error| wrong(error.to_string()))?;
        let composed = compose(&template, &variables, &TemplateFlags::of(&variables, &[]))
            .map_err(|error| wrong(error.to_string()))?;
        let text = composed
            .sections
            .iter()
            .map(|section| section.text.as_str())
            .collect::<Vec<_>>()
            .join("\n\n");
        let source = Source::Template {
            template: template.id.clone(),
            section: String::new(),
        };
        let now = self.base().now();
        let asked = HistoryMessage::new(MessageId(Uuid::nil()), Role::User, "", text, now);
        let frame = Frame {
            history: vec![HistoryMessage {
                task: Some(source),
                ..asked
            }],
            ..Frame::default()
        };
        let format = model_handle
            .template
            .as_ref()
            .map(|template| template.at(self.base().clock().civil(now)));
        let setup = Setup::new(format.as_ref(), &model_handle.key, model_handle.budget);
        let state = WindowState::default();
        let mut counter = Counter::new(&self.config().token_counts, model_handle);
        loop {
            match assemble(&frame, &setup, &state, &counter) {
                Ok(assembled) => {
                    counter.finish();
                    return Ok(Some((
                        assembled.prompt,
                        template.defaults.reply_tokens.unwrap_or(REPLY),
                    )));
                }
                Err(AssembleError::Uncounted(segments)) => counter.learn(segments).await?,
                Err(AssembleError::Overflow(_)) => return Ok(None),
                Err(AssembleError::Template(error)) => return Err(error.into()),
            }
        }
    }
}

/// The model's whole answer. The question has a KV sequence of its own.
async fn answer(
    model_handle: &ModelHandle,
    cache_key: String,
    prompt: Prompt,
    most: u32,
) -> ApiResult<String> {
    let sampling = SamplerOptions {
        temperature: Some(0.0),
        max_tokens: Some(most),
        ..SamplerOptions::default()
    }
    .resolve(1);
    let request = Request {
        cache_key,
        background: true,
        prompt,
        sampling,
        response_schema: None,
    };
    let leave = CancellationToken::new();
    let _cancels_when_dropped = leave.clone().drop_guard();
    let mut stream = model_handle.provider.stream(request, leave);
    let mut answer = String::new();
    while let Some(event) = stream.next().await {
        if let GenerationEvent::Text(text) = event? {
            answer.push_str(&text);
        }
    }
    Ok(answer)
}
