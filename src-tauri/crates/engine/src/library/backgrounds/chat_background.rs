//! Selects the background of a chat.

use context::scene_words::longest_match;
use domain::ChatId;
use domain::chat::Chat;
use domain::settings::{SettingOrigin, Values};

use crate::api::ChatBackground;
use crate::base::error::ApiResult;
use crate::library::backgrounds::Backgrounds;
use crate::library::snapshots::macro_scope::seed;
use crate::settings::layers::random_places::draw;

impl Backgrounds {
    /// The background of a chat: its own, else the one whose words occur in its scene, else that of
    /// the character or of all chats.
    ///
    /// # Errors
    /// `NotFound` if the chat does not exist.
    pub(crate) async fn chat_background(&self, chat: ChatId) -> ApiResult<Option<ChatBackground>> {
        let chat = self.chat_lookup.chat(chat).await?;
        let resolved = self
            .config()
            .setting_layers
            .resolved(&chat, None, None)
            .await?;
        let all = self.list_backgrounds().await?;
        let own = matches!(
            resolved.origin("background"),
            SettingOrigin::Chat | SettingOrigin::Environment
        );
        if !own && all.iter().any(|one| !one.scene_words.is_empty()) {
            let scene = self.scene_text(&chat, &resolved.values).await?;
            if let Some((one, word)) = longest_match(
                &scene,
                all.iter().map(|one| (one, one.scene_words.as_str())),
            ) {
                return Ok(Some(ChatBackground {
                    background: one.clone(),
                    scene_word: Some(word),
                }));
            }
        }
        let set = all
            .into_iter()
            .find(|one| one.picture == resolved.values.background);
        Ok(set.map(|background| ChatBackground {
            background,
            scene_word: None,
        }))
    }

    /// Describes where a chat takes place: the narrator's text that opens the scene, else the scene
    /// of the settings, else the scenario. Macros are not expanded.
    async fn scene_text(&self, chat: &Chat, values: &Values) -> ApiResult<String> {
        let id = chat.id;
        if let Some(opening) = self
            .base()
            .store()
            .read(move |store| store.messages().scene_opening(id))
            .await?
        {
            return Ok(opening);
        }
        let scene = draw("scene", &values.scene, seed(id, None)).unwrap_or(&values.scene);
        if !scene.trim().is_empty() {
            return Ok(scene.to_owned());
        }
        Ok(self
            .characters
            .chat_card(chat)
            .await?
            .card
            .scenario()
            .to_owned())
    }
}
