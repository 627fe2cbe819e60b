//! Memories of a world: sent in every chat that uses its lorebook, deleted with the lorebook, and
//! exported for lorebooks of the same name.

use domain::{CharacterId, ChatId, LorebookId};
use engine::api::{
    ApiError, LorebookBinding, Memory, MemoryDraft, MemoryFilter, MemoryImport, MemoryScope,
    PersonaDraft,
};
use serde_json::json;
use tests::headless::{Headless, fact};

const KNOWN: &str = "The lighthouse burns ZEBULON oil.";
const CANARY: &str = "ZEBULON";
const QUESTION: &str = "What does the lighthouse burn?";

/// Ada and Ben with a chat each, and a lorebook that is not assigned yet.
struct House {
    app: Headless,
    ada: CharacterId,
    ben: CharacterId,
    adas: ChatId,
    bens: ChatId,
    world: LorebookId,
}

impl House {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = async |of: CharacterId| app.engine.new_chat(of).await.unwrap().id;
        let (ada, ben) = (app.character("Ada").await, app.character("Ben").await);
        let (adas, bens) = (chat(ada).await, chat(ben).await);
        let world = app
            .engine
            .create_lorebook("The coast".into())
            .await
            .unwrap()
            .about
            .id;
        Self {
            app,
            ada,
            ben,
            adas,
            bens,
            world,
        }
    }

    fn draft(&self) -> MemoryDraft {
        let (scope, world) = (MemoryScope::World, Some(self.world));
        MemoryDraft {
            scope,
            world,
            ..fact(self.ada, KNOWN, 5)
        }
    }

    async fn add(&self) -> Memory {
        self.app.engine.save_memory(self.draft()).await.unwrap()
    }

    async fn bind(&self, bindings: Vec<LorebookBinding>) {
        self.app
            .engine
            .bind_lorebook(self.world, bindings)
            .await
            .unwrap();
    }

    fn with(character: CharacterId) -> LorebookBinding {
        LorebookBinding::Character { id: character }
    }

    /// Whether the provider received the world's memory for `text`.
    async fn tells(&self, chat: ChatId, text: &str) -> bool {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(CANARY))
    }

    /// Returns whether Ada and Ben get the memory, with or without a question about it.
    async fn told(&self) -> (bool, bool) {
        let mut told = [false; 2];
        for (told, chat) in told.iter_mut().zip([self.adas, self.bens]) {
            for text in ["Good evening.", QUESTION] {
                *told |= self.tells(chat, text).await;
            }
        }
        (told[0], told[1])
    }

    async fn listed(&self, of: CharacterId, filter: MemoryFilter) -> Vec<Memory> {
        self.app
            .engine
            .find_memories(of, String::new(), filter, 1)
            .await
            .unwrap()
            .memories
    }

    async fn export(&self) -> String {
        String::from_utf8(
            self.app
                .engine
                .export_memories(self.ada)
                .await
                .unwrap()
                .bytes,
        )
        .unwrap()
    }

    async fn import(&self, json: &str) -> MemoryImport {
        self.app
            .engine
            .import_memories(self.ada, json.to_owned())
            .await
            .unwrap()
    }
}

#[tokio::test]
async fn world_memory_is_used_with_its_lorebook_only() {
    let house = House::open().await;
    let memory = house.add().await;
    assert_eq!(
        (memory.scope, memory.world),
        (MemoryScope::World, Some(house.world))
    );
    assert_eq!(
        house.told().await,
        (false, false),
        "the lorebook is not used anywhere yet"
    );
    let nobody = house.app.engine.list_personas().await.unwrap().remove(0).id;
    let offered = async |character: CharacterId, chat: Option<ChatId>| {
        house
            .app
            .engine
            .memory_worlds(character, nobody, chat)
            .await
            .unwrap()
    };
    assert!(offered(house.ada, Some(house.adas)).await.is_empty());
    house.bind(vec![House::with(house.ben)]).await;
    assert_eq!(house.told().await, (false, true));
    assert_eq!(
        offered(house.ben, None).await,
        [house.world],
        "the lorebook is a possible scope there"
    );
    assert!(offered(house.ada, Some(house.adas)).await.is_empty());
    house
        .bind(vec![LorebookBinding::Chat { id: house.adas }])
        .await;
    assert_eq!(
        house.told().await,
        (true, false),
        "the memory sent to Ben is withdrawn"
    );
    house.bind(vec![LorebookBinding::Global]).await;
    assert_eq!(house.told().await, (true, true));
    house
        .app
        .engine
        .enable_lorebook(house.world, false)
        .await
        .unwrap();
    assert_eq!(house.told().await, (false, false), "the lorebook is off");
    house
        .app
        .engine
        .enable_lorebook(house.world, true)
        .await
        .unwrap();
    assert_eq!(house.told().await, (true, true));
}

