//! Kinds of facts in six wordings, with questions that share all, some or none of their words.

/// In the texts, `{r}` is the person and `{x}` the answer.
pub(super) struct FactKind {
    /// Topic in one word.
    pub(super) matter: &'static str,
    pub(super) told: [&'static str; 6],
    /// Questions by tier: shared words, some words, no words. `{my}` is my or your; `{about}`
    /// paraphrases `{r}`.
    pub(super) asked: [[&'static str; 2]; 3],
    /// A hypothetical statement about the same topic, without a person.
    pub(super) if_ever: &'static str,
}

/// A person and a paraphrase, in which `{my}`, `{me}` and `{i}` refer to the person with this
/// relation.
pub(super) struct Relation {
    pub(super) noun: &'static str,
    pub(super) about: &'static str,
}

pub(super) const RELATIONS: [Relation; 12] = [
    Relation {
        noun: "sister",
        about: "the girl {my} parents had after {me}",
    },
    Relation {
        noun: "brother",
        about: "the boy {i} shared a bunk bed with",
    },
    Relation {
        noun: "uncle",
        about: "the man {my} aunt married",
    },
    Relation {
        noun: "neighbour",
        about: "the person living next door to {me}",
    },
    Relation {
        noun: "boss",
        about: "whoever signs {my} pay cheques",
    },
    Relation {
        noun: "cousin",
        about: "the kid {i} spent every summer holiday with",
    },
    Relation {
        noun: "grandmother",
        about: "the mum of {my} mum",
    },
    Relation {
        noun: "teacher",
        about: "the one who got {me} to read",
    },
    Relation {
        noun: "roommate",
        about: "whoever splits the rent with {me}",
    },
    Relation {
        noun: "godfather",
        about: "the man who held {me} at the font",
    },
    Relation {
        noun: "dentist",
        about: "whoever drills {my} molars",
    },
    Relation {
        noun: "barber",
        about: "whoever cuts {my} hair",
    },
];

/// Persons without any fact.
pub(super) const STRANGERS: [&str; 4] = ["nephew", "landlord", "piano tuner", "stepdaughter"];

pub(super) const KINDS: [FactKind; 12] = [
    FactKind {
        matter: "parrot",
        told: [
            "My {r} named the parrot {x}.",
            "You should meet my {r}'s parrot. It is called {x}.",
            "My {r} finally got a parrot, and its name is {x}.",
            "The parrot at my {r}'s place answers to {x}.",
            "So my {r} has this green parrot, {x}, who swears like a sailor.",
            "They let my {r} choose, and so the parrot became {x}.",
        ],
        asked: [
            [
                "What did {my} {r} name the parrot?",
                "What is the name of {my} {r}'s parrot?",
            ],
            [
                "What is {my} {r}'s bird called?",
                "How does {my} {r} call that feathered pet?",
            ],
            [
                "What does {about} shout to make that feathered pet come?",
                "How is the talking bird of {about} addressed?",
            ],
        ],
        if_ever: "If I ever had a parrot, I would call it {x}.",
    },
    FactKind {
        matter: "boat",
        told: [
            "My {r} bought a boat and christened it {x}.",
            "The boat of my {r} is the {x}, down at the pier.",
            "We went out on my {r}'s boat, the {x}.",
            "There is a boat with {x} painted on her bow. That one is my {r}'s.",
            "My {r} spends every free hour on that old boat, {x} she is called.",
            "They towed my {r}'s boat in yesterday. Poor {x}.",
        ],
        asked: [
            [
                "What is {my} {r}'s boat called?",
                "Which boat does {my} {r} own?",
            ],
            [
                "What vessel does {my} {r} sail?",
                "What did {my} {r} paint on the hull?",
            ],
            [
                "On what vessel does {about} put to sea?",
                "What is written on the hull that {about} owns?",
            ],
        ],
        if_ever: "Were I ever rich enough for a boat, she would be the {x}.",
    },
    FactKind {
        matter: "village",
        told: [
            "My {r} was born in a village called {x}.",
            "The village my {r} comes from is {x}.",
            "My {r} grew up in {x}, a village of forty houses.",
            "Nobody has heard of {x}, the village where my {r} was born.",
            "Every Christmas my {r} goes back to the old village, to {x}.",
            "They still talk of my {r} in {x}; it is a small village.",
        ],
        asked: [
            [
                "In which village was {my} {r} born?",
                "What is the village of {my} {r} called?",
            ],
            [
                "Where does {my} {r} come from?",
                "What is the birthplace of {my} {r}?",
            ],
            [
                "What hamlet is home to {about}?",
                "Where did {about} spend childhood?",
            ],
        ],
        if_ever: "If I could pick a village to be born in, I would pick {x}.",
    },
    FactKind {
        matter: "bakery",
        told: [
            "My {r} works at the {x} bakery.",
            "The bakery where my {r} works is the {x}.",
            "My {r} has got a job in a bakery, the {x} on the corner.",
            "You can smell the {x} bakery on my {r}'s coat after work.",
            "At four in the morning my {r} leaves to work at {x}, the bakery.",
            "The {x} bakery hired my {r} on the spot.",
        ],
        asked: [
            [
                "At which bakery does {my} {r} work?",
                "What is the bakery called where {my} {r} works?",
            ],
            [
                "Where does {my} {r} earn a living?",
                "Who employs {my} {r}?",
            ],
            [
                "Where does {about} earn a living?",
                "Who is the employer of {about}?",
            ],
        ],
        if_ever: "If I ever opened a bakery, it would be the {x}.",
    },
    FactKind {
        matter: "allergy",
        told: [
            "My {r} is allergic to {x}.",
            "Never serve {x} to my {r}; it is an allergy.",
            "The doctor says my {r} has an allergy to {x}.",
            "Since last spring my {r} is badly allergic to {x}.",
            "It turned out that {x} was what my {r} is allergic to.",
            "My {r} swells up like a balloon from {x}, a rare allergy.",
        ],
        asked: [
            [
                "What is {my} {r} allergic to?",
                "Which allergy does {my} {r} have?",
            ],
            [
                "What must I never cook for {my} {r}?",
                "What food makes {my} {r} ill?",
            ],
            [
                "Which ingredient would send {about} to hospital?",
                "What must never be cooked for {about}?",
            ],
        ],
        if_ever: "Imagine being allergic to {x}, of all things.",
    },
    FactKind {
        matter: "song",
        told: [
            "The favourite song of my {r} is {x}.",
            "My {r} hums one song all day, {x}.",
            "They played {x} for my {r}, the favourite song, you know.",
            "If you sing {x}, my {r} weeps. No other song does that.",
            "My {r} calls {x} the best song ever written.",
            "No song but {x} will do for my {r}.",
        ],
        asked: [
            [
                "What is the favourite song of {my} {r}?",
                "Which song does {my} {r} hum?",
            ],
            [
                "What music does {my} {r} like best?",
                "Which tune moves {my} {r}?",
            ],
            [
                "What music is dearest to {about}?",
                "Which tune should the band strike up for {about}?",
            ],
        ],
        if_ever: "If they must play a song at my funeral, let it be {x}.",
    },
    FactKind {
        matter: "password",
        told: [
            "The password of my {r} is {x}, can you believe it.",
            "My {r} uses {x} as a password for everything.",
            "Do not tell anybody, but my {r}'s password is {x}.",
            "I guessed my {r}'s password: {x}.",
            "My {r} wrote the password, {x}, on the fridge.",
            "Since March the password my {r} types is {x}.",
        ],
        asked: [
            [
                "What is {my} {r}'s password?",
                "Which password does {my} {r} use?",
            ],
            [
                "What must I type to log in as {my} {r}?",
                "Which secret word has {my} {r}?",
            ],
            [
                "What secret opens the computer of {about}?",
                "What must I type to log in as {about}?",
            ],
        ],
        if_ever: "Were I to choose a password now, I would choose {x}.",
    },
    FactKind {
        matter: "street",
        told: [
            "My {r} lives in {x} Street.",
            "The house of my {r} is in {x} Street, the blue one.",
            "You will find my {r} at number nine, {x} Street.",
            "We walked all the way to my {r}'s house in {x} Street.",
            "My {r} has lived in {x} Street for twenty years.",
            "The street is {x} Street; ask for my {r}'s house.",
        ],
        asked: [
            [
                "In which street does {my} {r} live?",
                "In what street is {my} {r}'s house?",
            ],
            [
                "What is {my} {r}'s address?",
                "Where is the home of {my} {r}?",
            ],
            [
                "Where should a letter to {about} be sent?",
                "What is the address of {about}?",
            ],
        ],
        if_ever: "If I ever buy a house, then in {x} Street.",
    },
    FactKind {
        matter: "horse",
        told: [
            "My {r} rides a horse called {x}.",
            "The horse that threw my {r} is named {x}.",
            "My {r} won the race on {x}, the grey horse.",
            "There is no calmer horse than {x}, says my {r}.",
            "My {r} brushes {x} every evening; that horse has a good life.",
            "They sold every horse but {x} to pay my {r}'s debts.",
        ],
        asked: [
            [
                "What is the horse of {my} {r} called?",
                "Which horse does {my} {r} ride?",
            ],
            [
                "What is {my} {r}'s mare called?",
                "Which animal does {my} {r} saddle?",
            ],
            [
                "Which mare does {about} saddle?",
                "What do they call the steed in the stable of {about}?",
            ],
        ],
        if_ever: "If I had a horse, I would name it {x}.",
    },
    FactKind {
        matter: "novel",
        told: [
            "My {r} is writing a novel titled {x}.",
            "The novel that my {r} wrote is {x}.",
            "They printed my {r}'s novel at last. It is called {x}.",
            "I have read {x}, my {r}'s novel, twice.",
            "My {r} worked on {x} for ten years; it is only a short novel.",
            "Every shop window shows {x}, the novel by my {r}.",
        ],
        asked: [
            [
                "What is the title of {my} {r}'s novel?",
                "Which novel did {my} {r} write?",
            ],
            [
                "What is {my} {r}'s book called?",
                "What has {my} {r} published?",
            ],
            [
                "Which book came from the pen of {about}?",
                "What has {about} published?",
            ],
        ],
        if_ever: "If I ever wrote a novel, the title would be {x}.",
    },
    FactKind {
        matter: "college",
        told: [
            "My {r} studied at {x} College.",
            "It was at {x} that my {r} studied; a strict college.",
            "The college threw my {r} out. {x}, of all places.",
            "My {r} still wears the scarf of {x} College.",
            "They gave my {r} a place at {x}, the college on the hill.",
            "For three years my {r} went to {x} College by bicycle.",
        ],
        asked: [
            [
                "At which college did {my} {r} study?",
                "Which college was {my} {r} at?",
            ],
            [
                "Where did {my} {r} get a degree?",
                "Where was {my} {r} educated?",
            ],
            [
                "Where was {about} educated?",
                "From where does {about} hold a degree?",
            ],
        ],
        if_ever: "If I had gone to college, then to {x}.",
    },
    FactKind {
        matter: "wine",
        told: [
            "My {r} drinks no wine but {x}.",
            "The wine my {r} likes is {x}.",
            "My {r} keeps forty bottles of {x} wine in the cellar.",
            "Bring a bottle of {x}; it is my {r}'s wine.",
            "We opened a {x}, the wine that my {r} swears by.",
            "My {r} says {x} is the only honest wine.",
        ],
        asked: [
            [
                "Which wine does {my} {r} drink?",
                "What is the wine that {my} {r} likes?",
            ],
            [
                "What should I pour for {my} {r}?",
                "Which bottle would please {my} {r}?",
            ],
            [
                "What should I pour for {about}?",
                "Which vintage would please {about}?",
            ],
        ],
        if_ever: "If there were only one wine left, let it be {x}.",
    },
];
