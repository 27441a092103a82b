//! `docs/differences.md`: where verdicts differ from those of the public Python tool, each difference with the decision behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Read;

use flate2::read::GzDecoder;
use trajectly_engine::batch::{ErrorKind, answer};
use trajectly_engine::json::{Json, Object};
use trajectly_tests::{assert_generated, repository};

/// What was decided, in the order of the numbers; those on positions first.
const DECISIONS: [(&str, &str); 15] = [
    (
        "D0",
        "A violation stands at the event that broke the rule: the call itself, the call that went over a limit, the first leak, \
            the last event for what never happened.",
    ),
    (
        "D1",
        "Budgets and failed runs are violations of the one verdict; what else differs from the baseline is for people to review.",
    ),
    ("D2", "`mode: strict` wants equal skeletons, and `allow_extra_llm_steps: false` is enforced."),
    ("D3", "A bare tool name means the tool in every rule on sequences, and `require` takes the earliest match."),
    ("D4", "`contracts.config` and the spec's own contracts are merged."),
    ("D5", "Without `outbound_kinds`, leaks are looked for in calls of tools and of models."),
    ("D6", "A tool writes if a word of its name says so, not if some letters of it do."),
    (
        "D7",
        "Rules on arguments mean what they say: there are six types, a string is a string, a number is finite and no boolean, and \
            rules without a type hold too.",
    ),
    ("D8", "`allowlist` and `allow_domains` both allow, hosts by name or by `*.suffix`."),
    (
        "D9",
        "Patterns run in linear time: those that cannot are refused, and `$` and character classes are those of Rust's regex.",
    ),
    (
        "D10",
        "Two surprising rules are kept: an extra tool with side effects needs both lists, and `allow_new_tool_names` allows no \
             call by itself.",
    ),
    ("D11", "A key that is not known is an error."),
    (
        "D12",
        "Nothing in a spec is converted, guessed or passed over: a limit is a whole number, a flag a boolean, a name no blank.",
    ),
    (
        "D13",
        "A malformed event is refused with its place, and an odd address in a text is a text, not the end of the run.",
    ),
    ("D14", "Specs of 0.3 are read as they are; older ones are to be migrated."),
];

const ELSEWHERE: &str = "the same violation, at another event";
const MORE: &str = "a violation that the Python tool does not report";
const FEWER: &str = "a violation that only the Python tool reports";
const REFUSED: &str = "an input that the Python tool judges and that is refused here";
const READ: &str = "an input that the Python tool does not judge";
const EXIT_ONLY: &str = "the same verdict, PASS, for which the Python tool ends with exit code 1";

const INTRODUCTION: &str = "\
# Differences from the public Python tool

This page compares the verdicts of Trajectly for Rust with those of the Python package `trajectly` 0.4.2, on the 3,000 cases of
`tests/vectors/verdict.jsonl.gz`: status, witness, primary violation, all violations with their events, and whether the test
fails. Wherever they differ, a decision explains it. A case with several differences counts in several rows.

`tests/tests/differences.rs` makes this page, and fails if a difference has no explanation.

";

