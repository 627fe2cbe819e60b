//! The desktop shell: one window around the engine.
//!
//! Promises
//! - Every command is a thin door to one operation of the engine, made from the engine's own list.
//! - The page can call those commands and nothing else; it names no path, opens no other page and reaches no network.
//! - A second start brings the first window to the front and hands over its files.
//! - An engine that does not open is a question with ways out, never a silent end.
//!
//! Absent: prompts, SQL, HTTP, anything that another face would need as well.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod closing;
mod commands;
mod core;
mod dialogs;
mod files;
mod log;
mod opening;
mod pictures;
mod places;
mod renderer;
mod shell_store;
mod window;

#[cfg(test)]
mod config_lint;

use std::error::Error;

use clap::Parser;
use engine::Options;
use tauri::{App, Manager};

use crate::core::Core;
use crate::places::Arguments;
use crate::shell_store::ShellStore;

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Err(error) = renderer::apply(arguments.dmabuf_renderer) {
        eprintln!("inglenook: the window may stay blank with this graphics driver: {error}");
    }
    let options = places::options(&arguments)?;
    let app = tauri::Builder::default()
        .plugin(single_instance(&arguments))
        .plugin(tauri_plugin_dialog::init())
        .plugin(tauri_plugin_store::Builder::new().build())
        .manage(Core::new())
        .register_asynchronous_uri_scheme_protocol(pictures::SCHEME, pictures::serve)
        .invoke_handler(commands::handler())
        .on_window_event(|window, event| {
            window::watch(window, event);
            files::watch(window, event);
        })
        .setup(move |app| set_up(app, arguments, options))
        .build(tauri::generate_context!())?;
    app.run(closing::watch);
    Ok(())
}

/// Runs in the first instance alone: a second one has left before.
fn set_up(app: &mut App, arguments: Arguments, options: Options) -> Result<(), Box<dyn Error>> {
    match log::start(&options.data_dir) {
        Ok(guard) => {
            app.manage(guard);
        }
        // A folder that cannot be written is told by the engine, with what to do about it.
        Err(error) => eprintln!("inglenook: no log: {error}"),
    }
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "start");
    app.manage(ShellStore::open(app, &options.data_dir)?);
    window::open(app, &options.data_dir)?;
    tauri::async_runtime::spawn(opening::open(app.handle().clone(), options));
    files::import(app.handle(), files::from_here(arguments.files));
    #[cfg(unix)]
    tauri::async_runtime::spawn(closing::watch_signals(app.handle().clone()));
    Ok(())
}

/// A data folder of one's own is an Inglenook of one's own: it does not wake the usual one.
fn single_instance(arguments: &Arguments) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    let plugin = tauri_plugin_single_instance::Builder::new()
        .callback(|app, arguments, folder| files::second_start(app, &arguments, &folder));
    match arguments.own_data_dir() {
        Some(folder) => plugin.dbus_id(places::instance_name(&folder)).build(),
        None => plugin.build(),
    }
}
