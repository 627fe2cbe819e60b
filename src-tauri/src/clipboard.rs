//! The picture in the clipboard. WebKitGTK puts none into a page's paste event; other systems' web
//! views do.

use engine::api::ApiError;
use tauri::AppHandle;

/// Maximum number of pixels: more than any picture that the app accepts.
#[cfg(target_os = "linux")]
const MAX_PIXELS: i64 = 100_000_000;

/// Returns the picture as a PNG; `None` if the clipboard has none.
///
/// # Errors
/// `BadInput` if the picture is too large.
#[cfg(target_os = "linux")]
pub(crate) async fn picture(app: &AppHandle) -> Result<Option<Vec<u8>>, ApiError> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let read = app.run_on_main_thread(move || {
        let clipboard = gtk::Clipboard::get(&gtk::gdk::SELECTION_CLIPBOARD);
        // Asynchronous, because the program that owns the clipboard may be slow or hang.
        clipboard.request_image(move |_, picture| {
            sender.send(picture.map(png)).ok();
        });
    });
    if read.is_err() {
        return Ok(None);
    }
    match receiver.await {
        Ok(Some(png)) => png.map(Some),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Other web views give pasted pictures to the page.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn picture(_app: &AppHandle) -> Result<Option<Vec<u8>>, ApiError> {
    Ok(None)
}

#[cfg(target_os = "linux")]
fn png(picture: &gtk::gdk_pixbuf::Pixbuf) -> Result<Vec<u8>, ApiError> {
    let width = i64::from(picture.width());
    let height = i64::from(picture.height());
    if width * height > MAX_PIXELS {
        return Err(ApiError::BadInput {
            message: format!("The picture in the clipboard has {width} x {height} pixels."),
            hint: "Save it smaller, and attach the file.".into(),
        });
    }
    picture
        .save_to_bufferv("png", &[])
        .map_err(|error| ApiError::BadInput {
            message: format!("The picture in the clipboard cannot be read: {error}."),
            hint: "Save it as a file, and attach the file.".into(),
        })
}
