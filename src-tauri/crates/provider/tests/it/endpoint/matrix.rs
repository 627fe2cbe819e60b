//! Fault table: each fault with the visible result and the number of requests.

use super::support::*;

struct Case {
    name: &'static str,
    plays: Vec<Play>,
    /// In the notation of [`Seen`].
    line: &'static str,
    requests: usize,
}

fn case(name: &'static str, plays: Vec<Play>, line: &'static str, requests: usize) -> Case {
    Case {
        name,
        plays,
        line,
        requests,
    }
}

async fn check(cases: Vec<Case>) {
    for Case {
        name,
        plays,
        line,
        requests,
    } in cases
    {
        let (seen, made) = run(plays).await;
        assert_eq!(
            (seen.line.as_str(), made),
            (line, requests),
            "{name}: {:?}",
            seen.error
        );
    }
}

fn refusal(status: &str, message: &str) -> Play {
    let body = serde_json::json!({"error": {"message": message, "type": "error"}}).to_string();
    answer(status, "Content-Type: application/json\r\n", &body)
}

fn thrice(play: &Play) -> Vec<Play> {
    vec![play.clone(); 3]
}

#[tokio::test]
async fn transient_failures_are_tried_three_times() {
    let mut cases = Vec::new();
    for (status, ending) in [
        ("408 Request Timeout", "~~[Timeout]"),
        ("409 Conflict", "~~[Server]"),
        ("429 Too Many Requests", "~~[RateLimited]"),
        ("500 Internal Server Error", "~~[Server]"),
        ("502 Bad Gateway", "~~[Server]"),
        ("503 Service Unavailable", "~~[Server]"),
        ("504 Gateway Timeout", "~~[Timeout]"),
        ("529 Overloaded", "~~[Server]"),
    ] {
        cases.push(case(status, thrice(&refusal(status, "not now")), ending, 3));
    }
    let page = answer("502 Bad Gateway", "", "<html><title>nginx</title></html>");
    cases.push(case("a proxy's own page", thrice(&page), "~~[Server]", 3));
    cases.push(case("closed without a word", thrice(&vec![]), "~~[Cut]", 3));
    cases.push(case(
        "reset without a word",
        thrice(&vec![Step::Reset]),
        "~~[Cut]",
        3,
    ));
    cases.push(case("an empty stream", thrice(&stream("")), "~~[Cut]", 3));
    cases.push(case(
        "cut inside the head",
        thrice(&vec![Step::Bytes(b"HTTP/1.1 200 O".to_vec())]),
        "~~[Cut]",
        3,
    ));
    let busy = stream("data: {\"error\":{\"code\":503,\"message\":\"busy\"}}\n\n");
    cases.push(case(
        "busy, said inside a stream",
        thrice(&busy),
        "~~[Server]",
        3,
    ));
    check(cases).await;
}

#[tokio::test]
async fn success_after_a_failure_is_sent_once() {
    let broken = refusal("503 Service Unavailable", "loading model");
    let at_once = answer("429 Too Many Requests", "Retry-After: 0\r\n", "{}");
    let soon = answer("429 Too Many Requests", "Retry-After-Ms: 5\r\n", "{}");
    let past = answer(
        "503 Service Unavailable",
        "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
        "{}",
    );
    let silent_role =
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n";
    check(vec![
        case(
            "after one failure",
            vec![broken.clone(), healthy()],
            "~Hello there.[Stop]",
            2,
        ),
        case(
            "after two failures",
            vec![broken.clone(), broken, healthy()],
            "~~Hello there.[Stop]",
            3,
        ),
        case(
            "after a reset",
            vec![vec![Step::Reset], healthy()],
            "~Hello there.[Stop]",
            2,
        ),
        case(
            "after Retry-After: 0",
            vec![at_once, healthy()],
            "~Hello there.[Stop]",
            2,
        ),
        case(
            "after Retry-After-Ms",
            vec![soon, healthy()],
            "~Hello there.[Stop]",
            2,
        ),
        case(
            "after a date that is over",
            vec![past, healthy()],
            "~Hello there.[Stop]",
            2,
        ),
        case(
            "after a cut before the first text",
            vec![stream(silent_role), healthy()],
            "~Hello there.[Stop]",
            2,
        ),
    ])
    .await;
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    let mut cases = Vec::new();
    for (status, message, ending) in [
        (
            "400 Bad Request",
            "messages must not be empty",
            "[BadRequest]",
        ),
        (
            "400 Bad Request",
            "This model's maximum context length is 4096 tokens.",
            "[ContextOverflow]",
        ),
        (
            "400 Bad Request",
            "The plain HTTP request was sent to HTTPS port",
            "[Tls]",
        ),
        (
            "401 Unauthorized",
            "Incorrect API key provided: sk-lamplighter-4711.",
            "[Unauthorized]",
        ),
        ("402 Payment Required", "no credit", "[RateLimited]"),
        (
            "403 Forbidden",
            "not for you, sk-lamplighter-4711",
            "[Unauthorized]",
        ),
        ("404 Not Found", "File Not Found", "[NotFound]"),
        (
            "404 Not Found",
            "The model `tiny` does not exist",
            "[NotFound]",
        ),
        ("405 Method Not Allowed", "", "[NotFound]"),
        ("413 Payload Too Large", "", "[ContextOverflow]"),
        ("418 I'm a teapot", "", "[BadRequest]"),
        ("422 Unprocessable Entity", "Field required", "[BadRequest]"),
        (
            "500 Internal Server Error",
            "Context size has been exceeded.",
            "[ContextOverflow]",
        ),
        ("501 Not Implemented", "", "[Server]"),
    ] {
        cases.push(case(status, vec![refusal(status, message)], ending, 1));
    }
    let elsewhere = answer(
        "307 Temporary Redirect",
        "Location: http://127.0.0.1:1/v1/chat?k=sk-lamplighter-4711\r\n",
        "",
    );
    cases.push(case("a redirect", vec![elsewhere], "[NotFound]", 1));
    let later = answer("429 Too Many Requests", "Retry-After: 3600\r\n", "{}");
    cases.push(case("a pause of an hour", vec![later], "[RateLimited]", 1));
    let empty =
        r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota."}}"#;
    cases.push(case(
        "an empty account",
        vec![answer("429 Too Many Requests", "", empty)],
        "[RateLimited]",
        1,
    ));
    let azure =
        r#"{"error":{"code":"content_filter","message":"The prompt was filtered.","status":400}}"#;
    cases.push(case(
        "a filtered prompt",
        vec![answer("400 Bad Request", "", azure)],
        "[Filtered]",
        1,
    ));
    check(cases).await;
}

