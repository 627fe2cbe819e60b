//! `tools`: decisions about the app's own tools.

pub(crate) mod question;
pub(crate) mod servers;

use engine::Engine;
use engine::api::ToolGrant;

use crate::cli::ToolVerb;
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

pub(crate) async fn tools(
    engine: &Engine,
    verb: ToolVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        ToolVerb::Decisions => lines(
            ItemList {
                items: engine.tool_grants().await?,
            },
            out,
            line,
        ),
        ToolVerb::Forget { tool, chat } => {
            let chat = match chat {
                Some(wanted) => Some(find::chat(engine, &wanted).await?.id),
                None => None,
            };
            let is_meant =
                |grant: &ToolGrant| grant.tool == tool && (chat.is_none() || grant.chat == chat);
            let mut forgotten = engine.tool_grants().await?;
            forgotten.retain(is_meant);
            if forgotten.is_empty() {
                return Err(CommandError::not_found(format!(
                    "there is no decision about {tool}"
                )));
            }
            for grant in &forgotten {
                engine
                    .forget_tool_grant(grant.source.clone(), grant.tool.clone(), grant.chat)
                    .await?;
            }
            lines(ItemList { items: forgotten }, out, |grant| {
                format!("forgot {}", line(grant))
            })
        }
    }
}

fn line(grant: &ToolGrant) -> String {
    let decision = if grant.allowed { "always" } else { "never" };
    let place = match (&grant.chat, grant.chat_title.as_deref()) {
        (None, _) => "in all chats".to_owned(),
        (Some(id), None | Some("")) => format!("in the chat {id}"),
        (Some(id), Some(title)) => format!("in the chat {title} ({id})"),
    };
    let source = if grant.source.is_empty() {
        String::new()
    } else {
        format!(" of {}", grant.source)
    };
    format!("{}{source}  [{decision}]  {place}", grant.tool)
}
