//! Documents of a character, used in all its chats, and of a lorebook, used with the lorebook. They
//! are used in no other chat, and nowhere once they are removed.

use domain::{CharacterId, ChatId, LorebookId};
use engine::api::{ApiError, AttachedDocument, Changed, DocumentOwner, Event, LorebookBinding};
use serde_json::json;
use tests::headless::Headless;

const GUIDE: &str = "# The lighthouse\n\nIt stands on a rock of granite.\n\n## The lamp\n\nThe lamp burns ZEBULON oil.\n";
const CANARY: &str = "ZEBULON";
const QUESTION: &str = "What does the lamp burn?";

/// Ada with two chats, Ben with one, and a lorebook that is not assigned yet.
struct House {
    app: Headless,
    ada: CharacterId,
    chats: [ChatId; 2],
    bens: ChatId,
    ben: CharacterId,
    world: LorebookId,
}

impl House {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = async |of: CharacterId| app.engine.new_chat(of).await.unwrap().id;
        let (ada, ben) = (app.character("Ada").await, app.character("Ben").await);
        let (chats, bens) = ([chat(ada).await, chat(ada).await], chat(ben).await);
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
            chats,
            bens,
            ben,
            world,
        }
    }

    fn ada(&self) -> DocumentOwner {
        DocumentOwner::Character { id: self.ada }
    }

    fn world(&self) -> DocumentOwner {
        DocumentOwner::Lorebook { id: self.world }
    }

    async fn attach(&self, owner: DocumentOwner) -> AttachedDocument {
        self.app
            .engine
            .attach_document_bytes(owner, "guide.md".into(), GUIDE.into())
            .await
            .unwrap()
    }

    async fn bind(&self, bindings: Vec<LorebookBinding>) {
        self.app
            .engine
            .bind_lorebook(self.world, bindings)
            .await
            .unwrap();
    }

    /// Sends `text` and returns all that the provider received.
    async fn say(&self, chat: ChatId, text: &str) -> String {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn tells(&self, chat: ChatId) -> bool {
        self.say(chat, QUESTION).await.contains(CANARY)
    }

    async fn listed(&self, owner: DocumentOwner) -> Vec<String> {
        let documents = self.app.engine.list_documents(owner).await.unwrap();
        documents
            .into_iter()
            .map(|document| document.name)
            .collect()
    }
}

