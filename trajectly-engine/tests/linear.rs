//! The order of a trace: one for all the ways in which concurrent calls can arrive.

mod common;

use common::json;
use trajectly_engine::fixture::Fixtures;
use trajectly_engine::json::{Json, Object};
use trajectly_engine::trace::{EventType, OrderHints, Row, linearize};

/// A row; `payload` and `meta` are JSON objects.
fn row(event_type: EventType, payload: &str, meta: &str) -> Row {
    let object = |text| json(text).as_object().cloned().expect("an object");
    Row { event_type, rel_ms: 0, payload: object(payload), meta: object(meta) }
}

fn tool(id: &str, name: &str, kwargs: &str) -> [Row; 2] {
    let meta = format!(r#"{{"call_id":"{id}"}}"#);
    let input = format!(r#"{{"args":[],"kwargs":{kwargs}}}"#);
    [
        row(EventType::ToolCalled, &format!(r#"{{"tool_name":"{name}","input":{input}}}"#), &meta),
        row(EventType::ToolReturned, &format!(r#"{{"tool_name":"{name}","output":1,"error":null}}"#), &meta),
    ]
}

/// `answered` and `requested` are lists of `id name arguments`, or of `id`.
fn llm(id: &str, thread: u64, request: &str, answered: &[&str], requested: &[(&str, &str, &str)]) -> [Row; 2] {
    let answered: Vec<String> =
        answered.iter().map(|id| format!(r#"{{"id":"{id}","content":"result of {id}"}}"#)).collect();
    let requested: Vec<String> = requested
        .iter()
        .map(|(id, name, arguments)| format!(r#"{{"id":"{id}","name":"{name}","arguments":{arguments}}}"#))
        .collect();
    [
        row(
            EventType::LlmCalled,
            &format!(r#"{{"provider":"p","model":"m","request":{request}}}"#),
            &format!(r#"{{"call_id":"{id}","thread":{thread},"answered":[{}]}}"#, answered.join(",")),
        ),
        row(
            EventType::LlmReturned,
            r#"{"provider":"p","model":"m","response":{}}"#,
            &format!(r#"{{"call_id":"{id}","requested":[{}]}}"#, requested.join(",")),
        ),
    ]
}

fn step(name: &str) -> Row {
    row(EventType::AgentStep, &format!(r#"{{"name":"{name}","details":{{}}}}"#), "{}")
}

fn inside(parent: &str, [mut called, returned]: [Row; 2]) -> [Row; 2] {
    called.meta.insert("parent", parent);
    [called, returned]
}

fn answered_by(fixture: usize, [called, mut returned]: [Row; 2]) -> [Row; 2] {
    returned.meta.insert("fixture", fixture);
    [called, returned]
}

/// Rows in a few words: `+` called, `-` returned, `.` otherwise; then what, and the notes that tell the order.
fn shown(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .map(|row| {
            let sign = match row.event_type {
                EventType::ToolCalled | EventType::LlmCalled => '+',
                EventType::ToolReturned | EventType::LlmReturned => '-',
                _ => '.',
            };
            let name = ["tool_name", "model", "name"].iter().find_map(|key| row.payload.str(key)).unwrap_or("?");
            let mut text = format!("{sign}{name}");
            let request = row.payload.get("request").or_else(|| row.payload.get("input")?.get("kwargs"));
            if let Some(request) = request {
                text.push_str(&request.to_compact());
            }
            for note in ["call_id", "parent", "thread", "cluster", "observed"] {
                if let Some(value) = row.meta.get(note) {
                    let value = value.as_str().map_or_else(|| format!("{note}{value}"), str::to_owned);
                    text.push(' ');
                    text.push_str(&value);
                }
            }
            text
        })
        .collect()
}

fn ordered(rows: &[Row]) -> Vec<String> {
    shown(&linearize(rows.to_vec(), &OrderHints::default()))
}

/// All orders of `lists`' rows that keep the order of each list.
fn interleavings(lists: &[&[Row]]) -> Vec<Vec<Row>> {
    if lists.iter().all(|list| list.is_empty()) {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for place in 0..lists.len() {
        if let Some((first, rest)) = lists[place].split_first() {
            let mut left = lists.to_vec();
            left[place] = rest;
            for mut tail in interleavings(&left) {
                tail.insert(0, first.clone());
                all.push(tail);
            }
        }
    }
    all
}

#[test]
fn calls_that_follow_each_other_keep_their_order() {
    let rows =
        [&tool("t9", "z", "{}")[..], &[step("s")], &tool("t2", "a", "{}"), &llm("m1", 7, "{}", &[], &[])].concat();
    let expected = ["+z{} c1", "-z c1", ".s", "+a{} c2", "-a c2", "+m{} c3 thread1", "-m c3"];
    assert_eq!(ordered(&rows), expected);
}

#[test]
fn calls_in_flight_together_have_one_order_however_they_arrive() {
    let [a, b, c] = [tool("t1", "f", r#"{"n":2}"#), tool("t2", "f", r#"{"n":1}"#), tool("t3", "e", "{}")];
    // What spans all others holds the cluster together.
    let whole = tool("t0", "whole", "{}");
    for arrival in interleavings(&[&a, &b, &c]) {
        let rows = [&whole[..1], &arrival[..], &whole[1..]].concat();
        let expected = [
            "+e{} c1 cluster1",
            "-e c1",
            r#"+f{"n":1} c2 cluster1"#,
            "-f c2",
            r#"+f{"n":2} c3 cluster1"#,
            "-f c3",
            "+whole{} c4 cluster1",
            "-whole c4",
        ];
        assert_eq!(ordered(&rows), expected);
    }
}

#[test]
fn tools_that_one_response_asked_for_come_in_the_order_in_which_it_asked() {
    let requested = [("x", "f", r#"{"n":2}"#), ("y", "g", "{}"), ("z", "f", r#"{"n":1}"#)];
    let before = llm("m1", 1, "{}", &[], &requested);
    let after = llm("m2", 1, r#"{"q":2}"#, &["x", "y", "z"], &[]);
    let [a, b, c] = [tool("t1", "f", r#"{"n":1}"#), tool("t2", "f", r#"{"n":2.0,"opt":null}"#), tool("t3", "g", "{}")];
    for arrival in interleavings(&[&a, &b, &c]) {
        let expected = [
            "+m{} c1 thread1",
            "-m c1",
            r#"+f{"n":2.0,"opt":null} c2 cluster1"#,
            "-f c2",
            "+g{} c3 cluster1",
            "-g c3",
            r#"+f{"n":1} c4 cluster1"#,
            "-f c4",
            r#"+m{"q":2} c5 thread1"#,
            "-m c5",
        ];
        assert_eq!(ordered(&[&before[..], &arrival[..], &after[..]].concat()), expected);
    }
}

#[test]
fn each_conversation_stays_together() {
    let agent = |name: &str, thread: u64| {
        let id = |n: &str| format!("{name}{n}");
        let request = (id("call"), "look", format!(r#"{{"who":"{name}"}}"#));
        let requested = [(request.0.as_str(), request.1, request.2.as_str())];
        [
            llm(&id("m1"), thread, &format!(r#"{{"I am":"{name}"}}"#), &[], &requested),
            tool(&id("t"), "look", &request.2),
            llm(&id("m2"), thread, r#"{"and":"now"}"#, &[&request.0], &[]),
        ]
        .concat()
    };
    // Neither the numbers of the conversations nor who comes first matters.
    let whole = tool("t0", "a_whole", "{}");
    let expected = [
        r#"+m{"I am":"ann"} c1 thread1 cluster1"#,
        "-m c1",
        r#"+look{"who":"ann"} c2 cluster1"#,
        "-look c2",
        r#"+m{"and":"now"} c3 thread1 cluster1"#,
        "-m c3",
        r#"+m{"I am":"bob"} c4 thread2 cluster1"#,
        "-m c4",
        r#"+look{"who":"bob"} c5 cluster1"#,
        "-look c5",
        r#"+m{"and":"now"} c6 thread2 cluster1"#,
        "-m c6",
        "+a_whole{} c7 cluster1",
        "-a_whole c7",
    ];
    for [ann, bob] in [[1, 2], [8, 3]] {
        for arrival in interleavings(&[&agent("ann", ann), &agent("bob", bob)]) {
            let rows = [&whole[..1], &arrival[..], &whole[1..]].concat();
            assert_eq!(ordered(&rows), expected);
        }
    }
}

#[test]
fn a_call_holds_the_calls_made_inside_it() {
    let outer = tool("o", "outer", "{}");
    let other = tool("x", "another", "{}");
    let first = inside("o", tool("i1", "inner", r#"{"n":2}"#));
    let second = inside("o", tool("i2", "inner", r#"{"n":1}"#));
    let mut noted = step("noted");
    noted.meta.insert("parent", "i1");
    let in_flight_together = |arrival: &Vec<Row>| arrival[1].event_type == EventType::ToolCalled;
    for arrival in interleavings(&[&first, &second]).into_iter().filter(in_flight_together) {
        let rows = [&outer[..1], &other[..1], &arrival, &[noted.clone()], &outer[1..], &other[1..]].concat();
        let expected = [
            "+another{} c1 cluster1",
            "-another c1",
            "+outer{} c2 cluster1",
            r#"+inner{"n":1} c3 c2 cluster2"#,
            "-inner c3",
            r#"+inner{"n":2} c4 c2 cluster2"#,
            ".noted c4",
            "-inner c4",
            "-outer c2",
        ];
        assert_eq!(ordered(&rows), expected);
    }
}

#[test]
fn a_replay_keeps_the_order_of_its_recording() {
    // Recorded in flight together; sorted by input, which is not the order of their names' arrival.
    let calls = |ids: [&str; 3]| [tool(ids[0], "b", "{}"), tool(ids[1], "a", "{}"), tool(ids[2], "c", "{}")];
    let [b, a, c] = calls(["t1", "t2", "t3"]);
    let recorded = [b[0].clone(), a[0].clone(), a[1].clone(), c[0].clone(), b[1].clone(), c[1].clone(), step("end")];
    let recorded = linearize(recorded.to_vec(), &OrderHints::default());
    let fixtures = Fixtures::from_rows(&recorded);
    let names: Vec<&str> = fixtures.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(fixtures.entries.iter().all(|entry| entry.cluster() == Some(1)));

    let hints = OrderHints::from_fixtures(&Fixtures::parse(&fixtures.to_pretty(), "f.json").unwrap());
    let [b, a, c] = calls(["u1", "u2", "u3"]);
    let [b, a, c] = [answered_by(1, b), answered_by(0, a), answered_by(2, c)];
    for arrival in interleavings(&[&b, &a, &c]) {
        let rows = [arrival, vec![step("end")]].concat();
        assert_eq!(shown(&linearize(rows, &hints)), shown(&recorded));
    }
}

#[test]
fn a_replay_sorts_by_the_recording_also_what_was_not_in_flight_together_then() {
    let recorded = [tool("t1", "z", "{}"), tool("t2", "a", "{}")].concat();
    let fixtures = Fixtures::from_rows(&linearize(recorded, &OrderHints::default()));
    assert!(fixtures.entries.iter().all(|entry| entry.cluster().is_none()));
    let hints = OrderHints::from_fixtures(&fixtures);
    let [z, a] = [answered_by(0, tool("t1", "z", "{}")), answered_by(1, tool("t2", "a", "{}"))];
    let new = tool("t3", "0 new", "{}");
    let rows = vec![new[0].clone(), a[0].clone(), z[0].clone(), a[1].clone(), z[1].clone(), new[1].clone()];
    let expected = ["+z{} c1 cluster1", "-z c1", "+a{} c2 cluster1", "-a c2", "+0 new{} c3 cluster1", "-0 new c3"];
    assert_eq!(shown(&linearize(rows, &hints)), expected, "what was not recorded comes last");
}

#[test]
fn calls_recorded_together_are_sorted_also_when_something_comes_between() {
    let entry = |name: &str| format!(r#"{{"kind":"tool","name":"{name}","order":{{"cluster":4}}}}"#);
    let file = format!(r#"{{"entries":[{},{}]}}"#, entry("a"), entry("b"));
    let hints = OrderHints::from_fixtures(&Fixtures::parse(&file, "f.json").unwrap());
    let rows = [answered_by(1, tool("t1", "b", "{}")), tool("t2", "new", "{}"), answered_by(0, tool("t3", "a", "{}"))];
    let found = shown(&linearize(rows.concat(), &hints));
    let expected = ["+a{} c1 cluster1", "-a c1", "+b{} c2 cluster1", "-b c2", "+new{} c3 cluster1", "-new c3"];
    assert_eq!(found, expected);
}

#[test]
fn a_conversation_keeps_its_own_order_whatever_was_recorded() {
    let hints = OrderHints::default();
    let whole = tool("w", "whole", "{}");
    let one = answered_by(5, llm("m1", 1, r#"{"n":1}"#, &[], &[]));
    let two = answered_by(2, llm("m2", 1, r#"{"n":2}"#, &[], &[]));
    let other = answered_by(3, tool("t", "other", "{}"));
    let rows = [&whole[..1], &one, &two, &other, &whole[1..]].concat();
    let found = shown(&linearize(rows, &hints));
    let at = |text: &str| found.iter().position(|line| line.contains(text));
    assert!(at("\"n\":1") < at("\"n\":2"), "{found:?}");
}

#[test]
fn a_call_seen_on_the_wire_only_is_added_before_the_request_that_quotes_it() {
    let asks = llm("m1", 1, "{}", &[], &[("y", "g", r#"{"k":1}"#), ("x", "f", "{}"), ("never", "h", "{}")]);
    let quotes = llm("m2", 1, r#"{"q":2}"#, &["x", "y", "stranger"], &[("x2", "f", "{}")]);
    let again = llm("m3", 1, r#"{"q":3}"#, &["x", "y", "x2"], &[]);
    let rows = linearize([asks, quotes, again].concat(), &OrderHints::default());
    let expected = [
        "+m{} c1 thread1",
        "-m c1",
        r#"+g{"k":1} c2 wire"#,
        "-g c2 wire",
        "+f{} c3 wire",
        "-f c3 wire",
        r#"+m{"q":2} c4 thread1"#,
        "-m c4",
        "+f{} c5 wire",
        "-f c5 wire",
        r#"+m{"q":3} c6 thread1"#,
        "-m c6",
    ];
    assert_eq!(shown(&rows), expected);
    assert_eq!(rows[3].payload.str("output"), Some("result of y"));
    assert_eq!(rows[2].payload.get("input").map(Json::to_compact).as_deref(), Some(r#"{"args":[],"kwargs":{"k":1}}"#));
    assert_eq!(Fixtures::from_rows(&rows).entries.len(), 3, "they are observed, not recorded");
}

#[test]
fn a_call_that_a_tool_made_is_never_counted_twice() {
    let asks = |requested: &[(&str, &str, &str)]| llm("m1", 1, "{}", &[], requested);
    let quotes = llm("m2", 1, r#"{"q":2}"#, &["x"], &[]);
    for (wanted, made) in [
        (r#"{"n":1}"#, tool("t", "f", r#"{"n":1}"#)),
        // A typed tool has a number where the model wrote an integer, and names what was left out.
        (r#"{"n":1}"#, tool("t", "f", r#"{"n":1.0,"limit":null}"#)),
        // Defaults filled in, or arguments changed on the way.
        (r#"{"n":1}"#, tool("t", "f", r#"{"n":1,"limit":10}"#)),
        (r#"{"n":1}"#, tool("t", "f", r#"{"n":2}"#)),
        (r#""not json""#, tool("t", "f", "{}")),
        // A child that writes no call ids.
        (r#"{"n":1}"#, tool("t", "f", r#"{"n":1}"#).map(|row| Row { meta: Object::new(), ..row })),
    ] {
        let rows = [&asks(&[("x", "f", wanted)])[..], &made, &quotes].concat();
        let found = ordered(&rows);
        assert_eq!(found.iter().filter(|line| line.starts_with("+f")).count(), 1, "{wanted}: {found:?}");
        assert!(!found.iter().any(|line| line.contains("wire")), "{wanted}: {found:?}");
    }
    // The request whose arguments are the more alike is the one that a call meets.
    let both = asks(&[("x", "f", r#"{"n":1,"m":1}"#), ("y", "f", r#"{"n":2,"m":2}"#)]);
    let made = tool("t", "f", r#"{"n":2,"m":9}"#);
    let quotes = llm("m2", 1, "{}", &["x", "y"], &[]);
    let found = ordered(&[both, made, quotes].concat());
    assert!(found.contains(&r#"+f{"m":1,"n":1} c3 wire"#.to_owned()), "{found:?}");
    // A later turn's own call is not the one that an earlier turn asked for.
    let asks = asks(&[("x", "f", r#"{"n":1}"#)]);
    let own = tool("t", "f", r#"{"n":2}"#);
    let found = ordered(&[asks, llm("m2", 1, "{}", &[], &[]), own, llm("m3", 1, "{}", &["x"], &[])].concat());
    assert_eq!(found.iter().filter(|line| line.starts_with("+f")).count(), 2, "{found:?}");
}

#[test]
fn two_conversations_with_the_same_ids_have_their_own_calls() {
    let talk = |thread: u64, ids: [&str; 2]| {
        let asks = llm(ids[0], thread, "{}", &[], &[("x", "f", "{}")]);
        [asks, llm(ids[1], thread, r#"{"q":2}"#, &["x"], &[])].concat()
    };
    let found = ordered(&[talk(1, ["a", "b"]), talk(2, ["c", "d"])].concat());
    assert_eq!(found.iter().filter(|line| line.starts_with("+f{} ") && line.ends_with("wire")).count(), 2, "{found:?}");
}

#[test]
fn rows_without_ids_keep_their_place() {
    let plain = |name, kwargs| tool("", name, kwargs).map(|row| Row { meta: Object::new(), ..row });
    let [z, a] = [plain("z", "{}"), plain("a", "{}")];
    let rows = [z[0].clone(), a[0].clone(), step("s"), a[1].clone(), z[1].clone()];
    assert_eq!(ordered(&rows), ["+z{}", "+a{}", ".s", "-a", "-z"]);
}

#[test]
fn names_that_lead_nowhere_are_taken_out() {
    let [called, returned] = tool("t", "f", "{}");
    let lost = inside("nobody", tool("u", "g", "{}"));
    let rows = [&[returned.clone()][..], &lost, &[called.clone(), called.clone(), returned, lost[1].clone()]].concat();
    let expected = ["-f", "+g{} c1", "-g c1", "+f{} c2", "+f{} c3", "-f c3", "-g"];
    assert_eq!(ordered(&rows), expected);
    // A call inside itself, or inside one that comes later, is inside none.
    let [own, _] = inside("t", tool("t", "f", "{}"));
    let [early, _] = inside("t2", tool("t1", "g", "{}"));
    let [late, _] = tool("t2", "h", "{}");
    assert_eq!(ordered(&[own, early, late]), ["+f{} c1", "+g{} c2", "+h{} c3"]);
}

#[test]
fn odd_notes_are_passed_over() {
    for meta in [
        r#"{"call_id":7,"parent":[],"thread":"x","answered":5,"fixture":-1}"#,
        r#"{"call_id":"t","thread":-3,"answered":[1,{"id":2},{}],"requested":[null,{"name":1},{"name":"f"}]}"#,
    ] {
        let rows = vec![
            row(EventType::LlmCalled, "{}", meta),
            row(EventType::LlmReturned, "{}", meta),
            row(EventType::ToolCalled, r#"{"tool_name":"f","input":[]}"#, meta),
        ];
        assert_eq!(linearize(rows, &OrderHints::default()).len(), 3, "{meta}");
    }
}

#[test]
fn any_depth_and_any_number_of_calls_is_put_in_order() {
    const CALLS: usize = 5_000;

    let called = |n: usize| {
        let [mut called, _] = tool(&format!("t{n}"), "f", "{}");
        called.meta.insert("parent", format!("t{}", n.wrapping_sub(1)));
        called
    };
    let deep: Vec<Row> = (0..CALLS).map(called).collect();
    assert_eq!(linearize(deep, &OrderHints::default()).len(), CALLS);

    let wide = (0..CALLS).map(|n| tool(&format!("t{n}"), "f", &format!(r#"{{"n":{}}}"#, CALLS - n)));
    let (called, returned): (Vec<Row>, Vec<Row>) = wide.map(|[called, returned]| (called, returned)).unzip();
    let found = linearize([called, returned].concat(), &OrderHints::default());
    assert_eq!(found.len(), 2 * CALLS);

    let requests: Vec<(String, String)> = (0..CALLS).map(|n| (format!("x{n}"), format!(r#"{{"n":{n}}}"#))).collect();
    let requests: Vec<(&str, &str, &str)> =
        requests.iter().map(|(id, arguments)| (id.as_str(), "f", arguments.as_str())).collect();
    let asks = llm("m", 1, "{}", &[], &requests);
    let made = (0..CALLS).flat_map(|n| tool(&format!("t{n}"), "f", &format!(r#"{{"n":-{n}}}"#)));
    let found = linearize(asks.into_iter().chain(made).collect(), &OrderHints::default());
    assert_eq!(found.len(), 2 * CALLS + 2);
}

#[test]
fn an_order_is_kept_when_it_is_made_again() {
    let requested = [("x", "f", r#"{"n":2}"#), ("y", "g", "{}")];
    let asks = llm("m1", 1, "{}", &[], &requested);
    let [f, g] = [tool("t1", "f", r#"{"n":2}"#), tool("t2", "g", "{}")];
    let quotes = llm("m2", 1, "{}", &["x", "y"], &[]);
    let rows = [&asks[..], &[g[0].clone(), f[0].clone(), f[1].clone(), g[1].clone()], &quotes].concat();
    let once = linearize(rows, &OrderHints::default());
    assert_eq!(linearize(once.clone(), &OrderHints::default()), once);
}
