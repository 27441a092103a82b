//! Reading the `contracts` block.

use std::collections::BTreeMap;

use super::contracts::*;
use super::read::{Field, Keys};

/// The one version of the block there is.
const VERSION: &str = "v1";

pub(super) fn contracts(keys: &mut Keys<'_>) -> Contracts {
    if let Some(field) = keys.take("version") {
        field.choice(&[(VERSION, ())]);
    }
    keys.not_yet("config");
    let mut args = BTreeMap::new();
    let tools = keys.block("tools", |keys| {
        if let Some(schema) = keys.take("schema") {
            lay_over(&mut args, &schema, ArgSource::Schema);
        }
        tools(keys)
    });
    if let Some(field) = keys.take("args") {
        lay_over(&mut args, &field, ArgSource::Args);
    }
    Contracts {
        tools,
        sequence: keys.block("sequence", sequence),
        side_effects: keys
            .block("side_effects", |keys| SideEffects { deny_write_tools: keys.flag("deny_write_tools") }),
        network: keys.block("network", network),
        data_leak: keys.block("data_leak", data_leak),
        args,
    }
}

fn tools(keys: &mut Keys<'_>) -> Tools {
    let allow = keys.names("allow");
    let denied = keys.take("deny").and_then(|field| field.list()).unwrap_or_default();
    let deny = denied.iter().filter_map(|field| {
        let name = field.name()?;
        if allow.contains(&name) {
            field.problem(format!("`{name}` is both allowed and denied"), Some("take it out of one of the two lists"));
        }
        Some(name)
    });
    Tools {
        deny: deny.collect(),
        max_calls_total: keys.count("max_calls_total"),
        max_calls_per_tool: keys.take("max_calls_per_tool").map(|field| limits(&field)).unwrap_or_default(),
        allow,
    }
}

fn limits(field: &Field<'_>) -> Vec<(String, u64)> {
    let entries = field.entries().unwrap_or_default();
    entries.into_iter().filter_map(|(name, field)| Some((name, field.count()?))).collect()
}

fn sequence(keys: &mut Keys<'_>) -> Sequence {
    let pairs = keys.take("require_before").and_then(|field| field.list()).unwrap_or_default();
    Sequence {
        require: keys.names("require"),
        forbid: keys.names("forbid"),
        require_before: pairs.iter().filter_map(before).collect(),
        eventually: keys.names("eventually"),
        never: keys.names("never"),
        at_most_once: keys.names("at_most_once"),
    }
}

fn before(field: &Field<'_>) -> Option<Before> {
    let [before, after] = field.block(|keys| {
        ["before", "after"].map(|key| match keys.take(key) {
            Some(field) => field.name(),
            None => {
                keys.problem(&format!("`{key}` is missing"), Some("write {before: FIRST, after: SECOND}"));
                None
            }
        })
    });
    Some(Before { before: before?, after: after? })
}

fn network(keys: &mut Keys<'_>) -> Network {
    let default = [("deny", NetworkDefault::Deny), ("allow", NetworkDefault::Allow)];
    Network {
        default: keys.take("default").and_then(|field| field.choice(&default)).unwrap_or_default(),
        allowlist: hosts(keys, "allowlist"),
        allow_domains: hosts(keys, "allow_domains"),
    }
}

/// Hosts in lower case, without surrounding blanks.
fn hosts(keys: &mut Keys<'_>, key: &'static str) -> Vec<String> {
    keys.names(key).into_iter().map(|host| host.trim().to_lowercase()).collect()
}

fn data_leak(keys: &mut Keys<'_>) -> DataLeak {
    DataLeak {
        deny_pii_outbound: keys.flag("deny_pii_outbound"),
        outbound: keys.take("outbound_kinds").and_then(|field| outbound(&field)).unwrap_or_default(),
        secret_patterns: keys.take("secret_patterns").and_then(|field| field.patterns()).unwrap_or_default(),
    }
}

fn outbound(field: &Field<'_>) -> Option<Outbound> {
    let kinds = field.list()?;
    if kinds.is_empty() {
        return None;
    }
    let mut outbound = Outbound { tool_calls: false, llm_requests: false };
    for kind in kinds {
        match kind.choice(&[("TOOL_CALL", true), ("LLM_REQUEST", false)]) {
            Some(true) => outbound.tool_calls = true,
            Some(false) => outbound.llm_requests = true,
            None => {}
        }
    }
    Some(outbound)
}

/// Lays the rules of one block over those read before: what a tool's rules state here replaces what they stated there.
fn lay_over(args: &mut BTreeMap<String, ArgRules>, block: &Field<'_>, source: ArgSource) {
    for (tool, field) in block.entries().unwrap_or_default() {
        let rules = args.entry(tool).or_default();
        field.block(|keys| {
            if let Some(required) = keys.take("required_keys") {
                rules.required_keys = required.texts().unwrap_or_default();
                rules.required_from = source;
            }
            if let Some(fields) = keys.take("fields") {
                let fields = fields.entries().unwrap_or_default();
                rules.fields = fields.into_iter().map(|(name, field)| (name, field.block(field_rule))).collect();
                rules.fields_from = source;
            }
        });
    }
}

fn field_rule(keys: &mut Keys<'_>) -> FieldRule {
    let types = [
        ("string", FieldType::String),
        ("number", FieldType::Number),
        ("integer", FieldType::Integer),
        ("boolean", FieldType::Boolean),
        ("array", FieldType::Array),
        ("object", FieldType::Object),
    ];
    FieldRule {
        kind: keys.take("type").and_then(|field| field.choice(&types)),
        min: keys.take("min").and_then(|field| field.number()),
        max: keys.take("max").and_then(|field| field.number()),
        choices: keys.take("enum").and_then(|field| Some(field.list()?.iter().map(Field::json).collect())),
        pattern: keys.take("regex").and_then(|field| field.pattern()),
    }
}
