//! The commands `/remember` and `/forget`.

use domain::chat::Chat;
use domain::slash::CommandInfo;

use crate::api::{CommandOutcome, Event, MemoryDraft, MemoryScope, RefusalCode};
use crate::turn::commands::tell::{CommandResult, IMPORTANCE, forget_memory};
use crate::turn::slash::Slash;
use crate::turn::slash::halt::{Halt, argument_missing, refused};

impl Slash {
    /// Stores a memory of the character and the persona.
    pub(crate) async fn remember_text(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        if text.is_empty() {
            return Err(argument_missing(info));
        }
        if !self
            .config()
            .setting_layers
            .resolved(chat, None, None)
            .await?
            .values
            .memory
        {
            let message = "Memory is off in this chat. Turn it on in the chat's settings.";
            return Err(refused(
                RefusalCode::MemoryOff,
                info.name,
                "",
                message.to_owned(),
            ));
        }
        let persona = self.library().personas.persona_in(chat).await?.id;
        let memory = self.library().memories.save_memory(MemoryDraft {
            id: None,
            kind: "fact".to_owned(),
            text: text.to_owned(),
            importance: IMPORTANCE.into(),
            pinned: false,
            scope: MemoryScope::Pair,
            character: chat.character,
            persona: Some(persona).filter(|_| !persona.0.is_nil()),
            chat: None,
            world: None,
        });
        let memory = memory.await?;
        self.base().events().announce(Event::Remembered {
            chat: chat.id,
            memory,
        });
        Ok(CommandOutcome::Memorized)
    }

    /// Forgets the best memory that has every content word of `text`.
    pub(crate) async fn forget_text(
        &self,
        info: &CommandInfo,
        chat: &Chat,
        text: &str,
    ) -> Result<CommandOutcome, Halt> {
        if text.is_empty() {
            return Err(argument_missing(info));
        }
        let persona = self.library().personas.persona_in(chat).await?;
        let now = self.base().now();
        let row = chat.clone();
        let thing = text.to_owned();
        let write = self
            .base()
            .store()
            .write(move |store| forget_memory(store, &row, &persona, &thing, now));
        let Some(memory) = write.await? else {
            let message = format!("No memory has all of these words: \"{text}\". Use fewer words.");
            return Err(refused(RefusalCode::NothingFound, info.name, text, message));
        };
        self.commands()
            .tell(chat, vec![CommandResult::Forgot(memory)]);
        Ok(CommandOutcome::Memorized)
    }
}