type Counted = (usize, &'static str);

#[test]
fn every_difference_is_explained() {
    let file = std::fs::File::open(repository().join("tests/vectors/verdict.jsonl.gz")).expect("the cases are there");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("gzip of UTF-8");

    let mut counts: BTreeMap<Counted, (usize, String)> = BTreeMap::new();
    let (mut cases, mut same, mut unexplained) = (0, 0, Vec::new());
    for line in text.lines() {
        let case = Case::of(line);
        let differences = case.differences();
        let explained: BTreeSet<Counted> = differences
            .iter()
            .filter_map(|difference| {
                let decision = case.decision(difference);
                if decision.is_none() {
                    unexplained.push(format!("{}: {difference:?}", case.id));
                }
                Some((decision?, difference.what()))
            })
            .collect();
        cases += 1;
        same += usize::from(differences.is_empty());
        for key in explained {
            counts.entry(key).or_insert_with(|| (0, case.id.clone())).0 += 1;
        }
    }
    assert!(unexplained.is_empty(), "nothing explains\n{}", unexplained.join("\n"));

    let mut page = INTRODUCTION.to_owned();
    let differ = cases - same;
    writeln!(page, "Of {cases} cases, {same} agree in everything and {differ} differ.\n").expect("a text takes text");
    page.push_str("| decision | what differs | cases | for example |\n| --- | --- | ---: | --- |\n");
    for (number, (name, decision)) in DECISIONS.iter().enumerate() {
        let rows: Vec<_> = counts.range((number, "")..(number + 1, "")).collect();
        for (place, ((_, what), (count, example))) in rows.iter().enumerate() {
            let decision = if place == 0 { format!("**{name}** {decision}") } else { String::new() };
            writeln!(page, "| {decision} | {what} | {count} | `{example}` |").expect("a text takes text");
        }
        if rows.is_empty() {
            writeln!(page, "| **{name}** {decision} | nothing in these cases | 0 | |").expect("a text takes text");
        }
    }
    assert_generated("docs/differences.md", &page);
}

/// One way in which the two answers to a case differ.
#[derive(Debug)]
enum Difference {
    /// A problem for which the case is refused here: what it says, and the path of what it is about.
    Refused(ErrorKind, String, String),
    /// The Python tool gives up.
    Read,
    /// A code that is reported as often, but elsewhere.
    Elsewhere,
    /// A code that is reported more often here.
    More(String),
    /// A code that the Python tool reports more often.
    Fewer(String),
    /// The verdict is PASS for both, but the Python tool calls the run a regression.
    ExitOnly,
}

impl Difference {
    fn what(&self) -> &'static str {
        match self {
            Difference::Refused(..) => REFUSED,
            Difference::Read => READ,
            Difference::Elsewhere => ELSEWHERE,
            Difference::More(_) => MORE,
            Difference::Fewer(_) => FEWER,
            Difference::ExitOnly => EXIT_ONLY,
        }
    }
}

struct Case {
    id: String,
    value: Json,
    answer: trajectly_engine::batch::Answer,
}

impl Case {
    fn of(line: &str) -> Case {
        let value = Json::parse(line).expect("a case is JSON");
        let id = value.get("id").and_then(Json::as_str).expect("a case has an id").to_owned();
        Case { id, value, answer: answer(line.as_bytes()) }
    }

    fn python(&self) -> &Json {
        self.value.get("python").expect("a case has the answer of the Python tool")
    }

    fn differences(&self) -> Vec<Difference> {
        let python = self.python();
        let given_up = python.get("status") == Some(&Json::from("ERROR"));
        match &self.answer.result {
            Err(_) if given_up => Vec::new(),
            Ok(_) if given_up => vec![Difference::Read],
            Err(refusal) => {
                let own = Object::new().with("message", refusal.message.as_str());
                let problems = refusal.details.get("problems").and_then(Json::as_array).map(<[Json]>::to_vec);
                let text = |problem: &Json, key| problem.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
                let refused =
                    |problem: &Json| Difference::Refused(refusal.kind, text(problem, "message"), text(problem, "path"));
                problems.unwrap_or_else(|| vec![own.into()]).iter().map(refused).collect()
            }
            Ok(own) => {
                let (own_codes, python_codes) = (by_code(own), by_code(python));
                let codes: BTreeSet<&String> = own_codes.keys().chain(python_codes.keys()).collect();
                let none = Vec::new();
                let of_code = |code: &String| {
                    let (own, python) = (own_codes.get(code).unwrap_or(&none), python_codes.get(code).unwrap_or(&none));
                    match own.len().cmp(&python.len()) {
                        std::cmp::Ordering::Greater => Some(Difference::More(code.clone())),
                        std::cmp::Ordering::Less => Some(Difference::Fewer(code.clone())),
                        std::cmp::Ordering::Equal => (own != python).then_some(Difference::Elsewhere),
                    }
                };
                let mut differences: Vec<Difference> = codes.into_iter().filter_map(of_code).collect();
                let passes = own.get("status") == Some(&Json::from("PASS"));
                if differences.is_empty() && passes && python.get("regression") == Some(&Json::from(true)) {
                    differences.push(Difference::ExitOnly);
                }
                let alike = |key| own.get(key) == python.get(key);
                assert!(
                    !differences.is_empty() || (alike("status") && alike("witness_index") && alike("primary")),
                    "{}: the same violations come to another verdict",
                    self.id
                );
                differences
            }
        }
    }

