//! Canonical text and hashes, against the answers of the Python tool.

mod common;

use common::{json, text, vectors};
use trajectly_engine::canonical::{Hash, Strip, canonical_text, hash, sha256_bytes, stable_hash};
use trajectly_engine::json::Json;

#[test]
fn text_and_hash_agree_with_the_vectors() {
    for case in vectors("functions/canonical.jsonl") {
        let source = text(&case, "json");
        let flags: Vec<_> = case.get("flags").and_then(Json::as_array).into_iter().flatten().collect();
        if flags.contains(&&Json::from("nonfinite-literal")) {
            assert!(Json::parse(source).is_err(), "NaN and Infinity are no JSON: {case}");
            continue;
        }
        let value = json(source);
        for (strip, text_key, hash_key) in
            [(Strip::Keep, "canonical", "sha256"), (Strip::Volatile, "canonical_stripped", "sha256_stripped")]
        {
            assert_eq!(canonical_text(&value, strip), text(&case, text_key), "{case}");
            assert_eq!(hash(&value, strip).to_string(), text(&case, hash_key), "{case}");
        }
    }
}

#[test]
fn stable_hash_agrees_with_the_vectors() {
    for case in vectors("functions/stable-hash.jsonl") {
        let source = text(&case, "payload_json");
        let Ok(payload) = Json::parse(source) else {
            assert!(source.contains("NaN") || source.contains("Infinity"), "{case}");
            continue;
        };
        let payload = payload.as_object().unwrap();
        let found = stable_hash(text(&case, "kind"), payload);
        assert_eq!(found.to_string(), text(&case, "stable_hash"), "{case}");
    }
}

#[test]
fn floats_are_rounded_to_twelve_decimals_and_written_as_python_writes_them() {
    for (written, canonical) in [
        ("0.0001220703125", "0.000122070312"),
        ("0.0003662109375", "0.000366210938"),
        ("-4e-13", "-0.0"),
        ("5e-13", "0.0"),
        ("6e-13", "1e-12"),
        ("1e-5", "1e-05"),
        ("0.0001", "0.0001"),
        ("123456789012345.67", "123456789012345.67"),
        ("1e15", "1000000000000000.0"),
        ("1e16", "1e+16"),
        ("1.5E+300", "1.5e+300"),
        ("9007199254740993.0", "9007199254740992.0"),
        // Two texts as short and as near: the one that ends evenly.
        ("1320018733582062.25", "1320018733582062.2"),
        ("181472515667981.625", "181472515667981.62"),
        ("9007199254740993", "9007199254740993"),
        ("2e-5", "2e-05"),
        ("-123.456", "-123.456"),
        ("100.0", "100.0"),
        ("1e309", "\"Infinity\""),
        ("-1e309", "\"-Infinity\""),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ] {
        assert_eq!(canonical_text(&json(written), Strip::Keep), canonical, "{written}");
    }
}

#[test]
fn a_long_text_hashes_as_its_canonical_bytes_do() {
    for length in [0, 1, 500, 509, 510, 511, 512, 513, 1024, 5000] {
        let value = Json::from(vec!["é".repeat(length), "x".repeat(length)]);
        let canonical = canonical_text(&value, Strip::Keep);
        assert_eq!(hash(&value, Strip::Keep), sha256_bytes(canonical.as_bytes()), "{length}");
    }
}

#[test]
fn a_hash_is_read_back_from_its_text() {
    let digest = sha256_bytes(b"");
    let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest.to_string(), text);
    assert_eq!(text.parse(), Ok(digest));
    assert_eq!(serde_json::from_str::<Hash>(&serde_json::to_string(&digest).unwrap()).unwrap(), digest);
    for wrong in ["", "e3b0", &text[1..], &text.replace('e', "g"), &format!("{text}0")] {
        assert!(wrong.parse::<Hash>().is_err(), "{wrong}");
    }
}