#[tokio::test]
async fn no_retry_after_the_first_text() {
    let cut = stream(says("Hello "));
    let reset = [stream(says("Hello ")), vec![Step::Reset]].concat();
    let promised = answer("200 OK", "", &says("Hello ")).into_iter().next();
    let Some(Step::Bytes(mut promised)) = promised else {
        panic!("an answer begins with bytes")
    };
    promised.truncate(promised.len() - 1);
    check(vec![
        case("cut", vec![cut], "Hello [Cut]", 1),
        case(
            "body shorter than promised",
            vec![vec![Step::Bytes(promised)]],
            "Hello [Cut]",
            1,
        ),
        case("reset", vec![reset], "Hello [Cut]", 1),
        case(
            "an error in the stream",
            vec![stream(
                says("Hello ") + "data: {\"error\":{\"code\":503,\"message\":\"overloaded\"}}\n\n",
            )],
            "Hello [Server]",
            1,
        ),
        case(
            "an error field",
            vec![stream(
                says("Hello ") + "error: {\"code\":500,\"message\":\"slot\"}\n\n",
            )],
            "Hello [Server]",
            1,
        ),
        case(
            "no JSON",
            vec![stream(says("Hello ") + "data: {oops}\n\n")],
            "Hello [Malformed]",
            1,
        ),
        case(
            "JSON of another shape",
            vec![stream(says("Hello ") + "data: {\"choices\":{}}\n\n")],
            "Hello [Malformed]",
            1,
        ),
        case(
            "the filter",
            vec![stream(says("Hello ") + &ends("content_filter"))],
            "Hello [Filtered]",
            1,
        ),
        case(
            "broken off",
            vec![stream(says("Hello ") + &ends("error"))],
            "Hello [Server]",
            1,
        ),
    ])
    .await;
}

#[tokio::test]
async fn reads_odd_streams() {
    let text = says("Hello ") + &says("there.");
    let crlf = (text.clone() + &ends("stop") + DONE).replace('\n', "\r\n");
    let mixed = text.clone().replacen("\n\n", "\r\r", 1)
        + ": ping\n\n"
        + &ends("stop").replace('\n', "\r\n")
        + DONE;
    let emoji = says("🔥é").replace("🔥é", "\\ud83d\\udd25é");
    let thinking = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm.\"}}]}\n\n";
    let chunked = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    let framed = format!(
        "{chunked}{:x}\r\n{text}\r\n{:x}\r\n{DONE}\r\n0\r\n\r\n",
        text.len(),
        DONE.len()
    );
    let progress =
        "data: {\"choices\":[],\"prompt_progress\":{\"total\":9,\"cache\":2,\"processed\":5}}\n\n";
    check(vec![
        case("CRLF", vec![stream(crlf)], "Hello there.[Stop]", 1),
        case(
            "mixed line ends and comments",
            vec![stream(mixed)],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "a byte order mark",
            vec![stream(format!("\u{FEFF}{text}{DONE}"))],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "blank lines first",
            vec![stream(format!("\n\n\n{text}{DONE}"))],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "no [DONE]",
            vec![stream(text.clone() + &ends("stop"))],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "no finish reason",
            vec![stream(text.clone() + DONE)],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "no blank line at the end",
            vec![stream(text.clone() + ends("length").trim_end())],
            "Hello there.[Length]",
            1,
        ),
        case(
            "reset behind the end",
            vec![[stream(text.clone() + &ends("stop")), vec![Step::Reset]].concat()],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "an error behind the end",
            vec![stream(
                text.clone() + &ends("stop") + "data: {\"error\":\"x\"}\n\n",
            )],
            "Hello there.[Server]",
            1,
        ),
        case(
            "max_tokens",
            vec![stream(text.clone() + &ends("length") + DONE)],
            "Hello there.[Length]",
            1,
        ),
        case(
            "an unknown reason",
            vec![stream(text.clone() + &ends("eos") + DONE)],
            "Hello there.[Stop]",
            1,
        ),
        case("escapes", vec![stream(emoji + DONE)], "🔥é[Stop]", 1),
        case(
            "no reason that is known, and no end",
            vec![stream(text.clone() + &ends("quokka"))],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "thoughts",
            vec![stream(thinking.to_owned() + &text + DONE)],
            "(Hm.)Hello there.[Stop]",
            1,
        ),
        case(
            "chunked",
            vec![vec![Step::Bytes(framed.into_bytes())]],
            "Hello there.[Stop]",
            1,
        ),
        case(
            "progress",
            vec![stream(progress.to_owned() + &text + DONE)],
            "<5/9 2>Hello there.[Stop]",
            1,
        ),
        case(
            "nothing to say",
            vec![stream(ends("stop") + DONE)],
            "[Stop]",
            1,
        ),
    ])
    .await;
}

