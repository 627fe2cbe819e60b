//! Desktop shell: one window for the engine.
//!
//! Guarantees
//! - Every command calls exactly one operation of the engine and is generated from the engine's
//!   list.
//! - The page can only call those commands. It passes no path, opens no other page and reaches no
//!   network.
//! - A second start brings the first window to the front. Files that a start names are imported
//!   only after a question.
//! - If the engine cannot open, a dialog offers remedies.
//! - An encrypted data folder stays closed until the page, or the keychain, unlocks it. Locking
//!   restarts the app.
//! - The local API is off unless the settings switch it on; its server stops before the engine
//!   closes.
//!
//! Not in this crate: prompts, SQL, HTTP routes, and everything that another front end needs too.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod access;
mod arguments;
mod clipboard;
mod closing;
mod commands;
mod core;
mod dialogs;
mod files;
mod local_api;
mod log;
mod opening;
mod openings;
#[cfg(target_os = "linux")]
mod page_crash;
mod pictures;
mod renderer;
mod shell_store;
mod task_bar;
mod window;

#[cfg(test)]
mod config_lint;

use std::error::Error;

use clap::Parser;
use engine::{Engine, Options};
use tauri::{App, Manager};

use crate::access::folder_access::FolderAccess;
use crate::access::lock_conditions::LockConditions;
use crate::access::lock_watch;
use crate::arguments::AppArguments;
use crate::closing::Closing;
use crate::core::Core;
use crate::local_api::LocalApi;
use crate::openings::Openings;
use crate::shell_store::ShellStore;

fn main() -> anyhow::Result<()> {
    let arguments = AppArguments::parse();
    if let Err(error) = engine::disable_core_dumps() {
        eprintln!("inglenook: cannot disable core dumps: {error}");
    }
    if let Err(error) = renderer::apply(arguments.dmabuf_renderer) {
        eprintln!(
            "inglenook: cannot disable the DMABUF renderer, so the window may stay blank: {error}"
        );
    }
    let options = arguments::options(&arguments)?;
    let only_locks = arguments.lock;
    let mut context = tauri::generate_context!();
    if cfg!(windows) {
        // On Windows, the plugin knows an instance by this name only.
        if let Some(folder) = arguments.custom_data_dir() {
            context.config_mut().identifier = arguments::instance_name(&folder);
        }
    }
    let app = tauri::Builder::default()
        .plugin(single_instance(&arguments))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_store::Builder::new().build())
        .manage(Core::new())
        .manage(Closing::new())
        .manage(LocalApi::default())
        .manage(Openings::default())
        .manage(LockConditions::new())
        .register_asynchronous_uri_scheme_protocol(pictures::SCHEME, pictures::serve)
        .invoke_handler(commands::handler())
        .on_window_event(|window, event| {
            window::watch(window, event);
            files::watch(window, event);
            closing::watch_window(window, event);
        })
        .setup(move |app| set_up(app, arguments, options))
        .build(context)?;
    // A running app with this data folder would have ended this process by now.
    anyhow::ensure!(
        !only_locks,
        "no Inglenook runs with this data folder, so there is nothing to lock"
    );
    app.run(closing::watch);
    Ok(())
}

/// Runs only in the first instance; a second one has already exited.
fn set_up(app: &mut App, arguments: AppArguments, options: Options) -> Result<(), Box<dyn Error>> {
    match log::start(&options.data_dir) {
        Ok(guard) => {
            app.manage(guard);
        }
        // The engine reports an unwritable folder, with a remedy.
        Err(error) => eprintln!("inglenook: no log: {error}"),
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "start");
    app.manage(ShellStore::open(app, &options.data_dir)?);
    let data_dir = options.data_dir.clone();
    let protection = tauri::async_runtime::block_on(Engine::protection(&options));
    app.manage(FolderAccess::new(options, &protection, !arguments.locked));
    window::open(app, &data_dir)?;
    tauri::async_runtime::spawn(opening::open(app.handle().clone()));
    lock_watch::start(app.handle());
    files::ask(
        app.handle(),
        arguments.files,
        &std::env::current_dir().unwrap_or_default(),
    );
    #[cfg(unix)]
    tauri::async_runtime::spawn(closing::watch_signals(app.handle().clone()));
    Ok(())
}

/// Each data folder has its own instance, so a start with another folder does not activate the
/// usual one.
fn single_instance(arguments: &AppArguments) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let plugin = tauri_plugin_single_instance::Builder::new()
        .callback(|app, arguments, folder| files::second_start(app, &arguments, &folder));
    match arguments.custom_data_dir() {
        Some(folder) => plugin.dbus_id(arguments::instance_name(&folder)).build(),
        None => plugin.build(),
    }
}
