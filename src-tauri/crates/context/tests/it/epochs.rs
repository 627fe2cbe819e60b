//! Tests of what ends an epoch: everything that changes the bytes of an unchanged chat, and nothing
//! else.

use super::support::*;
use context::{
    Assembled, ChatTemplate, EpochReason, Frame, Placement, Retention, Setup, assemble,
    chat_template,
};
use domain::chat::{Role, WindowState};
use domain::prompt::PromptRole;

const DATED: &str = "{{ bos_token }}Today is {{ strftime_now('%d %B %Y') }}.\n\
                     {% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}<assistant>";

/// Two sent exchanges and a question.
fn asked() -> (Frame, WindowState) {
    let mut frame = frame(chat(3, 4), "A keeper.", "Like this.");
    let sent = first(&frame, 900).unwrap();
    store(&mut frame.history, &sent);
    frame.history.extend([
        said(8, Role::Character, "Yes."),
        said(9, Role::User, "And now?"),
    ]);
    (frame, sent.window)
}

fn next(frame: &Frame, state: &WindowState, change: impl FnOnce(&mut Setup<'_>)) -> Assembled {
    let template = ChatTemplate::chatml();
    let mut setup = Setup::new(Some(&template), "model", budget(900));
    change(&mut setup);
    assemble(frame, &setup, state, &Words).unwrap()
}

fn dated(bos: &str, day: i8) -> ChatTemplate {
    ChatTemplate::parse(
        DATED,
        bos,
        "</s>",
        jiff::civil::date(2026, 11, day).at(9, 30, 0, 0),
    )
    .unwrap()
}

#[test]
fn unchanged_prompt_continues_the_epoch() {
    let (frame, state) = asked();
    assert_eq!(next(&frame, &state, |_| {}).new_epoch, None);
}

#[test]
fn new_layout_begins_epoch_but_keeps_anchor() {
    let (frame, state) = asked();
    let zephyr = chat_template::format("zephyr")
        .unwrap()
        .template("", "</s>", jiff::civil::DateTime::default())
        .unwrap();
    let why = |change: fn(&mut Setup<'_>)| next(&frame, &state, change).new_epoch;
    assert_eq!(
        why(|setup| setup.placement = Placement::Classic),
        Some(EpochReason::Layout)
    );
    assert_eq!(
        why(|setup| setup.retention = Retention::Ephemeral),
        Some(EpochReason::Layout)
    );
    assert_eq!(
        why(|setup| setup.template = None),
        Some(EpochReason::Layout)
    );
    assert_eq!(
        why(|setup| setup.model = "another"),
        Some(EpochReason::Model)
    );
    assert_eq!(
        why(|setup| setup.budget.limit += 1),
        Some(EpochReason::Model)
    );

    let template = ChatTemplate::chatml();
    let setup = Setup {
        template: Some(&zephyr),
        ..Setup::new(Some(&template), "model", budget(900))
    };
    let other = assemble(&frame, &setup, &state, &Words).unwrap();
    assert_eq!(
        (other.new_epoch, other.window.anchor),
        (Some(EpochReason::Layout), state.anchor)
    );
    let again = assemble(&frame, &setup, &other.window, &Words).unwrap();
    assert_eq!((again.new_epoch, text(&again)), (None, text(&other)));
}

/// A template that contains the date changes from day to day; other templates do not.
#[test]
fn new_day_begins_epoch_only_for_dated_template() {
    let (frame, _) = asked();
    let with = |template: &ChatTemplate, state: &WindowState| {
        assemble(
            &frame,
            &Setup::new(Some(template), "model", budget(900)),
            state,
            &Words,
        )
        .unwrap()
    };
    let today = dated("", 21);
    assert!(
        today.tells_time()
            && text(&with(&today, &WindowState::default()))
                .starts_with("Today is 21 November 2026.")
    );
    let state = with(&today, &WindowState::default()).window;
    assert_eq!(with(&dated("", 21), &state).new_epoch, None);
    assert_eq!(
        with(
            &today.at(jiff::civil::date(2026, 11, 22).at(0, 0, 0, 0)),
            &state
        )
        .new_epoch,
        Some(EpochReason::Layout)
    );

    let chatml = ChatTemplate::chatml();
    let state = with(&chatml, &WindowState::default()).window;
    let tomorrow = chatml.at(jiff::civil::date(2026, 11, 22).at(0, 0, 0, 0));
    assert_eq!(
        (chatml.tells_time(), with(&tomorrow, &state).new_epoch),
        (false, None)
    );
}

#[test]
fn changed_head_begins_an_epoch() {
    let (mut frame, state) = asked();
    frame.head[2].role = PromptRole::User;
    assert_eq!(
        next(&frame, &state, |_| {}).new_epoch,
        Some(EpochReason::Head)
    );
    frame.head[2].role = PromptRole::System;
    frame.head[1].text.push('!');
    assert_eq!(
        next(&frame, &state, |_| {}).new_epoch,
        Some(EpochReason::Head)
    );
}

/// The begin token is a segment like any other and is written once.
#[test]
fn begin_token_is_counted_and_written_once() {
    let (frame, _) = asked();
    let with = |template: &ChatTemplate| {
        assemble(
            &frame,
            &Setup::new(Some(template), "model", budget(900)),
            &WindowState::default(),
            &Words,
        )
        .unwrap()
    };
    let unwritten = chat_template::format("alpaca").unwrap();
    let plain = unwritten
        .template("<s>", "</s>", jiff::civil::DateTime::default())
        .unwrap();
    let (bare, led) = (with(&plain), with(&plain.clone().leading_with_bos()));
    assert_eq!(
        (led.total, text(&led)),
        (bare.total + 1, format!("<s>{}", text(&bare)))
    );
    assert!(led.prompt.segments[0].control && led.prompt.segments[0].text == "<s>");
    assert_ne!(
        plain.fingerprint(),
        plain.clone().leading_with_bos().fingerprint()
    );

    let written = dated("<s>", 21);
    assert_eq!(
        text(&with(&written)),
        text(&with(&written.clone().leading_with_bos()))
    );
    let none = unwritten
        .template("", "</s>", jiff::civil::DateTime::default())
        .unwrap()
        .leading_with_bos();
    assert_eq!(text(&with(&none)), text(&bare));
}

#[test]
fn ignores_blank_and_excess_stop_strings() {
    let flood: Vec<String> = (0..500).map(|number| format!("stop {number}")).collect();
    let known = ChatTemplate::chatml().stop_strings().len();
    let more = ChatTemplate::chatml().with_stops(["###", " ", "", "###", "<|im_end|>"]);
    assert_eq!(
        (
            more.stop_strings().len(),
            more.stop_strings().last().unwrap().as_str()
        ),
        (known + 1, "###")
    );
    assert!(
        ChatTemplate::chatml()
            .with_stops(flood.iter().map(String::as_str))
            .stop_strings()
            .len()
            < 40
    );
}
