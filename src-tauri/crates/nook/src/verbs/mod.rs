//! One file per group of verbs. Each verb calls the engine once and prints the result.

mod api_key;
mod call;
mod character;
mod chat;
mod data;
mod doctor;
mod endpoints;
mod export;
mod group;
mod hub;
mod keys;
mod library;
mod list_folders;
mod lore;
mod mcp;
mod memory;
mod model_load;
mod model_moves;
mod models;
mod presets;
mod prompt;
#[cfg(feature = "evaluation")]
mod rank;
#[cfg(feature = "evaluation")]
mod scenario;
mod search;
mod serve;
mod settings;
mod slash;
mod story;
mod templates;
mod tool_question;
mod tool_servers;
mod tools;
mod turn;

use engine::{Engine, Options};

#[cfg(feature = "evaluation")]
use crate::cli::MemoryVerb;
use crate::cli::{Cli, LoreVerb, ShowKind, Verb};
use crate::failure::CommandError;
use crate::folders;
use crate::output::Output;

pub(crate) async fn run(cli: Cli, out: &Output) -> Result<(), CommandError> {
    if let Verb::Lore {
        verb: LoreVerb::Test(args),
    } = cli.verb
    {
        return lore::test(&args, out);
    }
    #[cfg(feature = "evaluation")]
    if let Verb::Memory {
        verb: MemoryVerb::Rank(args),
    } = &cli.verb
    {
        return rank::rank(args, out).await;
    }
    #[cfg(feature = "evaluation")]
    if let Verb::Memory {
        verb: MemoryVerb::Scenario(args),
    } = &cli.verb
    {
        return scenario::scenario(args, cli.data_dir, out).await;
    }
    let data_dir = cli.data_dir.map_or_else(folders::data, Ok)?;
    let environment = engine::environment();
    let options = Options {
        data_dir,
        model_dirs: folders::models(),
        environment,
        ..Options::default()
    };
    if let Verb::Restore {
        file,
        preview: false,
        fresh,
    } = cli.verb
    {
        return match fresh {
            true => data::fresh(&options, out).await,
            false => data::restore(&options, file, out).await,
        };
    }
    if let Verb::Mcp = cli.verb {
        return mcp::mcp(options).await;
    }
    let opened = Engine::open(options).await;
    if let Verb::Doctor { endpoints } = cli.verb {
        return doctor::doctor(opened, endpoints, out).await;
    }
    let engine = opened?;
    let result = match give_keys(&engine, &cli.verb).await {
        Ok(()) => verb(&engine, cli.verb, out).await,
        Err(error) => Err(error),
    };
    engine.shutdown().await;
    result
}

/// Uses the keys in the environment. `chat`, `serve` and `endpoints` know best which endpoint a key
/// is for.
async fn give_keys(engine: &Engine, verb: &Verb) -> Result<(), CommandError> {
    keys::give_hub_token(engine)?;
    match verb {
        Verb::Chat(_) | Verb::Serve { .. } | Verb::Endpoints { .. } => Ok(()),
        _ => keys::give(engine, &[], None).await,
    }
}

async fn verb(engine: &Engine, verb: Verb, out: &Output) -> Result<(), CommandError> {
    match verb {
        Verb::Import { paths, sillytavern } => {
            library::import(engine, paths, sillytavern, out).await
        }
        Verb::Export {
            kind,
            name,
            format,
            out: file,
            parts,
        } => export::export(engine, (kind, format, parts.options()), &name, &file, out).await,
        Verb::Delete {
            kind,
            name,
            keep_learned,
        } => library::delete(engine, kind, &name, keep_learned, out).await,
        Verb::List { kind } => library::list(engine, kind, out).await,
        Verb::Show {
            kind: ShowKind::Settings,
            whose,
            ..
        } => settings::show(engine, whose, out).await,
        Verb::Show { kind, name, .. } => {
            library::show(engine, kind, &name.unwrap_or_default(), out).await
        }
        Verb::Set {
            key, value, whose, ..
        } => settings::set(engine, whose, key, value, out).await,
        Verb::Chat(args) => chat::chat(engine, args, out).await,
        Verb::Group { verb } => group::group(engine, verb, out).await,
        Verb::Prompt(args) => prompt::prompt(engine, args, out).await,
        Verb::Search {
            query,
            chat,
            meaning,
        } => search::search(engine, &query, chat, meaning, out).await,
        Verb::Folders { verb } => list_folders::folders(engine, verb, out).await,
        Verb::Tokens { model, ids, file } => prompt::tokens(engine, model, ids, file, out).await,
        Verb::Template { verb } => templates::templates(engine, verb, out).await,
        Verb::Endpoints { verb } => endpoints::endpoints(engine, verb, out).await,
        Verb::ToolServers { verb } => tool_servers::tool_servers(engine, verb, out).await,
        Verb::Tools { verb } => tools::tools(engine, verb, out).await,
        Verb::Models { verb } => models::models(engine, verb, out).await,
        Verb::Character { verb } => character::character(engine, verb, out).await,
        Verb::Memory { verb } => memory::memory(engine, verb, out).await,
        Verb::Story { verb } => story::story(engine, verb, out).await,
        Verb::Serve {
            host,
            port,
            ui,
            api,
            key_from,
        } => {
            keys::give(engine, &key_from, None).await?;
            serve::serve(
                engine,
                serve::ServeArgs {
                    host,
                    port,
                    ui,
                    api,
                },
                out,
            )
            .await
        }
        Verb::Call {
            operation,
            arguments,
        } => call::call(engine, &operation, arguments, out).await,
        Verb::ApiKey { verb } => api_key::api_key(engine, verb, out).await,
        Verb::Backup { list: true, .. } => data::list(engine, out).await,
        Verb::Backup {
            export: Some(file), ..
        } => data::export(engine, file, out).await,
        Verb::Backup {
            import: Some(file), ..
        } => data::import(engine, file, out).await,
        Verb::Backup {
            second_place: Some(folder),
            ..
        } => data::second_place(engine, folder, out).await,
        Verb::Backup { .. } => data::backup(engine, out).await,
        Verb::Restore { file, .. } => data::preview(engine, file, out).await,
        Verb::Trash {
            restore,
            delete,
            empty,
            backups,
        } => {
            data::trash(
                engine,
                data::TrashActions {
                    restore,
                    delete,
                    empty,
                    backups,
                },
                out,
            )
            .await
        }
        Verb::Check => data::check(engine, out).await,
        Verb::Lore {
            verb: LoreVerb::Duplicate { name },
        } => lore::duplicate(engine, &name, out).await,
        Verb::Doctor { .. } | Verb::Lore { .. } | Verb::Mcp => Ok(()),
    }
}
