//! Data for the first screen of the window.

use domain::ChatId;

use crate::api::Startup;
use crate::base::error::ApiResult;
use crate::library::chats::Chats;
use crate::settings::app_settings::OPEN_CHAT;

impl Chats {
    pub(crate) async fn startup(&self) -> ApiResult<Startup> {
        let open = self
            .base()
            .store()
            .read(|store| store.settings().get(OPEN_CHAT))
            .await?;
        let open: Option<ChatId> = open.and_then(|json| serde_json::from_str(&json).ok());
        let chats = self.list_chats().await?;
        let still_there = open.filter(|id| chats.iter().any(|chat| chat.id == *id));
        Ok(Startup {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: self.config().app_settings.settings(),
            chat: still_there.or_else(|| chats.first().map(|chat| chat.id)),
            notices: self.base().notices().to_vec(),
            data_dir: self.base().store().dir().display().to_string(),
        })
    }
}
