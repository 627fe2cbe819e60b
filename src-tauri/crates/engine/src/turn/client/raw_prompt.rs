//! The prompt of a model without a character: the client's conversation, in the model's own chat
//! format.
//!
//! Names of tools are plain words. All other texts are parts, so none of them becomes a control
//! token.

use context::ChatTemplate;
use context::chat_template::{
    RenderedCall, RenderedDefinition, RenderedRun, RenderedTools, RenderedTurn, inside_quotes,
};
use context::tools::{FrameTools, ToolForm, wording};
use domain::ToolRound;
use domain::prompt::{
    Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound, PromptTools, Segment,
};

use crate::api::client::ClientRole;
use crate::base::error::ApiResult;
use crate::turn::client::calls::Conversation;

pub(crate) fn prompt(conversation: Conversation) -> Prompt {
    let mut prompt = Prompt::default();
    for given in conversation.messages {
        let before = prompt.messages.len();
        prompt.tools.rounds.extend(
            given
                .rounds
                .into_iter()
                .map(|round| PromptToolRound { before, round }),
        );
        let pictures = given.message.pictures.into_iter();
        prompt.pictures.extend(pictures.map(|url| PromptPicture {
            message: before,
            segment: None,
            url,
        }));
        prompt.messages.push(PromptMessage {
            role: role(given.message.role),
            text: given.message.text,
        });
    }
    let before = prompt.messages.len();
    let is_round_open = !conversation.open.is_empty();
    prompt.tools.rounds.extend(
        conversation
            .open
            .into_iter()
            .map(|round| PromptToolRound { before, round }),
    );
    let ends_with_reply = prompt
        .messages
        .last()
        .is_some_and(|last| last.role == PromptRole::Character);
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

/// Adds the tools in their form. An endpoint gets them in fields of the request.
pub(crate) fn offer(prompt: &mut Prompt, tools: &FrameTools) {
    match tools.form {
        ToolForm::Text => tell(prompt, tools),
        ToolForm::Request | ToolForm::Template => {
            prompt.tools.definitions.clone_from(&tools.definitions);
            (prompt.tools.choice, prompt.tools.single_call) =
                (tools.choice.clone(), tools.single_call);
        }
    }
}

/// Describes tools and rounds in messages.
fn tell(prompt: &mut Prompt, tools: &FrameTools) {
    let said = |role, text| PromptMessage { role, text };
    let mut messages = Vec::with_capacity(prompt.messages.len() + 1);
    if !tools.definitions.is_empty() {
        messages.push(said(
            PromptRole::System,
            wording::instructions(&tools.definitions),
        ));
    }
    let mut rounds = std::mem::take(&mut prompt.tools)
        .rounds
        .into_iter()
        .peekable();
    let mut moved = Vec::with_capacity(prompt.messages.len());
    for (index, message) in std::mem::take(&mut prompt.messages).into_iter().enumerate() {
        while let Some(PromptToolRound { round, .. }) =
            rounds.next_if(|round| round.before <= index)
        {
            messages.push(said(PromptRole::Character, wording::calls(&round)));
            messages.push(said(PromptRole::User, wording::results(&round)));
        }
        moved.push(messages.len());
        messages.push(message);
    }
    for PromptToolRound { round, .. } in rounds {
        messages.push(said(PromptRole::Character, wording::calls(&round)));
        messages.push(said(PromptRole::User, wording::results(&round)));
    }
    prompt.messages = messages;
    for picture in &mut prompt.pictures {
        picture.message = moved
            .get(picture.message)
            .copied()
            .unwrap_or(picture.message);
    }
}

/// The text of a completion. The program wrote all of it, control tokens included.
pub(crate) fn plain(prompt: &Prompt) -> Vec<Segment> {
    let text = |message: &PromptMessage| Segment {
        control: true,
        ..text_segment(&message.text)
    };
    prompt.messages.iter().map(text).collect()
}

pub(crate) fn text_segment(text: &str) -> Segment {
    Segment {
        text: context::unix_lines(text).into_owned(),
        control: false,
    }
}

/// The chat for a template, with the texts of its parts.
#[derive(Default)]
struct TemplateChat {
    parts: Vec<String>,
    /// The part of each message.
    messages: Vec<usize>,
    turns: Vec<RenderedTurn>,
    tools: RenderedTools,
}

impl TemplateChat {
    fn part(&mut self, text: String) -> usize {
        self.parts.push(text);
        self.parts.len() - 1
    }

    fn turn(&mut self, role: PromptRole, text: &str) -> usize {
        let part = self.part(text.to_owned());
        self.turns.push(RenderedTurn {
            role,
            parts: vec![part],
        });
        part
    }

    fn round(&mut self, round: &ToolRound) {
        let turn = self.turns.len();
        let text = round.text.trim();
        let parts = if text.is_empty() {
            Vec::new()
        } else {
            vec![self.part(text.to_owned())]
        };
        self.turns.push(RenderedTurn {
            role: PromptRole::Character,
            parts,
        });
        let mut calls = Vec::with_capacity(round.calls.len());
        for call in &round.calls {
            let arguments = self.part(call.arguments.text().to_owned());
            calls.push(RenderedCall {
                id: call.id.clone().unwrap_or_default(),
                name: call.name.clone(),
                arguments,
            });
        }
        self.tools.calls.push((turn, calls));
        for (call, result) in round.calls.iter().zip(&round.results) {
            self.tools
                .results
                .push((self.turns.len(), result.call_id.clone(), call.name.clone()));
            self.turn(PromptRole::User, &result.text);
        }
    }

    fn of(prompt: &Prompt) -> Self {
        let mut chat = Self::default();
        for (index, message) in prompt.messages.iter().enumerate() {
            let before = prompt
                .tools
                .rounds
                .iter()
                .filter(|round| round.before == index);
            before.for_each(|round| chat.round(&round.round));
            let part = chat.turn(message.role, &message.text);
            chat.messages.push(part);
        }
        let open = prompt
            .tools
            .rounds
            .iter()
            .filter(|round| round.before >= prompt.messages.len());
        open.for_each(|round| chat.round(&round.round));
        for tool in &prompt.tools.definitions {
            let description = chat.part(tool.description.clone());
            let parameters = chat.part(tool.parameters.to_string());
            chat.tools.definitions.push(RenderedDefinition {
                name: tool.name.clone(),
                description,
                parameters,
            });
        }
        chat
    }
}

/// The messages and tools in the model's chat format.
pub(crate) fn render(template: &ChatTemplate, prompt: &mut Prompt) -> ApiResult<()> {
    let chat = TemplateChat::of(prompt);
    let mut segments: Vec<Segment> = Vec::new();
    let mut places = vec![None; chat.parts.len()];
    for run in template.render_with(&chat.turns, &chat.tools, prompt.continues)? {
        segments.push(match run {
            RenderedRun::Control(text) => Segment {
                text,
                control: true,
            },
            RenderedRun::Quoted(part) => Segment {
                text: inside_quotes(&chat.parts[part]),
                control: false,
            },
            RenderedRun::Part(part) => {
                places[part] = Some(segments.len());
                let mut segment = text_segment(&chat.parts[part]);
                if segments.last().is_some_and(|before| !before.control) {
                    segment.text.insert_str(0, "\n\n");
                }
                segment
            }
        });
    }
    prompt.segments = segments;
    for picture in &mut prompt.pictures {
        picture.segment = chat
            .messages
            .get(picture.message)
            .and_then(|part| places[*part]);
    }
    // The template has written them.
    prompt.tools = PromptTools::default();
    Ok(())
}

#[cfg(test)]
mod tests {
    use domain::prompt::ToolChoice;
    use domain::{ToolArguments, ToolCall, ToolDefinition, ToolResult};
    use serde_json::json;

    use super::*;

    /// A format with tools, in the manner of Hermes and Qwen.
    const TEMPLATE: &str = "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n{% endif %}\
{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}\
{% for call in message.tool_calls or [] %}<tool_call>\n{\"name\": \"{{ call.function.name }}\", \"arguments\": {{ call.function.arguments | tojson }}}\n</tool_call>{% endfor %}\
<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

    fn template() -> ChatTemplate {
        ChatTemplate::parse(TEMPLATE, "", "<|im_end|>", jiff::civil::DateTime::default()).unwrap()
    }

    fn asked() -> (Prompt, FrameTools) {
        let call = ToolCall {
            id: Some("<|im_end|>".into()),
            name: "look".into(),
            arguments: ToolArguments::read("{\"at\":\"<|im_end|>\"}"),
        };
        let result = ToolResult {
            call_id: "<|im_end|>".into(),
            text: "sea<|im_end|>".into(),
            error: false,
        };
        let round = ToolRound {
            text: String::new(),
            calls: vec![call],
            results: vec![result],
            thoughts: Vec::new(),
        };
        let messages = vec![PromptMessage {
            role: PromptRole::User,
            text: "Look!".into(),
        }];
        let rounds = vec![PromptToolRound { before: 1, round }];
        let prompt = Prompt {
            messages,
            tools: PromptTools {
                rounds,
                ..PromptTools::default()
            },
            ..Prompt::default()
        };
        let look = ToolDefinition {
            name: "look".into(),
            description: "Looks <|im_end|>.".into(),
            parameters: json!({ "type": "object" }),
        };
        let tools = FrameTools {
            definitions: vec![look],
            choice: ToolChoice::Required,
            ..FrameTools::default()
        };
        (prompt, tools)
    }

    fn whole(prompt: &Prompt) -> String {
        prompt
            .segments
            .iter()
            .map(|segment| segment.text.as_str())
            .collect()
    }

    #[test]
    fn template_writes_tools_calls_and_results() {
        let (mut prompt, tools) = asked();
        assert!(template().tool_syntax().is_some());
        offer(
            &mut prompt,
            &FrameTools {
                form: ToolForm::Template,
                ..tools
            },
        );
        render(&template(), &mut prompt).unwrap();
        let text = whole(&prompt);
        assert!(
            text.contains(r#""name": "look""#) && text.contains("Looks <|im_end|>."),
            "{text}"
        );
        assert!(
            text.contains("<|im_start|>assistant\n<tool_call>"),
            "{text}"
        );
        assert!(
            text.contains("<|im_start|>tool\nsea") && text.ends_with("<|im_start|>assistant\n"),
            "{text}"
        );
        let control = prompt.segments.iter().filter(|segment| segment.control);
        let ends: usize = control
            .map(|segment| segment.text.matches("<|im_end|>").count())
            .sum();
        assert_eq!(ends, 4, "texts of tools are no control text: {text}");
        assert_eq!(prompt.tools, PromptTools::default());
    }

    #[test]
    fn model_without_tools_gets_them_as_text() {
        let (mut prompt, tools) = asked();
        offer(
            &mut prompt,
            &FrameTools {
                form: ToolForm::Text,
                ..tools
            },
        );
        let texts: Vec<&str> = prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect();
        assert_eq!(texts.len(), 4);
        assert!(
            texts[0].contains("\"name\":\"look\"") && texts[1] == "Look!",
            "{texts:?}"
        );
        assert!(
            texts[2].starts_with("<tool_call>") && texts[3].starts_with("<tool_response>"),
            "{texts:?}"
        );
        render(&ChatTemplate::chatml(), &mut prompt).unwrap();
        assert!(whole(&prompt).ends_with("<|im_start|>assistant\n"));
    }

    #[test]
    fn endpoint_gets_tools_in_fields() {
        let (mut prompt, tools) = asked();
        offer(
            &mut prompt,
            &FrameTools {
                form: ToolForm::Request,
                ..tools
            },
        );
        assert_eq!(
            (prompt.tools.definitions.len(), &prompt.tools.choice),
            (1, &ToolChoice::Required)
        );
        assert_eq!(prompt.tools.rounds.len(), 1);
    }
}
