//! A small window to drag a file from, like a file manager. The desktop tests drag it onto the app.

#[cfg(target_os = "linux")]
fn main() {
    use gtk::gdk::{DragAction, ModifierType};
    use gtk::prelude::*;

    let file = std::env::args_os().nth(1).expect("the file to drag");
    let uri = gtk::glib::filename_to_uri(file, None).expect("an absolute path");
    gtk::init().expect("a display");
    let window = gtk::Window::new(gtk::WindowType::Toplevel);
    window.set_title("drag source");
    window.set_default_size(100, 100);
    window.move_(1320, 20);
    let handle = gtk::EventBox::new();
    handle.add(&gtk::Label::new(Some("drag me")));
    let target = gtk::TargetEntry::new("text/uri-list", gtk::TargetFlags::empty(), 0);
    handle.drag_source_set(ModifierType::BUTTON1_MASK, &[target], DragAction::COPY);
    handle.connect_drag_data_get(move |_, _, data, _, _| {
        data.set_uris(&[uri.as_str()]);
    });
    window.add(&handle);
    window.show_all();
    gtk::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}
