//! File names made from the names of specs.

/// The name under which the files of a spec are kept: lower-case ASCII letters and digits, every run of other
/// characters one `-`, none at either end; `spec` where nothing is left.
///
/// Two names may share a slug, and then share their files.
///
/// ```
/// use trajectly_engine::slug::slug;
///
/// assert_eq!(slug(" TRT: code review "), "trt-code-review");
/// assert_eq!(slug("工具"), "spec");
/// ```
pub fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "spec".to_owned() } else { words.join("-") }
}
