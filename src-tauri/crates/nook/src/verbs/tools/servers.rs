//! `tool-servers`: servers that offer tools (MCP).

use std::path::Path;

use engine::Engine;
use engine::api::{
    AddedToolServers, LeftOutTool, ServerTool, ServerToolGrant, ToolServer, ToolServerDraft,
    ToolServerState, ToolServerTest, ToolServerTransport, ToolServerValueDraft,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::{GrantArg, ToolServerArgs, ToolServerVerb};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};
use crate::verbs::keys;
use crate::verbs::keys::secret;

pub(crate) async fn tool_servers(
    engine: &Engine,
    verb: ToolServerVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        ToolServerVerb::List => lines(
            ItemList {
                items: engine.list_tool_servers().await?,
            },
            out,
            line,
        ),
        ToolServerVerb::Add(args) => {
            let added = engine.save_tool_server(draft(args)?).await?;
            if added.values_are_for_session {
                out.warn(keys::VALUES_ARE_LOST);
            }
            out.answer(&added, line)
        }
        ToolServerVerb::Paste { file } => paste(engine, &file, out).await,
        ToolServerVerb::On { name } => switch_on(engine, &name, out).await,
        ToolServerVerb::Off { name } => {
            let id = find::tool_server(engine, &name).await?.id;
            out.answer(&engine.switch_tool_server(id, false).await?, line)
        }
        ToolServerVerb::Test { name } => {
            let id = find::tool_server(engine, &name).await?.id;
            out.answer(&engine.test_tool_server(id).await?, test)
        }
        ToolServerVerb::Tools { name } => lines(
            ItemList {
                items: find::tool_server(engine, &name).await?.tools,
            },
            out,
            tool,
        ),
        ToolServerVerb::Grant { name, tool, grant } => {
            set_grant(engine, &name, tool, grant, out).await
        }
        ToolServerVerb::Call {
            name,
            tool,
            arguments,
        } => call(engine, &name, &tool, &arguments, out).await,
        ToolServerVerb::Read { name, uri } => read(engine, &name, uri, out).await,
        ToolServerVerb::Remove { name } => remove(engine, &name, out).await,
    }
}

async fn remove(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let found = find::tool_server(engine, name).await?;
    engine.delete_tool_server(found.id).await?;
    out.answer(&found, |found| format!("removed {}", found.name))
}

async fn read(engine: &Engine, name: &str, uri: String, out: &Output) -> Result<(), CommandError> {
    let id = find::tool_server(engine, name).await?.id;
    let text = engine.read_server_resource(id, uri).await?;
    out.answer(&json!({ "text": text }), |_| text.clone())
}

