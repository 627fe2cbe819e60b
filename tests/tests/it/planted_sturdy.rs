//! Robustness of memory: interrupted, rebuilt and repeated runs.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::scenario::{Pair, Probe, Probed, Say, Step, Timed, Turn};
use rusqlite::{Connection, OpenFlags};
use tests::headless::program;
use tests::planted::{StoryPlan, StorySize, answers};

/// Asks one in this many probes.
const ONE_IN: usize = 4;
const SMALL: StorySize = StorySize {
    messages: 400,
    facts: 3,
    swept: 0,
    each: 1,
};

/// Returns all answers without their times.
async fn played(dir: &Path, steps: Vec<Timed>) -> Vec<Probed> {
    let answers = answers(dir, None, steps).await.unwrap();
    answers
        .into_iter()
        .map(|answer| Probed {
            milliseconds: 0.0,
            ..answer
        })
        .collect()
}

/// Returns the steps of a small plan with some of its probes; every message has an id.
fn story(seed: u64) -> Vec<Timed> {
    let (mut probes, mut named) = (0_usize, 0);
    let mut kept = |timed: &Timed| {
        let asks = matches!(timed.step, Step::Probe(_));
        probes += usize::from(asks);
        !asks || probes.is_multiple_of(ONE_IN)
    };
    let mut steps: Vec<Timed> = StoryPlan::new(SMALL, seed)
        .steps
        .into_iter()
        .filter(|timed| kept(timed))
        .collect();
    for timed in &mut steps {
        let (Step::Say(Say { id, .. }) | Step::Turn(Turn { id, .. })) = &mut timed.step else {
            continue;
        };
        id.get_or_insert_with(|| format!("m{named}"));
        named += 1;
    }
    steps
}

fn database(dir: &Path) -> Connection {
    tests::open_database(dir)
}

#[tokio::test(flavor = "multi_thread")]
async fn reopening_the_app_gives_the_same_bytes() {
    let steps = story(11);
    let [one, other, reopened] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let first = played(one.path(), steps.clone()).await;
    assert!(
        first.iter().any(|answer| !answer.memory.is_empty())
            && first.iter().all(|answer| answer.prompt.is_some())
    );
    assert_eq!(first, played(other.path(), steps.clone()).await);
    let reopen = || Timed {
        time: None,
        step: Step::Reopen,
    };
    let cut = steps
        .chunks(100)
        .flat_map(|part| part.iter().cloned().chain([reopen()]))
        .collect();
    assert_eq!(first, played(reopened.path(), cut).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuilt_index_finds_the_same() {
    let (steps, dir) = (story(12), tempfile::tempdir().unwrap());
    answers(dir.path(), None, steps.clone()).await.unwrap();
    let asks = |timed: &Timed| matches!(timed.step, Step::Pair(_) | Step::Probe(_));
    let questions: Vec<Timed> = steps.into_iter().filter(asks).collect();
    let before = played(dir.path(), questions.clone()).await;
    let rebuild = "INSERT INTO memory_words (memory_words) VALUES ('rebuild');";
    database(dir.path()).execute_batch(rebuild).unwrap();
    assert_eq!(before, played(dir.path(), questions).await);
}

/// Kills the app while thousands of messages are imported. The stored ones must be complete and
/// searchable.
#[tokio::test(flavor = "multi_thread")]
async fn kill_during_indexing_keeps_messages_complete() {
    let dir = tempfile::tempdir().unwrap();
    let plan = StoryPlan::new(
        StorySize {
            messages: 20_000,
            ..SMALL
        },
        13,
    );
    let told = |timed: &&Timed| matches!(timed.step, Step::Pair(_) | Step::Say(_));
    let lines: Vec<String> = plan
        .steps
        .iter()
        .filter(told)
        .map(|step| serde_json::to_string(step).unwrap())
        .collect();
    let (data, file) = (dir.path().join("data"), dir.path().join("story.jsonl"));
    std::fs::write(&file, lines.join("\n")).unwrap();
    let scenario = ["memory", "scenario"];
    let mut child = Command::new(program("nook"))
        .args(scenario)
        .arg(&file)
        .arg("--data-dir")
        .arg(&data)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_messages(&data, &mut child).await;
    child.kill().unwrap();
    child.wait().unwrap();

    let answer = played(&data, first_question(&plan)).await;
    assert!(answer[0].window > 0, "{answer:?}");
    let conn = database(&data);
    let counted = "SELECT count(*) FROM text_group WHERE texts <> (SELECT count(*) FROM message_text WHERE message_text.chat = text_group.chat)";
    assert_eq!(
        conn.query_row(counted, [], |row| row.get::<_, u32>(0))
            .unwrap(),
        0
    );
    let count = |table| -> u32 {
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
            row.get(0)
        })
        .unwrap()
    };
    let kept = count("message_shown");
    assert_eq!(kept, count("message_text"));
    assert!(
        (1_000..lines.len() as u32).contains(&kept),
        "{kept} are stored: the import was not interrupted"
    );
}

/// Returns a question for the first pair's main chat.
fn first_question(plan: &StoryPlan) -> Vec<Timed> {
    let pairs = plan.steps.iter().find_map(|timed| match &timed.step {
        Step::Pair(pair) => Some(pair.clone()),
        _ => None,
    });
    let pair: Pair = pairs.unwrap();
    let (of, chat) = (pair.pair.clone(), "main".to_owned());
    let text = "What did my sister name the parrot?".to_owned();
    let probe = Probe {
        id: "q".into(),
        pair: of,
        chat,
        text,
        budget: None,
        whole: false,
    };
    [Step::Pair(pair), Step::Probe(probe)]
        .map(|step| Timed { time: None, step })
        .to_vec()
}

/// Waits until some messages are stored.
async fn wait_for_messages(data: &Path, child: &mut Child) {
    let mut tick = tokio::time::interval(Duration::from_millis(2));
    loop {
        tick.tick().await;
        assert!(
            child.try_wait().unwrap().is_none(),
            "the process ended before it could be killed"
        );
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let Ok(conn) = Connection::open_with_flags(data.join("inglenook.db"), flags) else {
            continue;
        };
        let count = conn.query_row("SELECT count(*) FROM message", [], |row| {
            row.get::<_, u32>(0)
        });
        if count.is_ok_and(|count| count > 1_000) {
            return;
        }
    }
}
