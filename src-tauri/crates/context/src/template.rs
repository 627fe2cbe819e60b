//! Chat templates: the GGUF's Jinja, run in Rust with the contents held apart.
//!
//! The template sees a placeholder where a text would stand, so no text can imitate a role marker, and the rendered prompt
//! comes out as runs of control text and contents. Templates come with model files and are as hostile as those: they run
//! with limited fuel and see nothing but the messages.

use domain::prompt::PromptRole;
use minijinja::value::Value;
use minijinja::{Environment, ErrorKind, context};
use minijinja_contrib::pycompat::unknown_method_callback;

/// Instructions a template may run for one prompt: thousands of messages pass, endless loops do not.
const FUEL: u64 = 20_000_000;

/// Stand around the number of a part. They come from a private-use plane, and contents never meet the template, so only a
/// template itself could forge them; then the render is refused.
const OPEN: char = '\u{F0000}';
const CLOSE: char = '\u{F0001}';

/// Turn markers that most small instruct models know, for files that bring no template.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\
     {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// Why a template could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    #[error("the model's chat template does not parse: {0}")]
    Syntax(#[source] minijinja::Error),
    #[error("the model's chat template failed: {0}")]
    Render(#[source] minijinja::Error),
    #[error("the model's chat template left out, doubled or changed a message")]
    Contents,
}

/// One message for the template: whose it is, and the numbers of the parts its text is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub role: PromptRole,
    pub parts: Vec<usize>,
}

/// A run of the rendered prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Control(String),
    Part(usize),
}

/// A parsed chat template.
pub struct ChatTemplate {
    env: Environment<'static>,
    bos: String,
    eos: String,
}

impl ChatTemplate {
    /// Parses `source`. `bos` and `eos` are the texts of the model's begin and end tokens; `date` is what a template gets
    /// that asks for today's date, given once so that the prompt's beginning stays the same.
    ///
    /// # Errors
    /// [`TemplateError::Syntax`] if it is not Jinja.
    pub fn parse(source: &str, bos: &str, eos: &str, date: jiff::civil::DateTime) -> Result<Self, TemplateError> {
        let mut env = Environment::new();
        env.set_trim_blocks(true);
        env.set_lstrip_blocks(true);
        env.set_fuel(Some(FUEL));
        env.set_unknown_method_callback(unknown_method_callback);
        env.add_function("raise_exception", |message: String| -> Result<String, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        env.add_function("strftime_now", move |format: &str| -> Result<String, minijinja::Error> {
            jiff::fmt::strtime::format(format, date)
                .map_err(|error| minijinja::Error::new(ErrorKind::InvalidOperation, error.to_string()))
        });
        env.add_template_owned("chat", source.to_owned()).map_err(TemplateError::Syntax)?;
        Ok(Self { env, bos: bos.to_owned(), eos: eos.to_owned() })
    }

    /// The template for model files that bring none.
    ///
    /// # Panics
    /// Never: the template is a constant, and a test parses it.
    #[expect(clippy::expect_used, reason = "a constant that a test parses")]
    pub fn chatml() -> Self {
        Self::parse(CHATML, "", "<|im_end|>", jiff::civil::DateTime::default()).expect("the built-in template parses")
    }

    /// Renders `turns`. With `continues`, the last turn is left open for the model to go on with; else the prompt ends with
    /// the markers that open a reply. A template that refuses a system turn, or wants speakers to alternate, gets the
    /// turns merged the way it wants them (S3.6).
    ///
    /// # Errors
    /// If the template fails on the merged turns as well, or loses a content.
    pub fn render(&self, turns: &[Turn], continues: bool) -> Result<Vec<Piece>, TemplateError> {
        self.try_render(turns, continues)
            .or_else(|_| self.try_render(&alternating(turns), continues))
            .or_else(|_| self.try_render(&alternating(&without_system(turns)), continues))
    }

    fn try_render(&self, turns: &[Turn], continues: bool) -> Result<Vec<Piece>, TemplateError> {
        let messages = turns
            .iter()
            .enumerate()
            .map(|(index, turn)| context! { role => provider_word(turn.role), content => format!("{OPEN}{index}{CLOSE}") })
            .collect::<Vec<_>>();
        let template = self.env.get_template("chat").map_err(TemplateError::Render)?;
        let rendered = template
            .render(context! {
                messages,
                add_generation_prompt => !continues,
                bos_token => self.bos,
                eos_token => self.eos,
                tools => Value::from(()),
                documents => Value::from(()),
            })
            .map_err(TemplateError::Render)?;
        pieces(&rendered, turns, continues)
    }
}

fn provider_word(role: PromptRole) -> &'static str {
    match role {
        PromptRole::System => "system",
        PromptRole::User => "user",
        PromptRole::Character => "assistant",
    }
}

