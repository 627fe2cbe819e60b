//! One file per group of verbs. Each verb calls the engine once and prints the result.

mod api_key;
mod call;
mod character;
mod chat;
mod data;
mod doctor;
mod endpoints;
#[cfg(feature = "evaluation")]
mod evaluation;
mod export;
mod help_files;
mod item_list;
mod keys;
mod library;
mod list_folders;
mod lore;
mod mcp;
mod memory;
mod models;
mod prompt;
mod protection;
mod search;
mod serve;
mod settings;
mod story;
mod tools;
mod update;

use std::path::PathBuf;

use engine::{Engine, Options};

#[cfg(feature = "evaluation")]
use crate::cli::MemoryVerb;
use crate::cli::{Cli, LoreVerb, ShowKind, UnlockArgs, Verb};
use crate::failure::CommandError;
use crate::output::Output;

pub(crate) async fn run(cli: Cli, out: &Output) -> Result<(), CommandError> {
    // These need no data folder.
    match cli.verb {
        Verb::Lore {
            verb: LoreVerb::Test(args),
        } => return lore::test(&args, out),
        Verb::Completions { shell } => return help_files::completions(shell, out),
        Verb::Man { into } => return help_files::manual(into.as_deref(), out),
        _ => {}
    }
    #[cfg(feature = "evaluation")]
    if let Verb::Memory {
        verb: MemoryVerb::Rank(args),
    } = &cli.verb
    {
        return evaluation::rank::rank(args, out).await;
    }
    #[cfg(feature = "evaluation")]
    if let Verb::Memory {
        verb: MemoryVerb::Scenario(args),
    } = &cli.verb
    {
        return evaluation::scenario::scenario(args, cli.data_dir, out).await;
    }
    if let Verb::Lock = cli.verb {
        return protection::lock::lock(cli.data_dir, default_data_dir, out);
    }
    let data_dir = cli.data_dir.map_or_else(default_data_dir, Ok)?;
    let options = Options {
        data_dir,
        model_dirs: installation::model_dirs(),
        environment: engine::environment(),
        show_private: cli.unlock.with_private,
        ..Options::default()
    };
    on_data_folder(options, cli.verb, &cli.unlock, out).await
}

/// Runs a verb on the data folder, which most of them open.
async fn on_data_folder(
    mut options: Options,
    chosen: Verb,
    unlock: &UnlockArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let chosen = match chosen {
        Verb::Protect { verb } => return protection::protect(options, verb, unlock, out).await,
        Verb::Restore {
            file,
            preview: false,
            fresh,
        } => {
            let backup = file.as_deref();
            options.keys = protection::unlock::unlock_for_restore(&options, backup, unlock).await?;
            return if fresh {
                data::fresh(&options, out).await
            } else {
                data::restore(&options, file, out).await
            };
        }
        Verb::Mcp => {
            options.keys = mcp::unlock(&options, unlock).await?;
            return mcp::mcp(options).await;
        }
        Verb::Doctor { endpoints } => {
            return doctor::doctor(open(options, unlock).await, endpoints, out).await;
        }
        other => other,
    };
    let engine = open(options, unlock).await?;
    let result = match give_keys(&engine, &chosen).await {
        Ok(()) => verb(&engine, chosen, out).await,
        Err(error) => Err(error),
    };
    engine.shutdown().await;
    result
}

async fn open(mut options: Options, args: &UnlockArgs) -> Result<Engine, CommandError> {
    options.keys = protection::unlock::unlock(&options, args).await?;
    Ok(Engine::open(options).await?)
}

/// The desktop app's data folder.
fn default_data_dir() -> Result<PathBuf, CommandError> {
    installation::data_dir().ok_or_else(|| {
        CommandError::because(
            "storage",
            "this user has no home folder; set a folder with --data-dir",
        )
    })
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
        } => {
            export::export(
                engine,
                export::ExportRequest {
                    kind,
                    format,
                    parts: parts.options(),
                },
                &name,
                &file,
                out,
            )
            .await
        }
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
        Verb::Group { verb } => chat::group::group(engine, verb, out).await,
        Verb::Prompt(args) => prompt::prompt(engine, args, out).await,
        Verb::Search {
            query,
            chat,
            meaning,
        } => search::search(engine, &query, chat, meaning, out).await,
        Verb::Folders { verb } => list_folders::folders(engine, verb, out).await,
        Verb::Tokens { model, ids, file } => prompt::tokens(engine, model, ids, file, out).await,
        Verb::Template { verb } => prompt::templates::templates(engine, verb, out).await,
        Verb::Endpoints { verb } => endpoints::endpoints(engine, verb, out).await,
        Verb::ToolServers { verb } => tools::servers::tool_servers(engine, verb, out).await,
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
            let args = serve::ServeArgs {
                host,
                port,
                ui,
                api,
            };
            serve::serve(engine, args, out).await
        }
        Verb::Call {
            operation,
            arguments,
        } => call::call(engine, &operation, arguments, out).await,
        Verb::ApiKey { verb } => api_key::api_key(engine, verb, out).await,
        Verb::Update(args) => update::update(engine, &args, out).await,
        Verb::Forget(args) => data::forget::forget(engine, args, out).await,
        data @ (Verb::Backup { .. } | Verb::Restore { .. } | Verb::Trash { .. } | Verb::Check) => {
            data_verb(engine, data, out).await
        }
        Verb::Lore {
            verb: LoreVerb::Duplicate { name },
        } => lore::duplicate(engine, &name, out).await,
        Verb::Doctor { .. }
        | Verb::Lore { .. }
        | Verb::Mcp
        | Verb::Protect { .. }
        | Verb::Lock
        | Verb::Completions { .. }
        | Verb::Man { .. } => Ok(()),
    }
}

/// Verbs about backups and deleted items.
async fn data_verb(engine: &Engine, verb: Verb, out: &Output) -> Result<(), CommandError> {
    match verb {
        Verb::Backup {
            list,
            export,
            import,
            second_place,
        } => {
            let request = data::BackupRequest {
                list,
                export,
                import,
                second_place,
            };
            data::backups(engine, request, out).await
        }
        Verb::Restore { file, .. } => data::preview(engine, file, out).await,
        Verb::Trash {
            restore,
            delete,
            empty,
            backups,
        } => {
            let actions = data::TrashActions {
                restore,
                delete,
                empty,
                backups,
            };
            data::trash(engine, actions, out).await
        }
        Verb::Check => data::check(engine, out).await,
        _ => Ok(()),
    }
}