    /// The number of the decision that explains a difference, by what the spec and the trace say.
    fn decision(&self, difference: &Difference) -> Option<usize> {
        match difference {
            Difference::Elsewhere => Some(0),
            Difference::ExitOnly => Some(1),
            Difference::Read => match self.spec("/schema_version") {
                Some(version) if ["0.3", "v0.3"].contains(&version.to_string().trim_matches('"')) => Some(14),
                _ => self.has_odd_address().then_some(13),
            },
            Difference::Refused(ErrorKind::Trace, ..) => Some(13),
            Difference::Refused(_, message, path) => match message {
                _ if path == "schema_version" || message.starts_with("`schema_version` is missing") => Some(14),
                _ if message.starts_with("unknown key") => Some(11),
                _ if message.contains("which patterns here cannot have") => Some(9),
                _ if ["must be", "is blank", "has no value", "is missing"]
                    .iter()
                    .any(|word| message.contains(word)) =>
                {
                    Some(12)
                }
                _ => None,
            },
            Difference::More(code) => match code.as_str() {
                "AGENT_RUN_FAILED" => Some(1),
                budget if budget.starts_with("BUDGET_") => Some(1),
                "REFINEMENT_EXTRA_LLM_STEP" => self.says("/refinement/allow_extra_llm_steps", false).then_some(2),
                extra if extra.starts_with("REFINEMENT_") => self.says("/refinement/mode", "strict").then_some(2),
                sequence if sequence.starts_with("CONTRACT_SEQUENCE_") => self.names_in_both_forms().then_some(3),
                leak if leak.contains("DATA_LEAK") && self.list("/contracts/data_leak/outbound_kinds").is_empty() => {
                    Some(5)
                }
                "CONTRACT_DATA_LEAK_PII_OUTBOUND" => self.goes_beyond_ascii().then_some(9),
                "DATA_LEAK_SECRET_PATTERN" => {
                    (self.list("/contracts/data_leak/secret_patterns").len() > 1).then_some(0)
                }
                argument if argument.starts_with("CONTRACT_ARGS_") => self.argument(argument),
                _ => None,
            },
            Difference::Fewer(code) => match code.as_str() {
                sequence if sequence.starts_with("CONTRACT_SEQUENCE_") => self.names_in_both_forms().then_some(3),
                "CONTRACT_SIDE_EFFECT_WRITE_TOOL_DENIED" => Some(6),
                "NETWORK_DOMAIN_DENIED" => self.allows_more_hosts().then_some(8),
                argument if argument.starts_with("CONTRACT_ARGS_") => self.argument(argument),
                _ => None,
            },
        }
    }

    fn spec(&self, pointer: &str) -> Option<&Json> {
        self.value.at("/input/spec")?.at(pointer)
    }

    fn says(&self, pointer: &str, value: impl Into<Json>) -> bool {
        self.spec(pointer) == Some(&value.into())
    }

    fn list(&self, pointer: &str) -> &[Json] {
        self.spec(pointer).and_then(Json::as_array).unwrap_or_default()
    }

    /// Whether a text of the candidate has an address that Python's parser refuses: brackets, or characters beyond ASCII.
    fn has_odd_address(&self) -> bool {
        let odd = |text: &str| text.contains("//") && (text.contains(['[', ']']) || !text.is_ascii());
        let events = ["/input/baseline_events", "/input/candidate_events"];
        events.into_iter().filter_map(|events| self.value.at(events)).any(|events| texts(events).into_iter().any(odd))
    }

    /// Whether a text of the candidate has characters that classes of patterns may differ about.
    fn goes_beyond_ascii(&self) -> bool {
        self.value
            .at("/input/candidate_events")
            .is_some_and(|events| texts(events).into_iter().any(|text| !text.is_ascii()))
    }

