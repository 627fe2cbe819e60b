//! Group L: facts in other languages and scripts.

use super::story::StorySpeaker;
use super::{Expectation, ExpectedRecall, PlanBuilder};

/// Language, statements and questions; each question shares some words with its statement.
const LANGUAGES: [(&str, [(&str, &str); 2]); 5] = [
    (
        "German",
        [
            (
                "Meine Schwester hat ihren Kater {x} genannt.",
                "Wie hat meine Schwester ihren Kater genannt?",
            ),
            (
                "Im Urlaub wohnten wir im Gasthof {x} am See.",
                "In welchem Gasthof am See wohnten wir im Urlaub?",
            ),
        ],
    ),
    (
        "Spanish",
        [
            (
                "Mi abuela guarda las llaves en el cajón {x}.",
                "¿Dónde guarda las llaves mi abuela?",
            ),
            (
                "El perro de mi vecino se llama {x}.",
                "¿Cómo se llama el perro de mi vecino?",
            ),
        ],
    ),
    (
        "Russian",
        [
            ("Моего кота зовут {x}, он рыжий.", "Как зовут моего кота?"),
            (
                "Мой брат работает на заводе {x}.",
                "На каком заводе работает мой брат?",
            ),
        ],
    ),
    (
        "Japanese",
        [
            (
                "妹の飼っている猫の名前は {x} です。",
                "妹の飼っている猫の名前は何ですか？",
            ),
            (
                "先週、図書館で {x} という小説を借りました。",
                "図書館で借りた小説は何という題名でしたか？",
            ),
        ],
    ),
    (
        "Chinese",
        [
            (
                "我妹妹养的那只鹦鹉叫 {x}。",
                "我妹妹养的那只鹦鹉叫什么名字？",
            ),
            ("我祖母出生的村庄叫 {x}。", "我祖母出生的村庄叫什么？"),
        ],
    ),
];

pub(super) fn plant(builder: &mut PlanBuilder) {
    for pair in 0..builder.pairs() {
        for (language, facts) in LANGUAGES {
            let (told, asked) = facts[pair % 2];
            let answer = builder.answer(pair);
            builder.plant(pair, StorySpeaker::User, told.replace("{x}", &answer));
            let wants = ExpectedRecall::All(vec![answer]);
            builder.ask(
                pair,
                asked,
                Expectation {
                    name: format!("L {language}"),
                    goal: 80,
                    wants,
                },
            );
        }
    }
}
