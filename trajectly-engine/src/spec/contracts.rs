//! What the `contracts` block says, as types.

use std::collections::BTreeMap;

use regex::Regex;

use crate::json::{Json, Number, Object};

/// The `contracts` block: what every candidate must obey. By default nothing but the network rule.
#[derive(Debug, Clone, Default)]
pub struct Contracts {
    /// Which tools may be called, and how often.
    pub tools: Tools,
    /// Which operations must, must not or may only in some order happen.
    pub sequence: Sequence,
    /// Tools that write.
    pub side_effects: SideEffects,
    /// Hosts that tools may reach.
    pub network: Network,
    /// What must not leave in a call.
    pub data_leak: DataLeak,
    /// Rules on arguments, by tool name: `contracts.args`, laid over `contracts.tools.schema`.
    pub args: BTreeMap<String, ArgRules>,
}

impl Contracts {
    /// The rules that a child process may check for itself, in the form in which the protocol hands them over: the blocks of the
    /// spec with their defaults filled in, `require_before` as pairs, and no rules on arguments.
    pub fn to_json(&self) -> Object {
        let Contracts { tools, sequence, side_effects, network, data_leak, .. } = self;
        let limits = tools.max_calls_per_tool.iter().map(|(tool, limit)| (tool.clone(), Json::from(*limit)));
        let pairs = sequence.require_before.iter().map(|pair| vec![pair.before.as_str(), pair.after.as_str()]);
        let patterns = data_leak.secret_patterns.iter().map(Regex::as_str);
        Object::new()
            .with(
                "tools",
                Object::new()
                    .with("allow", tools.allow.clone())
                    .with("deny", tools.deny.clone())
                    .with("max_calls_total", tools.max_calls_total)
                    .with("max_calls_per_tool", limits.collect::<Object>()),
            )
            .with(
                "sequence",
                Object::new()
                    .with("require", sequence.require.clone())
                    .with("forbid", sequence.forbid.clone())
                    .with("require_before", pairs.collect::<Json>())
                    .with("eventually", sequence.eventually.clone())
                    .with("never", sequence.never.clone())
                    .with("at_most_once", sequence.at_most_once.clone()),
            )
            .with("side_effects", Object::new().with("deny_write_tools", side_effects.deny_write_tools))
            .with(
                "network",
                Object::new()
                    .with("default", network.default.as_str())
                    .with("allowlist", network.allowlist.clone())
                    .with("allow_domains", network.allow_domains.clone()),
            )
            .with(
                "data_leak",
                Object::new()
                    .with("deny_pii_outbound", data_leak.deny_pii_outbound)
                    .with("outbound_kinds", data_leak.outbound.names())
                    .with("secret_patterns", patterns.collect::<Json>()),
            )
            .with("version", "v1")
    }
}

/// `contracts.tools`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tools {
    /// The only tools that may be called; empty allows all.
    pub allow: Vec<String>,
    /// Tools that must not be called.
    pub deny: Vec<String>,
    /// How many tool calls there may be in all.
    pub max_calls_total: Option<u64>,
    /// How many calls there may be of a tool, in the order of the file.
    pub max_calls_per_tool: Vec<(String, u64)>,
}

/// `contracts.sequence`. An operation is written `tool:NAME`, `llm:PROVIDER:MODEL` or `step:NAME`; a bare name is a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence {
    /// Operations that happen, in this order.
    pub require: Vec<String>,
    /// Operations that never happen.
    pub forbid: Vec<String>,
    /// Pairs of which the first happens before the second.
    pub require_before: Vec<Before>,
    /// Operations that happen at some time.
    pub eventually: Vec<String>,
    /// Operations that never happen.
    pub never: Vec<String>,
    /// Operations that happen at most one time.
    pub at_most_once: Vec<String>,
}

/// One element of `contracts.sequence.require_before`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// The operation that comes first.
    pub before: String,
    /// The operation that waits for it.
    pub after: String,
}

/// `contracts.side_effects`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SideEffects {
    /// Whether tools whose name says that they write are denied. False by default.
    pub deny_write_tools: bool,
}

/// `contracts.network`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Network {
    /// What holds for a host in neither list.
    pub default: NetworkDefault,
    /// Hosts that may be reached: exact names, or `*.suffix`, with or without `:port`. Also what the network guard lets through.
    pub allowlist: Vec<String>,
    /// More hosts that may be reached.
    pub allow_domains: Vec<String>,
}

impl Network {
    /// The hosts of both lists, in order, those of `allowlist` first.
    pub fn allowed(&self) -> impl Iterator<Item = AllowedHost<'_>> {
        self.allowlist.iter().chain(&self.allow_domains).filter_map(|entry| AllowedHost::parse(entry))
    }
}