#[tokio::test]
async fn explains_responses_that_are_not_streams() {
    let reply = r#"{"choices":[{"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}]}"#;
    let json = |body: &str| answer("200 OK", "Content-Type: application/json\r\n", body);
    let huge = stream([b"data: ".as_slice(), &vec![b'x'; 33 << 20]].concat());
    let huge_later = stream([says("Hello ").as_bytes(), b"data: ", &vec![b'x'; 33 << 20]].concat());
    check(vec![
        case(
            "a server that does not stream",
            vec![json(reply)],
            "Hello.[Stop]",
            1,
        ),
        case(
            "a web page",
            vec![answer(
                "200 OK",
                "Content-Type: text/html\r\n",
                "<!DOCTYPE html><p>Hi",
            )],
            "[NotFound]",
            1,
        ),
        case(
            "a page called a stream",
            vec![stream("\n <html>")],
            "[NotFound]",
            1,
        ),
        case(
            "an error with 200",
            vec![json(r#"{"error":{"message":"bad","code":400}}"#)],
            "[BadRequest]",
            1,
        ),
        case(
            "another API",
            vec![json(r#"{"response":"Hello."}"#)],
            "[Malformed]",
            1,
        ),
        case(
            "another API's stream",
            vec![stream("{\"response\":\"He\"}\n{\"response\":\"llo\"}\n")],
            "[Malformed]",
            1,
        ),
        case(
            "half an answer",
            thrice(&stream(&reply[..40])),
            "~~[Cut]",
            3,
        ),
        case(
            "Ollama's own API",
            vec![json(
                r#"{"message":{"role":"assistant","content":"Hi."},"done":true}"#,
            )],
            "[Malformed]",
            1,
        ),
        case(
            "an error without a code",
            vec![stream("data: {\"error\":\"oops\"}\n\n")],
            "[Server]",
            1,
        ),
        case("a list", vec![json("[1, 2]")], "[Malformed]", 1),
        case(
            "deep nesting",
            vec![json(&"[".repeat(100_000))],
            "[Malformed]",
            1,
        ),
        case("prose", thrice(&stream("It works!\n\n")), "~~[Cut]", 3),
        case("a line without end", vec![huge], "[Malformed]", 1),
        case(
            "a line without end after text",
            vec![huge_later],
            "Hello [Malformed]",
            1,
        ),
        case(
            "204",
            thrice(&answer("204 No Content", "", "")),
            "~~[Cut]",
            3,
        ),
    ])
    .await;
}

#[tokio::test]
async fn errors_say_cause_place_and_remedy() {
    let overflow = r#"{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_prompt_tokens":3031,"n_ctx":1024}}"#;
    let (seen, _) = run(vec![answer("400 Bad Request", "", overflow)]).await;
    assert_eq!(
        seen.error.unwrap().message,
        "the prompt needs 3031 tokens, but the model allows 1024"
    );

    let echo = refusal(
        "401 Unauthorized",
        "Incorrect API key provided: sk-lamplighter-4711.",
    );
    let (seen, _) = run(vec![echo]).await;
    let error = seen.error.unwrap();
    assert!(
        error.message.contains("Incorrect API key provided: [key]."),
        "{error}"
    );
    assert_eq!(error.status, Some(401));

    let server = FaultServer::start(vec![refusal("404 Not Found", "Not Found")]).await;
    let bare = format!("http://127.0.0.1:{}", server.port);
    let error = watch(start(&bare, timeouts())).await.error.unwrap();
    assert!(error.hint.contains(&format!("{bare}/v1")), "{}", error.hint);

    let (seen, _) = run(vec![refusal("400 Bad Request", &"long ".repeat(100_000))]).await;
    assert!(seen.error.unwrap().message.len() < 400);

    let later = answer("429 Too Many Requests", "Retry-After: 3600\r\n", "{}");
    assert_eq!(
        run(vec![later]).await.0.error.unwrap().hint,
        "Try again in 60 minutes."
    );
}
