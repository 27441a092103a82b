//! Any line has an answer, which is one line of JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trajectly_engine::batch::answer;
use trajectly_engine::json::Json;

fuzz_target!(|line: &[u8]| {
    let text = answer(line).to_string();
    assert!(!text.contains('\n'));
    let parsed = Json::parse(&text).expect("an answer is JSON");
    assert!(parsed.get("result").is_some() != parsed.get("error").is_some());
});
