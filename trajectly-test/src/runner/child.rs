//! The process in which an agent runs: its command line and its environment.

use std::process::Command;

use trajectly_engine::fixture::Fixtures;
use trajectly_engine::json::Json;
use trajectly_engine::spec::Spec;

use super::lookup::Lookup;
use super::seeds::Seeds;
use crate::gateway::SessionUrl;
use crate::harness::Case;
use crate::protocol;
use crate::store::{RunDir, Store};

/// Stands where a client wants a key. Real keys never reach the agent.
const DUMMY_KEY: &str = "trajectly-no-key-needed";

/// Base-URL variables in every spelling that OpenAI clients read.
const OPENAI_URLS: [&str; 2] = ["OPENAI_BASE_URL", "OPENAI_API_BASE"];
/// Keys of model providers, which a replay has no use for.
const KEYS: [&str; 6] =
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY"];
const PROXIES: [&str; 6] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// What a child is started with.
pub(super) struct Setting<'a> {
    pub(super) case: &'a Case,
    pub(super) spec: &'a Spec,
    pub(super) store: &'a Store,
    pub(super) dir: &'a RunDir,
    pub(super) session: &'a SessionUrl,
    pub(super) seeds: Seeds,
    /// What a replay answers calls with.
    pub(super) fixtures: Option<&'a Fixtures>,
}

impl Setting<'_> {
    pub(super) fn command(&self) -> Result<Command, String> {
        let mut command = match self.case.function {
            Some(function) => {
                let binary = std::env::current_exe()
                    .map_err(|error| format!("error: cannot find this test binary again: {error}"))?;
                let mut command = Command::new(binary);
                // What libtest needs to come to the one function; `trajectly_test::main!` looks at the variable only.
                command.args([
                    self.case.name.as_str(),
                    "--exact",
                    "--nocapture",
                    "--include-ignored",
                    "--test-threads=1",
                ]);
                command.env(protocol::CHILD, function.path());
                command
            }
            None => {
                let line = self.spec.require_command().map_err(|error| error.to_string())?;
                let mut command = Command::new("/bin/sh");
                command.arg("-c").arg(line).current_dir(&self.spec.workdir);
                command
            }
        };
        self.environment(&mut command);
        Ok(command)
    }

    /// The test's own environment, over that of the harness. What the harness needs wins over the spec's `env`.
    fn environment(&self, command: &mut Command) {
        let spec = self.spec;
        let lookup = Lookup::of(spec, self.fixtures);
        command.envs(spec.env.iter().map(|(name, value)| (name, value)));
        for name in protocol::NOT_HANDED_ON {
            command.env_remove(name);
        }
        command
            .env("PYTHONHASHSEED", "0")
            .env("LC_ALL", "C.UTF-8")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env(protocol::MODE, if self.fixtures.is_some() { "replay" } else { "record" })
            .env(protocol::EVENTS_FILE, self.dir.events())
            .env(protocol::SESSION_URL, self.session.base())
            .env(protocol::SPEC_NAME, &spec.name)
            .env(protocol::CONTRACTS_JSON, lookup.contracts.to_compact())
            .env(protocol::FIXTURE_POLICY, lookup.policy)
            .env(protocol::STRICT, if lookup.strict { "1" } else { "0" })
            .env(protocol::PROJECT_ROOT, self.store.root())
            .env(protocol::DETERMINISM_ACTIVE, "1")
            .env(protocol::DETERMINISM_JSON, Json::from(spec.determinism.to_json()).to_compact());
        self.seeds.give_to(command);
        let openai = self.session.openai();
        command.envs(OPENAI_URLS.map(|name| (name, openai.as_str())));
        command.env("OPENAI_API_KEY", DUMMY_KEY);
        if self.fixtures.is_some() {
            command.env(protocol::FIXTURES_FILE, self.dir.fixtures());
            command.envs(KEYS.map(|name| (name, DUMMY_KEY)));
            self.guard(command);
        }
    }

    /// Points every proxy at the gateway, which refuses: a client that would leave the machine is told why it cannot.
    fn guard(&self, command: &mut Command) {
        let network = &self.spec.contracts.network;
        let mut direct = vec!["127.0.0.1", "localhost", "::1"];
        // Without its port, which few clients look for here; the other half of the guard goes by it.
        direct.extend(network.allowed().map(|allowed| allowed.host.strip_prefix('*').unwrap_or(allowed.host)));
        let direct = direct.join(",");
        let proxy = self.session.proxy();
        command.envs(PROXIES.map(|name| (name, proxy.as_str())));
        command.env("NO_PROXY", &direct).env("no_proxy", &direct);
        let allowed: Vec<_> = network.allowed().map(|allowed| allowed.host).collect();
        if !allowed.is_empty() {
            command.env(protocol::NETWORK_ALLOWLIST, allowed.join(","));
        }
    }
}
