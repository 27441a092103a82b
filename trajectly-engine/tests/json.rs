//! Reading and writing of JSON text.

mod common;

use std::collections::BTreeMap;

use common::json;
use serde::{Deserialize, Serialize};
use trajectly_engine::json::{Json, Number, Object, from_json, to_json};

#[test]
fn writes_what_it_read_on_one_line_and_sorted() {
    for (read, written) in [
        (" null ", "null"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#),
        (r#"{"a":1,"b":0,"a":2}"#, r#"{"a":2,"b":0}"#),
        (r#"{"é":1,"z":2,"\ud83d\ude00":3,"\uffff":4}"#, "{\"z\":2,\"é\":1,\"\u{ffff}\":4,\"😀\":3}"),
        (r#""\u0041\/\b\f\n\r\t\"\\\u0000\u007f""#, "\"A/\\b\\f\\n\\r\\t\\\"\\\\\\u0000\u{7f}\""),
        ("\"\u{85}\u{2028}\u{2029}\"", r#""\u0085\u2028\u2029""#),
        (
            "[1,-1,0,-0,18446744073709551615,18446744073709551616]",
            "[1,-1,0,0,18446744073709551615,18446744073709551616]",
        ),
        ("[1.0,1e2,1E-7,-0.0,0.1]", "[1.0,100.0,1e-07,-0.0,0.1]"),
        ("[1e400,-1e400]", "[1e999,-1e999]"),
    ] {
        let value = json(read);
        assert_eq!(value.to_compact(), written);
        assert_eq!(json(written), value, "{written} reads back as it was");
        assert_eq!(json(&value.to_pretty()), value, "and so does the form over several lines");
    }
}

#[test]
fn pretty_form_indents_by_two_and_keeps_empty_containers_short() {
    let value = json(r#"{"b":[1,{"c":[]}],"a":{}}"#);
    let expected = "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": []\n    }\n  ]\n}";
    assert_eq!(value.to_pretty(), expected);
}

#[test]
fn strings_of_every_length_keep_their_quotes_backslashes_and_controls() {
    for length in 0..40 {
        for special in ["\"", "\\", "\u{1}", "\u{1f}", "\u{80}", "é", "\u{7f}", " "] {
            for place in 0..=length {
                let text = format!("{}{special}{}", "a".repeat(place), "b".repeat(length - place));
                let value = Json::from(text.as_str());
                assert_eq!(json(&value.to_compact()), value, "{text:?}");
            }
        }
    }
}

#[test]
fn refuses_what_is_not_json_and_says_where() {
    for (text, line, column, message) in [
        ("", 1, 1, "expected a value, found the end of the text"),
        ("  \n ", 2, 2, "expected a value, found the end of the text"),
        ("nul", 1, 1, "expected a value, found 'n'"),
        ("NaN", 1, 1, "expected a value, found 'N'"),
        ("-Infinity", 1, 2, "expected a digit, found 'I'"),
        ("01", 1, 2, "expected the end of the text, found '1'"),
        ("1.", 1, 3, "expected a digit, found the end of the text"),
        ("+1", 1, 1, "expected a value, found '+'"),
        ("1e", 1, 3, "expected a digit, found the end of the text"),
        ("[1,]", 1, 4, "expected a value, found ']'"),
        ("[1 2]", 1, 4, "expected `,` or `]` after the item, found '2'"),
        ("{\"a\":1,}", 1, 8, "expected a key in quotes, found '}'"),
        ("{\"a\" 1}", 1, 6, "expected `:` after the key, found '1'"),
        ("{\"a\":1 \"b\"}", 1, 8, "expected `,` or `}` after the member, found '\"'"),
        ("{\n\"é\": tru}", 2, 6, "expected a value, found 't'"),
        ("\"abc", 1, 5, "expected the closing quote of a string, found the end of the text"),
        ("\"a\nb\"", 1, 3, "a control character in a string must be escaped"),
        ("\"\\x\"", 1, 3, "expected an escape such as `\\n`, found 'x'"),
        ("\"\\u12g4\"", 1, 6, "expected four hexadecimal digits, found 'g'"),
        ("\"\\ud800\"", 1, 4, "a lone surrogate is no character"),
        ("\"\\udc00\\ud800\"", 1, 4, "a lone surrogate is no character"),
        ("\"\\ud800\\u0041\"", 1, 4, "a lone surrogate is no character"),
        ("'a'", 1, 1, "expected a value, found '\\''"),
        ("[] []", 1, 4, "expected the end of the text, found '['"),
        ("\u{feff}1", 1, 1, "expected a value, found a byte order mark; save the text as UTF-8 without one"),
    ] {
        let error = Json::parse(text).expect_err(text);
        assert_eq!((error.line, error.column, error.message.as_str()), (line, column, message), "{text:?}");
    }
    let error = Json::parse_slice(b"[1,\n\"\xff\"]").unwrap_err();
    assert_eq!((error.line, error.column), (2, 2));
    assert_eq!(error.to_string(), "these bytes are not UTF-8 at line 2 column 2");
}

#[test]
fn nesting_is_bounded() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(Json::parse(&nested(128)).is_ok());
    for hostile in [nested(129), "[".repeat(1_000_000), "{\"a\":".repeat(1_000_000)] {
        let error = Json::parse(&hostile).unwrap_err();
        assert_eq!(error.message, "nested deeper than 128 levels");
    }
    let tree = (0..200).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
    assert!(Json::deserialize(&tree).is_err());
}

#[test]
fn no_prefix_of_a_document_reads_or_panics() {
    let text = r#"{"a":[1,-2.5e-3,"x\u00e9\ud83d\ude00é",true,false,null,{"b":{}}]}"#;
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(Json::parse(&text[..end]).is_err(), "{}", &text[..end]);
    }
}

/// serde_json decides what is JSON, apart from numbers beyond the range of doubles, which it refuses. It also reads `-0`
/// as a float.
#[test]
fn accepts_what_serde_json_accepts() {
    const SEED: &str = r#"{"a":[1,-2.5,"x\u00e9\ud83d\ude00é\n",true,false,null,{"b":{},"c":[[]]}],"d":7,"d":"\\"}"#;
    const SPARE: &[char] =
        &['"', '\\', '{', '}', '[', ']', ',', ':', '0', '1', '-', '.', 'e', 'u', 'd', '8', ' ', '\n', 'é'];

    let mut state: u64 = 42;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted = 0;
    for _ in 0..10_000 {
        let mut text: Vec<char> = SEED.chars().collect();
        for _ in 0..=random(3) {
            let at = random(text.len());
            let spare = SPARE[random(SPARE.len())];
            match random(3) {
                0 => text[at] = spare,
                1 => text.insert(at, spare),
                _ => drop(text.remove(at)),
            }
        }
        let text: String = text.into_iter().collect();
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        match (Json::parse(&text), theirs) {
            (Ok(ours), Ok(theirs)) => {
                accepted += 1;
                assert!(ours == Json::from(theirs) || text.contains("-0"), "{text}");
            }
            (Ok(_), Err(error)) => assert!(error.to_string().contains("out of range"), "{error}: {text}"),
            (Err(error), Ok(_)) => panic!("{error}: {text}"),
            (Err(_), Err(_)) => {}
        }
    }
    assert!(accepted > 500, "{accepted} of the texts are JSON");
}

#[test]
fn equality_tells_integers_floats_and_zeros_apart() {
    assert_eq!(json("10"), Json::from(10));
    assert_ne!(json("1"), json("1.0"));
    assert_ne!(json("0.0"), json("-0.0"));
    assert_ne!(json("true"), json("1"));
    assert_eq!(json("18446744073709551615"), Json::from(u64::MAX));
    assert_eq!(json("9223372036854775807"), Json::from(i64::MAX as u64));
}

#[test]
fn numbers_answer_as_the_types_they_fit() {
    let number = |text| json(text).as_number().cloned().unwrap_or_else(|| panic!("{text}"));
    let views = |number: Number| (number.as_i64(), number.as_u64(), number.as_f64(), number.is_integer());
    for (text, expected) in [
        ("7", (Some(7), Some(7), Some(7.0), true)),
        ("-7", (Some(-7), None, Some(-7.0), true)),
        ("18446744073709551615", (None, Some(u64::MAX), Some(18446744073709551615.0), true)),
        ("18446744073709551616", (None, None, Some(18446744073709551616.0), true)),
        ("7.0", (None, None, Some(7.0), false)),
        ("1e999", (None, None, None, false)),
    ] {
        assert_eq!(views(number(text)), expected, "{text}");
    }
    assert_eq!(number(&"9".repeat(400)).as_f64(), None);
    assert_eq!(Number::from_f64(f64::NAN), None);
    assert_eq!(Json::from(f64::INFINITY), Json::Null);
}

#[test]
fn pointers_lead_into_values() {
    let value = json(r#"{"messages":[{"content":"hi"}],"a/b":{"m~n":1},"":2}"#);
    for (pointer, found) in [
        ("/messages/0/content", Some("\"hi\"")),
        ("/messages/1", None),
        ("/messages/x", None),
        ("/messages/0/content/0", None),
        ("/a~1b/m~0n", Some("1")),
        ("/", Some("2")),
        ("messages", None),
    ] {
        assert_eq!(value.at(pointer).map(Json::to_compact).as_deref(), found, "{pointer}");
    }
    assert_eq!(value.at(""), Some(&value));
}

#[test]
fn objects_stay_sorted_under_every_change() {
    let mut object = Object::new().with("b", 1).with("a", 2).with("b", 3);
    assert_eq!(object.to_string(), r#"{"a":2,"b":3}"#);
    assert_eq!(object.insert("0", "x"), None);
    assert_eq!(object.insert("a", 5), Some(Json::from(2)));
    assert_eq!(object.remove("b"), Some(Json::from(3)));
    assert_eq!(object.remove("b"), None);
    *object.get_mut("a").unwrap() = Json::Null;
    assert_eq!(object.to_string(), r#"{"0":"x","a":null}"#);
    assert!(object.contains_key("a") && object.len() == 2);
    let entries = [("b", 1), ("a", 2), ("b", 3)].map(|(key, value)| (key.to_owned(), Json::from(value)));
    assert_eq!(entries.into_iter().collect::<Object>().to_string(), r#"{"a":2,"b":3}"#);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u128,
    price: f64,
    lines: BTreeMap<u32, Option<String>>,
    state: State,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Open,
    Paid { at: i64 },
}

#[test]
fn rust_values_survive_the_way_there_and_back() {
    for order in [
        Order { id: 7, price: 0.1 + 0.2, lines: BTreeMap::from([(3, None)]), state: State::Open },
        Order { id: u128::MAX, price: 2.5, lines: BTreeMap::new(), state: State::Paid { at: -1 } },
        Order { id: 0, price: 5e-324, lines: BTreeMap::from([(1, Some("x".into()))]), state: State::Open },
    ] {
        let value = to_json(&order).unwrap();
        assert_eq!(from_json::<Order>(&value).unwrap(), order, "{value}");
    }
    assert!(to_json(&BTreeMap::from([(vec![1], 1)])).is_err());
    assert_eq!(from_json::<u8>(&json("300")).unwrap_err().line, 0);
}

#[test]
fn serde_json_writes_and_reads_the_same_value() {
    let text = r#"{"a":[1,-2,2.5,"x",null,true],"b":123456789012345678901234567890}"#;
    assert_eq!(serde_json::to_string(&json(text)).unwrap(), text);
    let small = r#"{"a":[1,-2,2.5,"x",null,true],"u":18446744073709551615}"#;
    assert_eq!(serde_json::from_str::<Json>(small).unwrap(), json(small));
    assert_eq!(Json::from(serde_json::from_str::<serde_json::Value>(small).unwrap()), json(small));
    assert!(serde_json::from_str::<Object>("[]").is_err());
    let yaml: Json = serde_yaml::from_str("{b: [1, 2.5, ~, yes], a: x}").unwrap();
    assert_eq!(yaml.to_compact(), r#"{"a":"x","b":[1,2.5,null,"yes"]}"#);
}
