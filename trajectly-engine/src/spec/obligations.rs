//! Reading the `contracts` block.

use std::collections::{BTreeMap, HashSet};

use super::contracts::*;
use super::keys::Keys;
use super::node::Value;
use super::read::Field;

/// The one version of the block there is.
const VERSION: &str = "v1";

pub(super) fn contracts(keys: &mut Keys<'_>) -> Contracts {
    if let Some(field) = keys.take("version") {
        field.choice(&[(VERSION, ())]);
    }
    keys.only_in_files("config");
    let mut args = BTreeMap::new();
    if let Some(field) = keys.take("args") {
        add_rules(&mut args, &field, ArgSource::Args);
    }
    let tools = keys.block("tools", |keys| {
        if let Some(schema) = keys.take("schema") {
            add_rules(&mut args, &schema, ArgSource::Schema);
        }
        tools(keys)
    });
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
    let allowed: HashSet<&str> = allow.iter().map(String::as_str).collect();
    let denied = keys.take("deny").and_then(|field| field.list()).unwrap_or_default();
    let deny = denied.iter().filter_map(|field| {
        let name = field.name()?;
        if allowed.contains(name.as_str()) {
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
    let [before, after] = field.mapping(|keys| {
        ["before", "after"].map(|key| keys.required(key, "write {before: FIRST, after: SECOND}")?.name())
    });
    Some(Before { before: before?, after: after? })
}

fn network(keys: &mut Keys<'_>) -> Network {
    let default = [("deny", NetworkDefault::Deny), ("allow", NetworkDefault::Allow)];
    Network {
        default: keys.take("default").and_then(|field| field.loose_choice(&default)).unwrap_or_default(),
        allowlist: hosts(keys, "allowlist"),
        allow_domains: hosts(keys, "allow_domains"),
    }
}

/// Hosts in lower case, without surrounding blanks.
fn hosts(keys: &mut Keys<'_>, key: &'static str) -> Vec<String> {
    let host = |field: &Field<'_>| {
        let host = field.string()?.trim().to_lowercase();
        if host.is_empty() {
            field.warn("a blank host allows nothing", Some("remove it"));
        } else if AllowedHost::parse(&host).is_none() {
            field.warn(
                format!("`{host}` is no host and allows nothing"),
                Some("write `host`, `*.suffix` or `host:port`"),
            );
        }
        (!host.is_empty()).then_some(host)
    };
    keys.take(key).and_then(|field| Some(field.list()?.iter().filter_map(host).collect())).unwrap_or_default()
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

/// Adds what a block says of each tool's arguments, where no block before it has said it: what `args` states of a tool replaces
/// what `tools.schema` states.
fn add_rules(args: &mut BTreeMap<String, ArgRules>, block: &Field<'_>, source: ArgSource) {
    for (tool, field) in block.entries().unwrap_or_default() {
        let rules = args.entry(tool).or_default();
        field.block(|keys| {
            if let Some(required) = keys.take("required_keys").filter(|_| rules.required_from.is_none()) {
                rules.required_keys = required.texts().unwrap_or_default();
                rules.required_from = Some(source);
            }
            if let Some(fields) = keys.take("fields").filter(|_| rules.fields_from.is_none()) {
                let fields = if fields.is_empty_list() { Vec::new() } else { fields.entries().unwrap_or_default() };
                rules.fields = fields.into_iter().map(|(name, field)| (name, field.block(field_rule))).collect();
                rules.fields_from = Some(source);
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
    let mut part = |key, what, fits: fn(&Value) -> bool| keys.take(key).and_then(|field| field.fitting(what, fits));
    let mut bound = |key| part(key, "a number", |value| matches!(value, Value::Number(_)))?.number();
    FieldRule {
        min: bound("min"),
        max: bound("max"),
        choices: part("enum", "a list", |value| matches!(value, Value::List(_)))
            .and_then(|field| Some(field.list()?.iter().map(Field::json).collect())),
        pattern: part("regex", "a string", |value| matches!(value, Value::String(_))).and_then(|field| field.pattern()),
        kind: keys.take("type").and_then(Field::filled).and_then(|field| field.loose_choice(&types)),
    }
}