/// Splits the rendered text at the placeholders, and checks that each is there once and in order.
fn pieces(rendered: &str, turns: &[Turn], continues: bool) -> Result<Vec<Piece>, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = rendered;
    for (index, turn) in turns.iter().enumerate() {
        let placeholder = format!("{OPEN}{index}{CLOSE}");
        let (control, after) = rest.split_once(&placeholder).ok_or(TemplateError::Contents)?;
        push_control(&mut pieces, control)?;
        pieces.extend(turn.parts.iter().map(|part| Piece::Part(*part)));
        rest = after;
    }
    if !continues {
        push_control(&mut pieces, rest)?;
    }
    Ok(pieces)
}

fn push_control(pieces: &mut Vec<Piece>, text: &str) -> Result<(), TemplateError> {
    if text.contains([OPEN, CLOSE]) {
        return Err(TemplateError::Contents);
    }
    if !text.is_empty() {
        pieces.push(Piece::Control(text.to_owned()));
    }
    Ok(())
}

/// Merges neighbours of one role.
fn alternating(turns: &[Turn]) -> Vec<Turn> {
    let mut merged: Vec<Turn> = Vec::with_capacity(turns.len());
    for turn in turns {
        match merged.last_mut() {
            Some(last) if last.role == turn.role => last.parts.extend(&turn.parts),
            _ => merged.push(turn.clone()),
        }
    }
    merged
}

/// Turns the system turn into words of the user, for templates that know no system role.
fn without_system(turns: &[Turn]) -> Vec<Turn> {
    let role = |role| if role == PromptRole::System { PromptRole::User } else { role };
    turns.iter().map(|turn| Turn { role: role(turn.role), parts: turn.parts.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(roles: &str) -> Vec<Turn> {
        let role = |letter| match letter {
            's' => PromptRole::System,
            'u' => PromptRole::User,
            _ => PromptRole::Character,
        };
        roles.chars().enumerate().map(|(index, letter)| Turn { role: role(letter), parts: vec![index] }).collect()
    }

    fn shown(template: &str, roles: &str, continues: bool) -> String {
        let template =
            ChatTemplate::parse(template, "<s>", "</s>", jiff::civil::date(2026, 11, 21).at(0, 0, 0, 0)).unwrap();
        match template.render(&turns(roles), continues) {
            Ok(pieces) => pieces
                .into_iter()
                .map(|piece| match piece {
                    Piece::Control(text) => text,
                    Piece::Part(index) => format!("«{index}»"),
                })
                .collect(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn chatml_opens_the_reply_or_leaves_the_last_turn_open() {
        assert_eq!(
            shown(CHATML, "su", false),
            "<|im_start|>system\n«0»<|im_end|>\n<|im_start|>user\n«1»<|im_end|>\n<|im_start|>assistant\n"
        );
        assert_eq!(shown(CHATML, "uc", true), "<|im_start|>user\n«0»<|im_end|>\n<|im_start|>assistant\n«1»");
        ChatTemplate::chatml();
    }

    /// In the manner of Mistral: no system role, strict alternation.
    const STRICT: &str = "{{ bos_token }}{% for m in messages %}\
        {% if m['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}\
        {% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}\
        {% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}{% else %}{{ m['content'] + eos_token }}{% endif %}\
        {% endfor %}";

    #[test]
    fn a_template_without_a_system_role_gets_it_as_words_of_the_user() {
        assert_eq!(shown(STRICT, "suuc", false), "<s>[INST] «0»«1»«2» [/INST]«3»</s>");
        assert_eq!(shown(STRICT, "scu", false), "<s>[INST] «0» [/INST]«1»</s>[INST] «2» [/INST]");
    }

    #[test]
    fn a_template_that_loses_a_message_is_refused() {
        assert_eq!(
            shown("{{ messages[0].content }}", "uc", false),
            "the model's chat template left out, doubled or changed a message"
        );
        assert!(shown("{{ messages[0].content }}{{ messages[0].content }}", "u", false).contains("doubled"));
    }

    #[test]
    fn an_endless_template_runs_out_of_fuel() {
        let bomb = "{% for a in range(10000) %}{% for b in range(10000) %}{{ '' }}{% endfor %}{% endfor %}";
        assert!(shown(bomb, "u", false).contains("fuel"));
    }

    #[test]
    fn python_idioms_of_public_templates_work() {
        let template = "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}\
            {{ m.role.upper() }}:{{ m.content.strip() }};{% endfor %}{{ ns.n }} {{ strftime_now('%d %b %Y') }}";
        assert_eq!(shown(template, "su", false), "SYSTEM:«0»;USER:«1»;2 21 Nov 2026");
    }
}