    /// Whether a rule on sequences names a tool barely, or one whose own name looks like an operation.
    fn names_in_both_forms(&self) -> bool {
        let Some(sequence) = self.spec("/contracts/sequence") else { return false };
        let is_prefixed = |name: &str| ["tool:", "llm:", "step:"].iter().any(|prefix| name.starts_with(prefix));
        let names_tool_oddly = self.calls().any(|(tool, _)| is_prefixed(tool));
        names_tool_oddly || texts(sequence).into_iter().any(|name| !is_prefixed(name))
    }

    fn allows_more_hosts(&self) -> bool {
        let hosts = ["allowlist", "allow_domains"].map(|key| self.list(&format!("/contracts/network/{key}")));
        let wide = |host: &Json| host.as_str().is_some_and(|host| host.starts_with("*.") || host.contains(':'));
        hosts.iter().all(|hosts| !hosts.is_empty()) || hosts.concat().iter().any(wide)
    }

    /// The tool calls of the candidate, each with its input.
    fn calls(&self) -> impl Iterator<Item = (&str, &Json)> {
        let events = self.value.at("/input/candidate_events").and_then(Json::as_array).unwrap_or_default();
        let called = events.iter().filter(|event| event.get("event_type") == Some(&Json::from("tool_called")));
        called.filter_map(|event| Some((event.at("/payload/tool_name")?.as_str()?, event.at("/payload/input")?)))
    }

    /// What explains a difference in a rule on arguments: the meaning of the rules, else that of patterns.
    fn argument(&self, code: &str) -> Option<usize> {
        let rules = |block: &str, tool: &str| Some(self.spec(block)?.get(tool)?.get("fields")?.as_object()?.clone());
        let fields = |tool: &str| {
            ["/contracts/args", "/contracts/tools/schema"].into_iter().find_map(|block| rules(block, tool))
        };
        let differs = self.calls().any(|(tool, input)| {
            fields(tool)
                .is_some_and(|fields| fields.iter().any(|(name, rule)| means_another(rule, argument(input, name))))
        });
        let by_pattern = (code == "CONTRACT_ARGS_REGEX_VIOLATION").then_some(9);
        if differs { Some(7) } else { by_pattern }
    }
}

/// Whether the Python tool takes a rule on an argument in another way: it knows two types, reads every value as a string and every
/// boolean as a number.
fn means_another(rule: &Json, value: Option<&Json>) -> bool {
    match (rule.get("type").and_then(Json::as_str), value) {
        (_, None) => false,
        (Some("string"), Some(value)) => value.as_str().is_none(),
        (Some("number"), Some(value)) => matches!(value, Json::Bool(_) | Json::String(_)),
        _ => true,
    }
}

fn argument<'a>(input: &'a Json, name: &str) -> Option<&'a Json> {
    let positional = name.strip_prefix("arg_").and_then(|index| index.parse().ok());
    let of_args = positional.and_then(|index: usize| input.get("args")?.as_array()?.get(index));
    of_args.or_else(|| input.get("kwargs")?.get(name))
}

/// All strings in a value.
fn texts(value: &Json) -> Vec<&str> {
    match value {
        Json::String(text) => vec![text],
        Json::Array(items) => items.iter().flat_map(texts).collect(),
        Json::Object(members) => members.iter().flat_map(|(_, value)| texts(value)).collect(),
        _ => Vec::new(),
    }
}

/// The events at which each code is reported, in order.
fn by_code(answer: &Json) -> BTreeMap<String, Vec<u64>> {
    let mut by_code: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for violation in answer.get("violations").and_then(Json::as_array).unwrap_or_default() {
        let code = violation.at("/0").and_then(Json::as_str).expect("a violation has a code");
        let event = violation.at("/2").and_then(Json::as_u64).expect("a violation has an event");
        by_code.entry(code.to_owned()).or_default().push(event);
    }
    by_code.values_mut().for_each(|events| events.sort_unstable());
    by_code
}
