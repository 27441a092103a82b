//! What `#[agent_test]` leaves in a test binary with `harness = false`: every signature and option, registered.
//!
//! Nothing is run here, so there is no baseline; that these compile without a warning is half of the test.
#![forbid(unsafe_code)]
#![warn(clippy::pedantic, unreachable_pub, unused_qualifications)]

use trajectly_test::__private::{AgentTest, Registration, inventory};
use trajectly_test::{Session, agent_test};

mod reexports {
    pub(crate) use trajectly_test as ours;
}

mod signatures {
    use super::{Session, agent_test};

    type Answer<T> = Result<T, Box<dyn std::error::Error>>;

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    fn nothing() {
        #![expect(unused_variables, reason = "inner attributes stay inside")]
        let unused = 1;
    }

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    fn owned(session: Session) {
        drop(session);
    }

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    fn borrowed(session: &Session) -> Result<String, String> {
        url(session).ok_or_else(|| "no gateway".to_owned())
    }

    fn url(session: &Session) -> Option<String> {
        Some(session.openai_base_url()).filter(|url| !url.is_empty())
    }

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    async fn asynchronous(mut session: Session) -> Answer<Vec<String>> {
        session = std::future::ready(session).await;
        Ok(vec![session.openai_base_url()])
    }

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    async fn asynchronous_borrowed(session: &Session) -> std::io::Result<usize> {
        let read = std::fs::read(session.openai_base_url())?;
        Ok(std::future::ready(read).await.len())
    }

    macro_rules! agent {
        ($name:ident, $spec:literal, $timeout:literal, $session:ty) => {
            #[agent_test(spec = $spec, timeout = $timeout)]
            fn $name(session: $session) {
                let _ = session.openai_base_url();
            }
        };
    }

    agent!(written_by_a_macro, "tests/specs/triage.agent.yaml", "30s", &Session);
}

mod options {
    use super::{agent_test, reexports};

    #[agent_test(
        spec = "tests/specs/triage.agent.yaml",
        name = "a refund, twice",
        timeout = 2.5,
        expect_fail = "FIXTURE_MISSING"
    )]
    fn most() {}

    #[agent_test(timeout = "500ms", spec = r"tests/specs/triage.agent.yaml", ignore = "needs a desk")]
    fn ignored() {}

    #[agent_test(spec = "tests/specs/triage.agent.yaml", crate = reexports::ours)]
    fn elsewhere() {}

    /// With company.
    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    #[ignore = "as libtest spells it"]
    #[expect(non_snake_case, reason = "as the desk calls it")]
    pub(crate) fn With_Company() {}

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    #[cfg_attr(any(), ignore = "never")]
    #[cfg_attr(all(), cfg_attr(all(), ignore = "always"), inline)]
    fn sometimes() {}

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    #[cfg(any())]
    fn absent() {
        does_not_compile()
    }

    #[agent_test(spec = "tests/specs/triage.agent.yaml")]
    fn r#match() {
        // What a test calls may have the name of another test.
        fn most() {}
        most();
    }
}

/// Name, title, timeout, reason to ignore, expected code of each registered test.
type Row = (&'static str, Option<&'static str>, Option<u64>, Option<&'static str>, Option<&'static str>);

fn registered(module: &str) -> Vec<Row> {
    let mut tests: Vec<&AgentTest> = inventory::iter::<Registration>()
        .map(|registration| registration.0)
        .filter(|test| test.module_path == format!("agents::{module}"))
        .collect();
    tests.sort_by_key(|test| test.line);
    for test in &tests {
        assert_eq!(test.spec, "tests/specs/triage.agent.yaml", "{}", test.name);
        assert_eq!(test.file, file!(), "{}", test.name);
        assert_eq!(test.manifest_dir, env!("CARGO_MANIFEST_DIR"), "{}", test.name);
        assert_eq!(test.package, "trajectly-macros", "{}", test.name);
        assert_eq!(test.crate_name, "agents", "{}", test.name);
        assert_eq!(test.ignored, test.ignore_reason.is_some(), "{}", test.name);
    }
    tests.iter().map(|test| (test.name, test.title, test.timeout_ms, test.ignore_reason, test.expect_fail)).collect()
}

fn main() {
    assert_eq!(
        registered("signatures"),
        [
            ("nothing", None, None, None, None),
            ("owned", None, None, None, None),
            ("borrowed", None, None, None, None),
            ("asynchronous", None, None, None, None),
            ("asynchronous_borrowed", None, None, None, None),
            ("written_by_a_macro", None, Some(30_000), None, None),
        ]
    );
    assert_eq!(
        registered("options"),
        [
            ("most", Some("a refund, twice"), Some(2_500), None, Some("FIXTURE_MISSING")),
            ("ignored", None, Some(500), Some("needs a desk"), None),
            ("elsewhere", None, None, None, None),
            ("With_Company", None, None, Some("as libtest spells it"), None),
            ("sometimes", None, None, Some("always"), None),
            ("r#match", None, None, None, None),
        ]
    );
}
