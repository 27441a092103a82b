//! Texts read back as what was written.

use proptest::collection::vec;
use proptest::prelude::*;
use trajectly_engine::canonical::{Strip, canonical_text, hash};
use trajectly_engine::json::{Json, JsonPath, Object};
use trajectly_engine::trace::Trace;

use crate::config;
use crate::generate::{step, trace, value};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn json_reads_back_as_it_was_written(value in value()) {
        prop_assert_eq!(&Json::parse(&value.to_compact()).expect("JSON"), &value);
        prop_assert_eq!(&Json::parse(&value.to_pretty()).expect("JSON"), &value);
    }

    #[test]
    fn the_canonical_form_of_a_canonical_form_is_itself(value in value()) {
        for strip in [Strip::Keep, Strip::Volatile] {
            let once = canonical_text(&value, strip);
            let again = Json::parse(&once).expect("JSON");
            prop_assert_eq!(&canonical_text(&again, strip), &once);
            prop_assert_eq!(hash(&again, strip), hash(&value, strip));
        }
    }

    #[test]
    fn a_trace_reads_back_as_it_was_written(steps in vec(step(), 0..6), payload in value(), meta in value()) {
        let mut trace = trace(&steps);
        for event in &mut trace.events {
            event.payload.insert("value", payload.clone());
            event.meta.insert("value", meta.clone());
        }
        let text = trace.to_jsonl();
        prop_assert_eq!(text.lines().count(), trace.events.len());
        let read = Trace::parse(&text, "t.jsonl").expect("a trace");
        prop_assert_eq!(&read, &trace);
        prop_assert_eq!(read.to_jsonl(), text);
    }

    #[test]
    fn a_path_leads_to_where_it_was_found(value in value(), depth in 1usize..4) {
        let object = Object::new().with("value", value);
        let everything: JsonPath = format!("${}", "[*]".repeat(depth)).parse().expect("a path");
        for (place, found) in everything.find(&object) {
            let path: JsonPath = place.parse().expect("a path");
            prop_assert_eq!(path.find(&object), [(place, found)]);
        }
    }
}
