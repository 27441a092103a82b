//! What holds an agent back: the network of a replay, the spec's limits.

use std::net::TcpListener;

use serde_json::Value;
use trajectly_tests::{Binary, Output, Project, Provider, Run, agent_program};

/// An agent that runs an errand, as a function and as a command.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Function,
    Command,
}

/// A project with such an agent.
struct Agent {
    project: Project,
    kind: Kind,
}

impl Agent {
    fn both() -> [Self; 2] {
        [Kind::Function, Kind::Command].map(|kind| Self { project: Project::new(), kind })
    }

    /// Both, recorded without an errand.
    fn both_recorded() -> [Self; 2] {
        let agents = Self::both();
        for agent in &agents {
            agent.set_spec("");
            agent.run("").update("1").output().passes();
        }
        agents
    }

    /// Writes the spec, with these keys more.
    fn set_spec(&self, more: &str) {
        let (file, head) = match self.kind {
            Kind::Function => ("specs/greet.agent.yaml", ""),
            // The agent is a child of the shell, which has more to do.
            Kind::Command => ("commands/errand.agent.yaml", "command: '\"$AGENT\" ada; exit $?'\n"),
        };
        self.project.write(file, &format!("schema_version: \"0.4\"\nname: errand\n{head}{more}"));
    }

    fn run(&self, errand: &str) -> Run {
        let run = match self.kind {
            Kind::Function => self.project.agents(&["greet"]),
            Kind::Command => self.project.run(Binary::Second).args(["--exact", "commands/errand.agent.yaml"]),
        };
        let run = run.env("AGENT", agent_program());
        if errand.is_empty() { run } else { run.env("ERRAND", errand) }
    }

    /// What the report says that kept the last replay from the network.
    fn guard(&self) -> String {
        guard_of(&self.project, if matches!(self.kind, Kind::Function) { "greet" } else { "commands-errand" })
    }
}

fn guard_of(project: &Project, report: &str) -> String {
    let report = project.store().read(&format!("reports/{report}.json"));
    let report: Value = serde_json::from_str(&report).expect("a report is JSON");
    report["metadata"]["network_guard"].as_str().expect("the report of a replay names the guard").to_owned()
}

/// Somebody to connect to.
fn somewhere() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
    let address = listener.local_addr().expect("a listener has an address").to_string();
    (listener, address)
}

#[test]
fn a_replay_reaches_what_is_allowed_and_nothing_else() {
    let (_listener, address) = somewhere();
    let (_other_listener, other) = somewhere();
    let connect = format!("connect {address}");
    for agent in Agent::both_recorded() {
        for allowlist in [String::new(), format!("contracts: {{network: {{allowlist: ['{other}']}}}}\n")] {
            agent.set_spec(&allowlist);
            let output = agent.run(&connect).output();
            match agent.guard().as_str() {
                "landlock+proxy" => drop(output.fails().says(&[
                    "AGENT_RUN_FAILED",
                    "Permission denied",
                    "a replay's network is closed but for the gateway",
                ])),
                // This kernel cannot, and says so where there is something to say.
                guard => assert_eq!((guard, output.code), ("proxy", 0), "{output}"),
            }
        }
        for list in ["allowlist", "allow_domains"] {
            agent.set_spec(&format!("contracts: {{network: {{{list}: ['{address}']}}}}\n"));
            agent.run(&connect).output().passes();
        }
    }
}

#[test]
fn only_a_replay_is_kept_from_the_network() {
    let (_listener, address) = somewhere();
    let connect = format!("connect {address}");
    for agent in Agent::both() {
        agent.set_spec("");
        agent.run(&connect).update("1").output().passes();
        agent.set_spec("replay: {mode: online}\n");
        agent.run(&connect).output().passes();
    }
}

#[test]
fn the_guard_leaves_listening_and_files_alone() {
    for agent in Agent::both_recorded() {
        for errand in ["listen", "move"] {
            agent.run(errand).output().passes();
        }
    }
}

#[test]
fn where_the_kernel_does_not_help_the_run_says_so() {
    for agent in Agent::both_recorded() {
        let replay = |errand: &str| {
            let run = agent.run(errand);
            // A process can be restricted so many times and no more, so the harness cannot restrict the agent.
            let restricted = std::thread::spawn(|| {
                exhaust_landlock();
                run.output()
            });
            restricted.join().expect("nothing panics there")
        };
        replay("").passes();
        assert_eq!(agent.guard(), "proxy");
        replay("fail").fails().says(&["only proxy variables kept the agent from the network"]);
        assert_eq!(agent.guard(), "proxy");
    }
}

/// Restricts this thread, to nothing that matters here, until the kernel has enough.
#[cfg(target_os = "linux")]
fn exhaust_landlock() {
    use landlock::{AccessFs, Ruleset, RulesetAttr as _};
    let restrict = || Ruleset::default().handle_access(AccessFs::MakeBlock)?.create()?.restrict_self();
    for _ in 0..64 {
        if restrict().is_err() {
            return;
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn exhaust_landlock() {}

#[test]
fn a_client_that_goes_by_the_proxy_variables_is_told_why_not() {
    let project = Project::new();
    let spec = "commands/elsewhere.agent.yaml";
    let set_spec = |variables: &str, more: &str| {
        let head = "schema_version: \"0.4\"\nname: elsewhere\n";
        project.write(spec, &format!("{head}command: '{variables}\"$CLIENT\" ask'\n{more}"));
    };
    let run = || {
        let run = project.run(Binary::Second).args(["--exact", spec]);
        run.env("CLIENT", env!("CARGO_BIN_EXE_openai_client"))
    };
    set_spec("", "");
    let provider = Provider::saying("Blue");
    run().update("1").env("OPENAI_BASE_URL", provider.url()).output().passes();
    for (scheme, code) in [("http", "CONTRACT_NETWORK_ALLOWLIST_BLOCKED"), ("https", "AGENT_RUN_FAILED")] {
        set_spec(
            &format!("OPENAI_BASE_URL={scheme}://api.example.com/v1 "),
            "contracts: {network: {allowlist: [else.example.com]}}\n",
        );
        run().output().fails().says(&[code, "the agent tried to reach api.example.com"]);
    }
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn a_command_stays_within_its_limits() {
    for (limit, within, beyond, failure) in [
        ("open_files: 40", "open 10", "open 60", "Too many open files"),
        ("memory_mb: 1000", "allocate 10", "allocate 2000", "cannot allocate"),
        ("output_bytes: 5000", "print 1000", "print 9000", "it printed more than 5000 bytes, its limit"),
    ] {
        let name = limit.split(':').next().expect("a limit has a name");
        let unenforced = format!("nothing held the agent to `limits.{name}`");
        let is_enforced = cfg!(target_os = "linux") || name == "output_bytes";
        let check = |output: Output| match is_enforced {
            true => output.fails().says(&["AGENT_RUN_FAILED", failure, &format!("under `limits`: {limit}")]),
            false => output.passes().says(&[&unenforced]),
        };
        let agent = Agent { project: Project::new(), kind: Kind::Command };
        agent.set_spec(&format!("limits: {{{limit}}}\n"));
        check(agent.run(beyond).update("1").output());
        assert!(!is_enforced || !agent.project.store().has("baselines"), "{limit}");
        agent.run(within).update("1").output().passes();
        check(agent.run(beyond).output());
        agent.run(within).output().passes();
    }
}