async fn set_grant(
    engine: &Engine,
    name: &str,
    tool: String,
    grant: GrantArg,
    out: &Output,
) -> Result<(), CommandError> {
    let id = find::tool_server(engine, name).await?.id;
    let server = engine.set_tool_grant(id, tool, None, grant.into()).await?;
    out.answer(&server, |server| {
        server
            .tools
            .iter()
            .map(self::tool)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

fn draft(args: ToolServerArgs) -> Result<ToolServerDraft, CommandError> {
    let ToolServerArgs {
        name,
        url,
        values_from,
        command,
    } = args;
    let mut command = command.into_iter();
    let transport = match (url, command.next()) {
        (Some(url), _) => ToolServerTransport::Http { url },
        (None, Some(program)) => ToolServerTransport::Process {
            command: program,
            args: command.collect(),
        },
        (None, None) => {
            return Err(CommandError::because(
                "usage",
                "specify --url or a command after --",
            ));
        }
    };
    let values = values_from
        .as_deref()
        .map(values)
        .transpose()?
        .unwrap_or_default();
    Ok(ToolServerDraft {
        id: None,
        name,
        transport,
        values,
    })
}

/// Parses lines such as `API_KEY=abc` or `Authorization: Bearer abc`.
fn values(file: &Path) -> Result<Vec<ToolServerValueDraft>, CommandError> {
    let value = |line: &str| {
        let (name, value) = line.split_once(['=', ':']).ok_or_else(|| {
            CommandError::because(
                "badInput",
                "each line needs a name and a value, such as API_KEY=abc",
            )
        })?;
        Ok(ToolServerValueDraft {
            name: name.trim().to_owned(),
            value: Some(value.trim().to_owned()),
        })
    };
    secret(file)?
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(value)
        .collect()
}

async fn paste(engine: &Engine, file: &Path, out: &Output) -> Result<(), CommandError> {
    let report = engine.add_tool_servers(secret(file)?).await?;
    out.answer(&report, |AddedToolServers { added, skipped }| {
        let skipped = skipped.iter().map(|one| {
            format!(
                "not added: {} ({})",
                one.name,
                one.reason.trim_end_matches('.')
            )
        });
        added
            .iter()
            .map(line)
            .chain(skipped)
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    if report.added.is_empty() {
        Err(CommandError::reported("refused", "no server was added"))
    } else {
        Ok(())
    }
}

async fn switch_on(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let id = find::tool_server(engine, name).await?.id;
    let server = engine.switch_tool_server(id, true).await?;
    out.answer(&server, |server| {
        let tools = server.tools.iter().map(tool);
        let left_out = server.left_out.iter().map(left_out);
        std::iter::once(line(server))
            .chain(tools)
            .chain(left_out)
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    match server.state {
        ToolServerState::Failed { message, hint } => Err(CommandError::reported(
            "toolServer",
            format!("{message} {hint}"),
        )),
        _ => Ok(()),
    }
}

async fn call(
    engine: &Engine,
    name: &str,
    tool: &str,
    arguments: &str,
    out: &Output,
) -> Result<(), CommandError> {
    let server = find::tool_server(engine, name).await?;
    if !server.enabled {
        return Err(CommandError::because(
            "badInput",
            format!("{} is switched off; switch it on first", server.name),
        ));
    }
    let offered = engine.server_tools().await?;
    let wanted = offered
        .iter()
        .find(|one| one.server == server.id && one.tool.name == tool);
    let wanted = wanted.ok_or_else(|| {
        CommandError::not_found(format!("{} has no tool named {tool}", server.name))
    })?;
    let arguments = domain::ToolArguments::read(arguments);
    let answer = engine
        .call_server_tool(wanted, &arguments, &CancellationToken::new())
        .await;
    out.answer(
        &json!({ "text": answer.text, "error": answer.error }),
        |_| answer.text.clone(),
    )?;
    if answer.error {
        Err(CommandError::reported(
            "toolServer",
            "the tool reported an error",
        ))
    } else {
        Ok(())
    }
}

fn line(server: &ToolServer) -> String {
    let how = match &server.transport {
        ToolServerTransport::Process { command, args } => {
            [std::slice::from_ref(command), args].concat().join(" ")
        }
        ToolServerTransport::Http { url } => url.clone(),
    };
    let state = if server.enabled { "on" } else { "off" };
    let missing = server
        .values
        .iter()
        .filter(|value| !value.stored)
        .map(|value| value.name.as_str());
    let missing = missing.collect::<Vec<_>>().join(", ");
    let missing = if missing.is_empty() {
        missing
    } else {
        format!(", without {missing}")
    };
    format!(
        "{}  {}  {state}, {} tools{missing} ({how})",
        server.id,
        server.name,
        server.tools.len()
    )
}

fn tool(tool: &ServerTool) -> String {
    let grant = match tool.grant {
        ServerToolGrant::Ask | ServerToolGrant::Chat => "asks",
        ServerToolGrant::Always => "always",
        ServerToolGrant::Never => "never",
    };
    let about = tool.description.lines().next().unwrap_or_default();
    format!(
        "  {}({})  [{grant}]  {about}",
        tool.name,
        tool.arguments.join(", ")
    )
}

fn left_out(tool: &LeftOutTool) -> String {
    format!("  left out: {} ({})", tool.name, tool.reason)
}

fn test(test: &ToolServerTest) -> String {
    let head = format!(
        "{} {} answered in {:.0} ms",
        test.name, test.version, test.took_ms
    );
    let tools = test
        .server
        .tools
        .iter()
        .map(tool)
        .chain(test.server.left_out.iter().map(left_out));
    let resources = test
        .resources
        .iter()
        .map(|resource| format!("  {}  {}", resource.uri, resource.name));
    std::iter::once(head)
        .chain(tools)
        .chain(resources)
        .collect::<Vec<_>>()
        .join("\n")
}
