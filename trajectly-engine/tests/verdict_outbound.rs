//! What leaves in a call, and where it goes: the families `network` and `data_leak`.

mod common;

use common::{event, spec, told, vectors};
use trajectly_engine::code::Code;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::{Event, Trace};
use trajectly_engine::verdict::{Verdict, judge};

fn call(tool: &str, input: impl Into<Json>) -> Event {
    event("tool_called", Object::new().with("tool_name", tool).with("input", input))
}

fn judged(contracts: &str, events: Vec<Event>) -> Verdict {
    judge(&spec(&format!("contracts: {{{contracts}}}")), None, &Trace { events })
}

#[test]
fn the_host_of_a_call_agrees_with_the_vectors() {
    for case in vectors("functions/network-url.jsonl") {
        let input = case.get("input").cloned().unwrap_or_else(|| panic!("{case}"));
        let verdict = judged("network: {default: deny}", vec![call("http_request", input)]);
        let host = verdict.primary().and_then(|primary| primary.observed.clone());
        assert_eq!(host.as_ref(), case.at("/domain/ok"), "{case}");
    }
}

#[test]
fn a_host_is_allowed_by_name_or_by_suffix() {
    let lists = "allowlist: [API.example.com, '*.docs.test'], allow_domains: ['10.0.0.1:8080', '[::2]:80', '*', 'http://x.test']";
    for (url, deny, allow) in [
        ("https://api.example.com/x", false, false),
        ("https://API.EXAMPLE.COM:8443", false, false),
        ("http://10.0.0.1/", false, false),
        ("http://[::2]/", false, false),
        ("http://x.test", true, true),
        ("https://a.docs.test", false, false),
        ("https://a.b.docs.test", false, false),
        ("https://docs.test", true, true),
        ("https://xdocs.test", true, true),
        ("https://sub.api.example.com", true, true),
        ("https://api.example.com.evil.test", true, true),
        ("https://api.example.com.", true, true),
        ("https://api.example.com@evil.test/", true, true),
        ("http://[::1]:80/", true, true),
        (r"https://evil.test\@api.example.com", true, false),
        ("http://[", true, false),
        ("nowhere", true, false),
        ("", true, false),
    ] {
        for (default, denied) in [("deny", deny), ("allow", allow)] {
            let input = Object::new().with("kwargs", Object::new().with("url", url));
            let contracts = format!("network: {{default: {default}, {lists}}}");
            let verdict = judged(&contracts, vec![call("web_search", input)]);
            let codes: Vec<Code> = verdict.violations.iter().map(|violation| violation.code).collect();
            let expected = if denied { vec![Code::NetworkDomainDenied] } else { Vec::new() };
            assert_eq!(codes, expected, "{default}: {url}");
        }
    }
}

#[test]
fn the_network_rule_says_what_and_where() {
    let asked = |url: &str| call("http_request", Object::new().with("args", vec![url]));
    let other = call("fetch", Object::new().with("args", vec!["https://evil.test"]));
    for (contracts, url, expected) in [
        (
            "",
            "https://evil.test",
            "1 NETWORK_DOMAIN_DENIED contracts.network.default: `http_request` reaches evil.test, which is not allowed",
        ),
        (
            "",
            "?",
            "1 NETWORK_DOMAIN_DENIED contracts.network.default: `http_request` reaches a host that its arguments do not name",
        ),
        (
            "network: {default: allow, allow_domains: [a.test]}",
            "https://evil.test",
            "1 NETWORK_DOMAIN_DENIED contracts.network.allow_domains: `http_request` reaches evil.test, which is not allowed",
        ),
    ] {
        assert_eq!(told(&judged(contracts, vec![other.clone(), asked(url)])), [expected]);
    }
    assert_eq!(told(&judged("network: {default: allow}", vec![asked("https://evil.test")])), [] as [&str; 0]);
}

#[test]
fn a_stopped_connection_is_reported_at_the_end_of_the_run() {
    let tail = "boot\nTrajectly replay mode blocks network access. (host=evil.test)\n";
    let end = event("run_finished", Object::new().with("returncode", 0).with("stderr_tail", tail));
    let verdict = judged("network: {allowlist: [a.test]}", vec![call("a", Json::Null), end.clone()]);
    assert_eq!(
        told(&verdict),
        [
            "1 CONTRACT_NETWORK_ALLOWLIST_BLOCKED contracts.network.allowlist: the agent tried to reach a host that is not allowed, and was stopped"
        ]
    );
    assert_eq!(
        verdict.violations[0].observed,
        Some(Json::from("Trajectly replay mode blocks network access. (host=evil.test)"))
    );
    assert_eq!(told(&judged("", vec![end])), [] as [&str; 0], "nothing is allowed, so nothing was expected to pass");
}