/// An entry of [`Network::allowlist`] or [`Network::allow_domains`], taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowedHost<'a> {
    /// A name or an address, or `*.` and what a name ends in. An IPv6 address is without its brackets.
    pub host: &'a str,
    /// The port that the entry names. It narrows what the network guard lets through; contracts look at hosts only.
    pub port: Option<u16>,
}

impl<'a> AllowedHost<'a> {
    /// `host`, `host:port`, `address` or `[address]:port`. None for anything else, which allows nothing.
    pub fn parse(entry: &'a str) -> Option<AllowedHost<'a>> {
        let port = |text: &str| text.parse().ok().filter(|port: &u16| *port > 0 && !text.starts_with('+'));
        let (host, port) = match entry.strip_prefix('[') {
            Some(rest) => match rest.split_once(']')? {
                (address, "") => (address, None),
                (address, rest) => (address, Some(port(rest.strip_prefix(':')?)?)),
            },
            None => match entry.rsplit_once(':') {
                // An IPv6 address has colons of its own.
                Some((before, _)) if before.contains(':') => (entry, None),
                Some((host, after)) => (host, Some(port(after)?)),
                None => (entry, None),
            },
        };
        let is_host = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || "/[]@".contains(c));
        is_host.then_some(AllowedHost { host, port })
    }
}

/// `contracts.network.default`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NetworkDefault {
    /// A call that reaches a host in neither list, or none that can be told, is a violation.
    #[default]
    Deny,
    /// Such a call is a violation only if there is a list, and it names a host.
    Allow,
}

impl NetworkDefault {
    /// `deny` or `allow`.
    pub const fn as_str(self) -> &'static str {
        match self {
            NetworkDefault::Deny => "deny",
            NetworkDefault::Allow => "allow",
        }
    }
}

/// `contracts.data_leak`.
#[derive(Debug, Clone, Default)]
pub struct DataLeak {
    /// Whether e-mail addresses and telephone numbers are kept from leaving. False by default.
    pub deny_pii_outbound: bool,
    /// The calls that are looked at; both kinds by default.
    pub outbound: Outbound,
    /// Patterns of secrets that are kept from leaving.
    pub secret_patterns: Vec<Regex>,
}

/// `contracts.data_leak.outbound_kinds`: the calls that leave the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outbound {
    /// `TOOL_CALL`: what tools are called with.
    pub tool_calls: bool,
    /// `LLM_REQUEST`: what models are asked.
    pub llm_requests: bool,
}

impl Outbound {
    fn names(self) -> Vec<&'static str> {
        let kinds = [("TOOL_CALL", self.tool_calls), ("LLM_REQUEST", self.llm_requests)];
        kinds.into_iter().filter(|(_, looked_at)| *looked_at).map(|(kind, _)| kind).collect()
    }
}

impl Default for Outbound {
    fn default() -> Outbound {
        Outbound { tool_calls: true, llm_requests: true }
    }
}

/// What one tool's arguments must be. Positional arguments count as `arg_0`, `arg_1`, ….
#[derive(Debug, Clone, Default)]
pub struct ArgRules {
    /// Arguments that must be there, `null` included.
    pub required_keys: Vec<String>,
    /// What an argument must be when it is there, in the order of the file.
    pub fields: Vec<(String, FieldRule)>,
    /// Which block states each of the two, if one does.
    pub(crate) required_from: Option<ArgSource>,
    pub(crate) fields_from: Option<ArgSource>,
}

/// The block that a rule on arguments stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgSource {
    /// `contracts.args`
    Args,
    /// `contracts.tools.schema`
    Schema,
}

/// What one argument must be.
#[derive(Debug, Clone, Default)]
pub struct FieldRule {
    /// The type, if it matters.
    pub kind: Option<FieldType>,
    /// The least number.
    pub min: Option<Number>,
    /// The greatest number.
    pub max: Option<Number>,
    /// The values there are.
    pub choices: Option<Vec<Json>>,
    /// A pattern that a text must match somewhere.
    pub pattern: Option<Regex>,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// A text.
    String,
    /// A number, or a text that is a finite decimal number.
    Number,
    /// A number without a fraction, or such a text.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A mapping.
    Object,
}

impl FieldType {
    /// The word that specs use: `string`.
    pub const fn as_str(self) -> &'static str {
        match self {
            FieldType::String => "string",
            FieldType::Number => "number",
            FieldType::Integer => "integer",
            FieldType::Boolean => "boolean",
            FieldType::Array => "array",
            FieldType::Object => "object",
        }
    }
}
