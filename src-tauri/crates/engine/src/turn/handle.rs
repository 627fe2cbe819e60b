//! Turn layer: all rooms from the user's message to the stored reply.

use std::ops::Deref;
use std::sync::Arc;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::assembly::Assembly;
use crate::turn::client::Clients;
use crate::turn::commands::Commands;
use crate::turn::edits::Edits;
use crate::turn::inputs::Inputs;
use crate::turn::lore::LoreActivation;
use crate::turn::previews::Previews;
use crate::turn::replies::{Generation, ReplyStore};
use crate::turn::sending::Sending;
use crate::turn::slash::Slash;
use crate::turn::tools::Tools;

/// The rooms of turns, their prompts and their manifests. Clones share one state.
#[derive(Clone)]
pub(crate) struct Turns(Arc<TurnRooms>);

/// One room for each step, lowest first.
pub(crate) struct TurnRooms {
    recall: RecallService,
    pub(crate) inputs: Inputs,
    pub(crate) lore_activation: LoreActivation,
    /// Only scenarios store replies that no model wrote.
    #[cfg(feature = "evaluation")]
    pub(crate) reply_store: ReplyStore,
    pub(crate) tools: Tools,
    pub(crate) assembly: Assembly,
    pub(crate) generation: Generation,
    pub(crate) previews: Previews,
    pub(crate) sending: Sending,
    pub(crate) edits: Edits,
    pub(crate) slash: Slash,
    pub(crate) clients: Clients,
}

impl Deref for Turns {
    type Target = TurnRooms;

    fn deref(&self) -> &TurnRooms {
        &self.0
    }
}

impl Turns {
    pub(crate) fn new(recall: RecallService) -> Self {
        let inputs = Inputs::new(&recall);
        let lore_activation = LoreActivation::new(&recall);
        let commands = Commands::new(recall.base());
        let reply_store = ReplyStore::new(&recall, &inputs);
        let tools = Tools::new(&recall, &lore_activation, &reply_store);
        let assembly = Assembly::new(&recall, &inputs, &lore_activation, &tools);
        let generation = Generation::new(&recall, &assembly, &reply_store, &tools);
        let previews = Previews::new(&recall, &assembly, &inputs, &lore_activation);
        let sending = Sending::new(&recall, &commands, &generation, &inputs, &reply_store);
        let edits = Edits::new(&recall, &commands, &inputs);
        let slash = Slash::new(&recall, &commands, &edits, &inputs, &previews, &sending);
        let clients = Clients::new(
            &recall,
            &assembly,
            &generation,
            &previews,
            &reply_store,
            &sending,
            &slash,
        );
        let weak = slash.downgrade();
        generation.on_automatic(Box::new(move |chat, moment| {
            let weak = weak.clone();
            Box::pin(async move {
                match weak.upgrade() {
                    Some(slash) => slash.run_automatic(&chat, moment).await,
                    None => Ok(()),
                }
            })
        }));
        Self(Arc::new(TurnRooms {
            recall,
            inputs,
            lore_activation,
            #[cfg(feature = "evaluation")]
            reply_store,
            tools,
            assembly,
            generation,
            previews,
            sending,
            edits,
            slash,
            clients,
        }))
    }

    pub(crate) fn base(&self) -> &Base {
        self.0.recall.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        self.0.recall.config()
    }

    pub(crate) fn library(&self) -> &Library {
        self.0.recall.library()
    }

    pub(crate) fn recall_service(&self) -> &RecallService {
        &self.0.recall
    }
}