/// Python counts `²` as part of a word, the patterns here do not.
const WORD_BY_PYTHON: &str = "²½";

#[test]
fn personal_data_agrees_with_the_vectors() {
    let rule = "data_leak: {deny_pii_outbound: true}";
    for case in vectors("functions/pii-domains.jsonl") {
        let text = common::text(&case, "text");
        if text.contains(|c| WORD_BY_PYTHON.contains(c)) {
            continue;
        }
        let verdict = judged(rule, vec![call("send", text)]);
        let flag = |key| case.get(key) == Some(&Json::from(true));
        let expected: &[&str] = match (flag("email"), flag("phone")) {
            (true, _) => &[
                "0 CONTRACT_DATA_LEAK_PII_OUTBOUND contracts.data_leak.deny_pii_outbound: an e-mail address leaves in a call of `send`",
            ],
            (_, true) => &[
                "0 CONTRACT_DATA_LEAK_PII_OUTBOUND contracts.data_leak.deny_pii_outbound: a telephone number leaves in a call of `send`",
            ],
            _ => &[],
        };
        assert_eq!(told(&verdict), expected, "{case}");
    }
}

#[test]
fn nested_personal_data_and_secrets_agree_with_the_vectors() {
    let mut cases = vectors("functions/pii-nested.jsonl").into_iter();
    let patterns = cases.next().and_then(|head| head.get("patterns").cloned()).expect("the patterns");
    let rule = format!("data_leak: {{deny_pii_outbound: true, secret_patterns: {patterns}}}");
    for case in cases {
        if case.to_string().contains(|c| WORD_BY_PYTHON.contains(c)) {
            continue;
        }
        let value = case.get("value").cloned().unwrap_or_else(|| panic!("{case}"));
        let verdict = judged(&rule, vec![call("send", value)]);
        let personal = verdict.violations.iter().any(|violation| violation.code == Code::ContractDataLeakPiiOutbound);
        assert_eq!(Some(&Json::from(personal)), case.get("contains_pii"), "{case}");
        let secrets = case.get("secrets").and_then(Json::as_array).expect("a result for each pattern");
        for (index, secret) in secrets.iter().enumerate() {
            let rule = format!("contracts.data_leak.secret_patterns[{index}]");
            let found = verdict.violations.iter().any(|violation| violation.rule.as_ref() == Some(&rule));
            assert_eq!(Some(&Json::from(found)), secret.get("ok"), "pattern {index}: {case}");
        }
    }
}

#[test]
fn a_leak_is_told_once_at_its_first_event_and_not_repeated() {
    let asks = |text: &str| {
        let request = Object::new().with("messages", vec![Object::new().with("content", text)]);
        event("llm_called", Object::new().with("provider", "openai").with("model", "gpt").with("request", request))
    };
    let events = vec![
        event("tool_returned", Object::new().with("tool_name", "look").with("output", "a@b.co sk_1")),
        asks("hello"),
        asks("mail a@b.co, key sk_2"),
        call("send", Object::new().with("kwargs", Object::new().with("key", "sk_3"))),
        call("send", "a@b.co pw_4"),
    ];
    let secrets = "secret_patterns: ['sk_\\d', 'pw_\\d']";
    let judge =
        |rest: &str| judged(&format!("data_leak: {{deny_pii_outbound: true, {secrets}{rest}}}"), events.clone());
    let both = judge("");
    assert_eq!(
        told(&both),
        [
            "2 CONTRACT_DATA_LEAK_PII_OUTBOUND contracts.data_leak.deny_pii_outbound: an e-mail address leaves in a request to `openai:gpt`",
            "2 DATA_LEAK_SECRET_PATTERN contracts.data_leak.secret_patterns[0]: a secret leaves in a request to `openai:gpt`",
            "4 DATA_LEAK_SECRET_PATTERN contracts.data_leak.secret_patterns[1]: a secret leaves in a call of `send`",
        ]
    );
    assert_eq!(both.violations[0].observed, Some(Json::from("$.request.messages[0].content")));
    let whole = format!("{both:?}");
    assert!(!whole.contains("a@b.co") && !whole.contains("sk_2"), "what leaked is not told again: {whole}");

    let indices = |verdict: &Verdict| verdict.violations.iter().map(|v| v.event_index).collect::<Vec<_>>();
    assert_eq!(indices(&judge(", outbound_kinds: [TOOL_CALL]")), [3, 4, 4]);
    assert_eq!(indices(&judge(", outbound_kinds: [LLM_REQUEST]")), [2, 2]);
    assert_eq!(indices(&judge(", outbound_kinds: []")), [2, 2, 4]);
}
