//! Model calls of a real client through the gateway: recorded, replayed, matched, missed.

use serde_json::{Value, json};
use trajectly_tests::{Answer, Binary, Output, Project, Provider, Run};

/// A project with one spec, whose command is [`openai_client`](../src/bin/openai_client.rs) doing one thing.
struct Agent {
    project: Project,
    spec: String,
}

impl Agent {
    fn new(scenario: &str) -> Self {
        let agent = Self { project: Project::new(), spec: format!("commands/{scenario}.agent.yaml") };
        agent.set_spec("");
        agent
    }

    /// Writes the spec, with these keys more.
    fn set_spec(&self, more: &str) {
        let name = self.name();
        let head = format!("schema_version: \"0.4\"\nname: {name}\ncommand: '\"$CLIENT\" {name}'\n");
        self.project.write(&self.spec, &(head + more));
    }

    fn name(&self) -> &str {
        self.spec.trim_start_matches("commands/").trim_end_matches(".agent.yaml")
    }

    fn run(&self) -> Run {
        let run = self.project.run(Binary::Second).args(["--exact", &self.spec, "--nocapture"]);
        run.env("CLIENT", env!("CARGO_BIN_EXE_openai_client"))
    }

    /// Records against a provider, which is gone afterwards. Returns what the agent said and what the provider got.
    #[track_caller]
    fn record(&self, provider: Provider) -> (Output, usize) {
        let output = self.run().update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
        let requests = provider.requests().len();
        provider.stop();
        (output, requests)
    }

    fn current(&self) -> Vec<Value> {
        self.project.store().events(&format!("current/commands-{}.jsonl", self.name()))
    }

    fn count(&self, event_type: &str) -> usize {
        self.current().iter().filter(|event| event["event_type"] == event_type).count()
    }
}

/// What the agent printed, of all that the harness did.
fn said(output: &Output) -> &str {
    output.stderr.trim()
}

#[test]
fn a_plain_answer_is_replayed() {
    let agent = Agent::new("ask");
    let (recorded, requests) = agent.record(Provider::saying("Blue"));
    assert_eq!((said(&recorded), requests), ("answer: Blue", 1));
    let replayed = agent.run().output().passes();
    assert_eq!(said(&replayed), "answer: Blue");
    let trace = agent.current();
    let called = trace.iter().find(|event| event["event_type"] == "llm_called").expect("the model was called");
    assert_eq!(called["payload"]["provider"], "openai");
    assert_eq!(called["payload"]["model"], "gpt-4o-mini");
    let returned = trace.iter().find(|event| event["event_type"] == "llm_returned").expect("the model answered");
    assert_eq!(returned["payload"]["usage"]["total_tokens"], 25);
    assert_eq!(returned["payload"]["stop_reason"], "stop");
}

#[test]
fn a_stream_is_replayed_piece_by_piece() {
    let agent = Agent::new("stream");
    let pieces = ["Dark", " b", "lue, or", " Häme blue 💙"];
    let (recorded, _) = agent.record(Provider::start(move |_| Answer::streamed(&pieces)));
    assert_eq!(said(&recorded), "[][Dark][ b][lue, or][ Häme blue 💙][] complete");
    let replayed = agent.run().output().passes();
    assert_eq!(said(&replayed), said(&recorded));
}

#[test]
fn a_stream_that_broke_off_breaks_off_again() {
    let agent = Agent::new("stream");
    let (recorded, _) = agent.record(Provider::start(|_| Answer::cut_after(&["Dark", " b"])));
    assert_eq!(said(&recorded), "[][Dark][ b] broken off");
    let replayed = agent.run().output().passes();
    assert_eq!(said(&replayed), said(&recorded));
}

#[test]
fn a_miss_is_one_request_and_shows_the_edit_to_the_prompt() {
    let agent = Agent::new("ask");
    agent.record(Provider::saying("Blue"));
    let output = agent.run().env("PROMPT", "Name a colour.\nUse two words.\nNo full stop.").output().fails();
    output.says(&[
        "FIXTURE_MISSING",
        "$.messages[1].content",
        "- Use one word.",
        "+ Use two words.",
        "  Name a colour.",
    ]);
    assert_eq!(agent.count("llm_called"), 1, "the client does not try again");
}