#[tokio::test]
async fn character_document_is_used_in_its_chats_only() {
    let house = House::open().await;
    let guide = house.attach(house.ada()).await;
    assert_eq!(guide.owner, house.ada());
    assert_eq!(
        house
            .app
            .engine
            .get_document(guide.id)
            .await
            .unwrap()
            .passages,
        2
    );
    for chat in house.chats {
        let sent = house.say(chat, QUESTION).await;
        assert!(
            sent.contains("- guide.md, The lamp: The lamp burns ZEBULON oil."),
            "{sent}"
        );
    }
    let sent = house
        .say(
            house.bens,
            "What does the lamp of the lighthouse burn, on its rock of granite?",
        )
        .await;
    assert!(
        !sent.contains(CANARY) && !sent.contains("guide.md"),
        "another character never gets it:\n{sent}"
    );
    let later = house.app.engine.new_chat(house.ada).await.unwrap().id;
    let sent = house.say(later, "Hello!").await;
    assert!(
        !sent.contains("guide.md"),
        "the question was not about the document:\n{sent}"
    );
    assert!(house.tells(later).await);
    assert_eq!(house.listed(house.ada()).await, ["guide.md"]);
    assert!(
        house
            .listed(DocumentOwner::Character { id: house.ben })
            .await
            .is_empty()
    );
    assert!(
        house
            .listed(DocumentOwner::Chat { id: later })
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn lorebook_document_is_used_with_its_lorebook() {
    let house = House::open().await;
    house.attach(house.world()).await;
    assert!(
        !house.tells(house.bens).await,
        "the lorebook is not used anywhere yet"
    );
    house
        .bind(vec![LorebookBinding::Character { id: house.ben }])
        .await;
    assert!(house.tells(house.bens).await && !house.tells(house.chats[0]).await);
    house
        .bind(vec![LorebookBinding::Chat { id: house.chats[0] }])
        .await;
    assert!(
        !house.tells(house.bens).await,
        "earlier passages are withdrawn"
    );
    assert!(house.tells(house.chats[0]).await && !house.tells(house.chats[1]).await);
    house.bind(vec![LorebookBinding::Global]).await;
    assert!(house.tells(house.bens).await && house.tells(house.chats[1]).await);
    house
        .app
        .engine
        .enable_lorebook(house.world, false)
        .await
        .unwrap();
    assert!(
        !house.tells(house.bens).await && !house.tells(house.chats[0]).await,
        "the lorebook is off"
    );
    house
        .app
        .engine
        .enable_lorebook(house.world, true)
        .await
        .unwrap();
    assert!(house.tells(house.bens).await);
    house.app.engine.delete_lorebook(house.world).await.unwrap();
    assert!(
        !house.tells(house.bens).await && !house.tells(house.chats[0]).await,
        "the lorebook is deleted"
    );
    let gone = house
        .app
        .engine
        .list_documents(house.world())
        .await
        .unwrap_err();
    assert!(matches!(gone, ApiError::NotFound { .. }), "{gone:?}");
    house
        .app
        .engine
        .restore_lorebook(house.world)
        .await
        .unwrap();
    assert!(house.tells(house.bens).await);
}

#[tokio::test]
async fn removed_document_is_not_sent_and_can_be_restored() {
    let house = House::open().await;
    let hers = house.attach(house.ada()).await;
    house.bind(vec![LorebookBinding::Global]).await;
    let worlds = house.attach(house.world()).await;
    for chat in house.chats {
        assert!(house.tells(chat).await);
    }
    let mut events = house.app.engine.subscribe();
    house.app.engine.remove_document(worlds.id).await.unwrap();
    let changed = Event::Changed {
        what: Changed::Documents,
        id: Some(house.world.to_string()),
    };
    while events.next().await.unwrap() != changed {}
    house.app.engine.remove_document(hers.id).await.unwrap();
    for chat in [house.chats[0], house.chats[1], house.bens] {
        let sent = house.say(chat, "And the lamp, once more?").await;
        assert!(
            !sent.contains(CANARY) && !sent.contains("guide.md"),
            "{sent}"
        );
    }
    house.app.engine.restore_document(hers.id).await.unwrap();
    assert!(house.tells(house.chats[1]).await && !house.tells(house.bens).await);
    house.app.engine.restore_document(worlds.id).await.unwrap();
    assert!(house.tells(house.bens).await);
}

#[tokio::test]
async fn limits_and_names_are_per_owner() {
    let house = House::open().await;
    house.attach(house.ada()).await;
    house.attach(house.world()).await;
    house
        .attach(DocumentOwner::Chat { id: house.chats[0] })
        .await;
    let refused = async |owner: DocumentOwner, name: &str| match house
        .app
        .engine
        .attach_document_bytes(owner, name.into(), b"text".to_vec())
        .await
    {
        Err(ApiError::BadInput { message, .. }) => message,
        other => panic!("{name}: {other:?}"),
    };
    assert!(
        refused(house.ada(), "guide.md")
            .await
            .contains("already attached to this character")
    );
    for number in 1..10 {
        let name = format!("{number}.md");
        house
            .app
            .engine
            .attach_document_bytes(house.world(), name, b"text".to_vec())
            .await
            .unwrap();
    }
    assert!(
        refused(house.world(), "11.md")
            .await
            .contains("This lorebook already has 10 documents")
    );
    let nobody = DocumentOwner::Character {
        id: CharacterId(uuid::Uuid::nil()),
    };
    let nobody = house
        .app
        .engine
        .attach_document_bytes(nobody, "a.md".into(), b"a".to_vec())
        .await;
    assert!(
        matches!(nobody, Err(ApiError::NotFound { .. })),
        "{nobody:?}"
    );
}

/// A card's lorebook has the id of its character and is used in the same chats.
#[tokio::test]
async fn card_lorebook_has_its_characters_documents() {
    let house = House::open().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Cay", "character_book": {
        "name": "Rocks", "entries": [], "extensions": {} } } });
    let report = house
        .app
        .engine
        .import_bytes("cay.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let cay: CharacterId = report.imported[0].id.parse().unwrap();
    let guide = house
        .attach(DocumentOwner::Lorebook {
            id: LorebookId(cay.0),
        })
        .await;
    assert_eq!(guide.owner, DocumentOwner::Character { id: cay });
    let chat = house.app.engine.new_chat(cay).await.unwrap().id;
    assert!(house.tells(chat).await && !house.tells(house.bens).await);
}

#[tokio::test]
async fn documents_survive_restart_and_go_with_character() {
    let house = House::open().await;
    let guide = house.attach(house.ada()).await;
    let House {
        app,
        ada,
        chats,
        bens,
        ben,
        world,
    } = house;
    let house = House {
        app: app.restart().await,
        ada,
        chats,
        bens,
        ben,
        world,
    };
    assert!(house.tells(house.chats[0]).await);
    house.app.engine.delete_character(house.ada).await.unwrap();
    let gone = house.app.engine.get_document(guide.id).await.unwrap_err();
    assert!(matches!(gone, ApiError::NotFound { .. }), "{gone:?}");
    house.app.engine.restore_character(house.ada).await.unwrap();
    assert_eq!(house.listed(house.ada()).await, ["guide.md"]);
}