/// The persona's lorebooks apply too; after a change of persona their memories are withdrawn.
#[tokio::test]
async fn persona_adds_and_removes_its_lorebooks() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let nobody = engine.list_personas().await.unwrap().remove(0);
    let made = async |name: &str| {
        let persona = PersonaDraft {
            id: None,
            name: name.into(),
            ..nobody.clone().into()
        };
        engine.save_persona(persona).await.unwrap().id
    };
    let (tom, ida) = (made("Tom").await, made("Ida").await);
    house.bind(vec![LorebookBinding::Persona { id: tom }]).await;
    house.add().await;
    engine.set_chat_persona(house.adas, tom).await.unwrap();
    assert_eq!(house.told().await, (true, false));
    engine.set_chat_persona(house.adas, ida).await.unwrap();
    assert_eq!(house.told().await, (false, false));
    engine.set_chat_persona(house.bens, tom).await.unwrap();
    assert_eq!(house.told().await, (false, true));
    engine.delete_persona(tom).await.unwrap();
    assert_eq!(house.told().await, (false, false));
}

#[tokio::test]
async fn world_memory_is_deleted_and_restored_with_its_book() {
    let house = House::open().await;
    house.bind(vec![LorebookBinding::Global]).await;
    house.add().await;
    assert_eq!(house.told().await, (true, true));
    house.app.engine.delete_lorebook(house.world).await.unwrap();
    assert_eq!(house.told().await, (false, false));
    assert!(
        house
            .listed(house.ada, MemoryFilter::default())
            .await
            .is_empty()
    );
    house
        .app
        .engine
        .restore_lorebook(house.world)
        .await
        .unwrap();
    assert_eq!(house.told().await, (true, true));
    assert_eq!(
        house.listed(house.ada, MemoryFilter::default()).await.len(),
        1
    );
}

#[tokio::test]
async fn world_memory_is_listed_and_filtered() {
    let house = House::open().await;
    let memory = house.add().await;
    house.bind(vec![House::with(house.ada)]).await;
    let of = |scope| MemoryFilter {
        scope: Some(scope),
        ..MemoryFilter::default()
    };
    assert_eq!(
        house.listed(house.ada, of(MemoryScope::World)).await,
        [memory]
    );
    assert!(
        house
            .listed(house.ada, of(MemoryScope::Profile))
            .await
            .is_empty()
    );
    assert!(
        house
            .listed(house.ben, MemoryFilter::default())
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn refuses_a_memory_of_an_unknown_world() {
    let house = House::open().await;
    let gone = house
        .app
        .engine
        .create_lorebook("The town".into())
        .await
        .unwrap()
        .about
        .id;
    house.app.engine.delete_lorebook(gone).await.unwrap();
    for world in [None, Some(gone), Some(LorebookId(house.ada.0))] {
        let refused = house
            .app
            .engine
            .save_memory(MemoryDraft {
                world,
                ..house.draft()
            })
            .await
            .unwrap_err();
        assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
    }
    let mut draft = serde_json::to_value(house.draft()).unwrap();
    draft["world"] = "The coast".into();
    let refused = house
        .app
        .engine
        .call(
            "save_memory",
            json!({ "draft": draft }).to_string().as_bytes(),
        )
        .await
        .unwrap_err();
    assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
}

#[tokio::test]
async fn world_memory_import_finds_lorebook_by_name() {
    let house = House::open().await;
    house.bind(vec![House::with(house.ada)]).await;
    house.add().await;
    let json = house.export().await;
    assert_eq!(
        (
            house.import(&json).await.known,
            house.import(&json).await.added
        ),
        (1, 0)
    );

    let same = House::open().await;
    same.bind(vec![House::with(same.ada)]).await;
    let taken = same.import(&json).await;
    assert_eq!((taken.added, taken.worldless.len()), (1, 0), "{taken:?}");
    assert_eq!(
        same.listed(same.ada, MemoryFilter::default()).await[0].world,
        Some(same.world)
    );
    assert_eq!(same.told().await, (true, false));

    let other = House::open().await;
    other.app.engine.delete_lorebook(other.world).await.unwrap();
    let taken = other.import(&json).await;
    assert_eq!(
        (taken.added, taken.worldless),
        (1, vec![format!("\u{201c}{KNOWN}\u{201d}")])
    );
    let memory = &other.listed(other.ada, MemoryFilter::default()).await[0];
    assert_eq!(
        (memory.scope, memory.character),
        (MemoryScope::Character, Some(other.ada))
    );
    assert_eq!(other.told().await, (true, false));
}