#[test]
fn a_miss_is_answered_in_the_provider_s_own_shape() {
    let agent = Agent::new("raw");
    agent.record(Provider::saying("Blue"));
    let output = agent.run().env("PROMPT", "Name a fish.").output().fails();
    let lines: Vec<_> = output.stdout.lines().filter_map(|line| line.trim_start().strip_prefix("| ")).collect();
    assert!(lines.iter().any(|line| line.starts_with("HTTP/1.1 400")), "{output}");
    for header in ["x-should-retry: false", "x-trajectly-error: FIXTURE_MISSING"] {
        assert!(lines.iter().any(|line| line.eq_ignore_ascii_case(header)), "no {header}\n{output}");
    }
    let body = lines.iter().find(|line| line.starts_with('{')).expect("there is a body");
    assert!(body.contains(r#""code":"FIXTURE_MISSING""#) && body.contains(r#""message":"#), "{body}");
}

#[test]
fn a_call_more_than_was_recorded_is_told_apart() {
    let agent = Agent::new("ask");
    agent.record(Provider::saying("Blue"));
    agent.set_spec("");
    let spec = agent.project.read(&agent.spec).replace("ask'", "ask && \"$CLIENT\" ask'");
    agent.project.write(&agent.spec, &spec);
    agent.run().output().fails().says(&["FIXTURE_EXHAUSTED", "once more"]);
}

#[test]
fn specs_say_how_a_request_finds_its_answer() {
    let agent = Agent::new("ask");
    agent.record(Provider::saying("Blue"));
    let edited = || agent.run().env("PROMPT", "Name a fish.").output();
    for (more, finds) in [
        ("", false),
        ("fixture_policy: by_index\n", true),
        ("fixture_policy: by_index\nstrict: true\n", false),
        ("replay:\n  llm_match_mode: sequence_match\n", true),
        ("strict: true\nreplay:\n  llm_match_mode: sequence_match\n", true),
    ] {
        agent.set_spec(more);
        agent.run().output().passes();
        match finds {
            true => edited().passes(),
            false => edited().fails().says(&["FIXTURE_MISSING", "$.messages[1].content"]),
        };
    }
}

fn two_tools(request: &trajectly_tests::Request) -> Answer {
    let answered = request.body["messages"].as_array().is_some_and(|messages| messages.len() > 2);
    match answered {
        true => Answer::text("Fine weather at noon."),
        false => Answer::calls(&[
            ("call_a", "weather", json!({ "city": "Oulu" })),
            ("call_b", "clock", json!({ "city": "Oulu" })),
        ]),
    }
}

#[test]
fn tool_results_may_be_handed_in_in_any_order() {
    let agent = Agent::new("tools");
    let (recorded, requests) = agent.record(Provider::start(two_tools));
    assert_eq!((said(&recorded), requests), ("answer: Fine weather at noon.", 2));
    let in_order = agent.run().output().passes();
    let trace = agent.project.store().calls("current/commands-tools.jsonl");
    let reversed = agent.run().env("ORDER", "reversed").output().passes();
    assert_eq!(said(&in_order), said(&reversed));
    assert_eq!(trace, ["weather", "clock"]);
    assert_eq!(agent.project.store().calls("current/commands-tools.jsonl"), trace);
}

#[test]
fn ids_that_the_provider_makes_up_do_not_count() {
    let agent = Agent::new("tools");
    agent.record(Provider::start(two_tools));
    // The same conversation, with other ids: what an edited recording or another provider would hold.
    let fixtures = ".trajectly/fixtures/tools.json";
    let text = agent.project.read(fixtures);
    let (first, second) = text.split_once("\"kind\": \"tool\"").expect("the tools stand between the model calls");
    let renamed = first.replace("call_a", "call_x").replace("call_b", "call_y") + "\"kind\": \"tool\"" + second;
    agent.project.write(fixtures, &renamed);
    agent.run().output().passes();
}

#[test]
fn a_rate_limit_is_replayed_with_the_client_s_retry() {
    let agent = Agent::new("ask");
    let (recorded, requests) = agent.record(Provider::start(|request| match request.index {
        0 => Answer::error(429, "slow down").with_header("retry-after", "0"),
        _ => Answer::text("Blue"),
    }));
    assert_eq!((said(&recorded), requests), ("answer: Blue", 2));
    let replayed = agent.run().output().passes();
    assert_eq!(said(&replayed), "answer: Blue");
    assert_eq!(agent.count("llm_called"), 2);
}

#[test]
fn an_error_of_the_provider_reaches_the_agent_as_it_is() {
    let agent = Agent::new("raw");
    let answer = || Answer::error(500, "the model fell over").with_header("x-request-id", "req_1");
    let (recorded, _) = agent.record(Provider::start(move |_| answer()));
    let replayed = agent.run().output().passes();
    for output in [recorded, replayed] {
        output.says(&["HTTP/1.1 500", "the model fell over"]);
    }
}

#[test]
fn a_replay_reaches_nobody() {
    let agent = Agent::new("ask");
    agent.record(Provider::saying("Blue"));
    let provider = Provider::saying("Green");
    let run = agent.run().env("OPENAI_BASE_URL", provider.url()).env("OPENAI_API_KEY", "a-key-of-the-user");
    assert_eq!(said(&run.output().passes()), "answer: Blue");
    assert_eq!(provider.requests().len(), 0);
}
