//! The agents that the end-to-end tests run, under Trajectly's harness and under cargo's own.

#![forbid(unsafe_code)]

use std::fmt::Display;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use e2e_agents::*;
use trajectly_test::{Session, agent_test};

/// Stands for an edit to an agent's source between two runs.
fn edited(how: &str) -> bool {
    std::env::var("EDIT").is_ok_and(|edit| edit == how)
}

/// A connection to the test that lasts as long as a process which holds it.
fn lifeline() -> Option<TcpStream> {
    let address = std::env::var("LIFELINE").ok()?;
    Some(TcpStream::connect(address).expect("the test listens"))
}

#[agent_test(spec = "specs/greet.agent.yaml")]
fn greet() -> anyhow::Result<String> {
    println!("about to look somebody up");
    eprintln!("this goes to stderr");
    let person = lookup(if edited("argument") { "grace" } else { "ada" })?;
    errand()?;
    if edited("extra call") {
        audit();
    }
    if edited("denied call") {
        delete_all()?;
    }
    if edited("secret") {
        credentials()?;
    }
    anyhow::ensure!(!edited("error"), "the agent gave up");
    if edited("secret answer") {
        return Ok(secret());
    }
    Ok(if edited("answer") { person.name } else { person.greeting })
}

#[agent_test(spec = "specs/greet-regression.agent.yaml", expect_fail = "CONTRACT_TOOL_DENIED")]
fn greet_regression() -> anyhow::Result<String> {
    let person = lookup("ada")?;
    // The agent does not even look at whether it worked.
    let _ = delete_all();
    Ok(person.greeting)
}

/// Makes a call with each word of `TOOLS` or `MODELS`, whatever comes of the others.
fn calls_of_the_environment(session: &Session) -> Option<String> {
    let words = |name| std::env::var(name).ok();
    if let Some(words) = words("TOOLS") {
        words.split(' ').for_each(|word| drop(store(word)));
        return Some("stored".to_owned());
    }
    words("MODELS")?.split(' ').for_each(|word| drop(chat(&session.openai_base_url(), word)));
    Some("asked".to_owned())
}

#[agent_test(spec = "specs/ask.agent.yaml")]
fn ask(session: &Session) -> anyhow::Result<String> {
    let _lifeline = lifeline();
    if let Some(done) = calls_of_the_environment(session) {
        return Ok(done);
    }
    let prompt = std::env::var("PROMPT").unwrap_or_else(|_| "Which run is this?".to_owned());
    let (now, seed) = (format!("{:?}", session.now()), format!("{:?}", session.random_seed()));
    let prompt = prompt.replace("{now}", &now).replace("{seed}", &seed);
    let answer = chat(&session.openai_base_url(), &prompt)?;
    store(&answer)?;
    Ok(answer)
}

#[agent_test(spec = "specs/idle.agent.yaml")]
fn idle() {}

#[agent_test(spec = "specs/ignored.agent.yaml")]
#[ignore = "to see that it is"]
fn ignored() -> anyhow::Result<()> {
    store("ignored")
}

#[agent_test(spec = "specs/titled.agent.yaml", name = "an agent with a title")]
fn titled() -> anyhow::Result<()> {
    store("titled")
}

mod nested {
    #[super::agent_test(spec = "specs/nested.agent.yaml")]
    fn r#match() -> anyhow::Result<()> {
        e2e_agents::store("nested")
    }
}

mod twins {
    use super::*;

    #[agent_test(spec = "specs/twins/first.agent.yaml")]
    fn first() -> anyhow::Result<()> {
        store("first")
    }

    #[agent_test(spec = "specs/twins/second.agent.yaml")]
    fn second() -> anyhow::Result<()> {
        store("second")
    }
}

mod calls {
    use super::*;

    #[agent_test(spec = "specs/calls/concurrent.agent.yaml")]
    async fn concurrent(session: Session) -> anyhow::Result<Vec<u64>> {
        session.step("nested calls");
        let mut results = vec![both(3).await?];
        session.step("joined calls");
        let (a, b, c) = tokio::join!(double(1), double(2), both(4));
        results.extend([a?, b?, c?]);
        session.step("spawned calls");
        let tasks: Vec<_> = (5..9).map(|n| tokio::spawn(double(n))).collect();
        for task in tasks {
            results.push(task.await??);
        }
        session.step("calls from threads");
        let threads: Vec<_> = (10..14).map(|n| std::thread::spawn(move || meet(n))).collect();
        for thread in threads {
            results.push(thread.join().expect("no tool panics")?);
        }
        Ok(results)
    }

    #[agent_test(spec = "specs/calls/errors.agent.yaml")]
    fn errors() -> Result<Vec<String>, ShopError> {
        fn told<T>(result: Result<T, impl Display>) -> [String; 2] {
            let error = result.err().expect("all of these fail");
            [format!("{error}"), format!("{error:#}")]
        }
        Ok([told(order("tea")), told(ship("1 Nowhere Street")), told(charge(-5))].concat())
    }

    #[agent_test(spec = "specs/calls/methods.agent.yaml")]
    async fn methods() -> anyhow::Result<Vec<String>> {
        let shop = Shop { currency: "EUR".to_owned() };
        let shelf = std::cell::RefCell::default();
        let price = shop.price("tea", &[1, 2, 3], Some(", loose"))?;
        let count = shop.restock(&shelf, 7).await?;
        Ok(vec![price, count.to_string()])
    }
}

mod ends {
    use super::*;

    #[agent_test(spec = "specs/ends/timeout.agent.yaml", timeout = "3s")]
    fn hangs_past_its_attribute() -> anyhow::Result<()> {
        hang()
    }

    #[agent_test(spec = "specs/ends/timeout-in-spec.agent.yaml")]
    fn hangs_past_its_spec() -> anyhow::Result<()> {
        hang()
    }

    /// Never returns, and leaves a process behind that would outlive it by minutes.
    fn hang() -> anyhow::Result<()> {
        store("before hanging")?;
        println!("waiting for nothing");
        let lifeline = lifeline().expect("the test watches");
        let grandchild = Stdio::from(OwnedFd::from(lifeline));
        Command::new("sleep").arg("600").stdout(grandchild).spawn()?;
        loop {
            std::thread::park();
        }
    }

    #[agent_test(spec = "specs/ends/greedy.agent.yaml")]
    fn greedy() -> anyhow::Result<()> {
        store("before taking too much")?;
        if edited("memory") {
            println!("{}", vec![1_u8; 1 << 30].len());
        }
        if edited("files") {
            let files: Result<Vec<_>, _> = (0..200).map(|_| std::fs::File::open("Cargo.toml")).collect();
            println!("{}", files?.len());
        }
        if edited("output") {
            (0..2_000).for_each(|n| println!("line {n} of much output"));
        }
        Ok(())
    }

    /// Reaches for the place that `REACH` names, and goes on either way.
    #[agent_test(spec = "specs/ends/reaches-out.agent.yaml")]
    fn reaches_out() -> anyhow::Result<()> {
        store("before reaching out")?;
        match TcpStream::connect(std::env::var("REACH")?) {
            Ok(_) => println!("reached it"),
            Err(error) => println!("kept off: {error}"),
        }
        anyhow::ensure!(!edited("error"), "it gave up");
        Ok(())
    }

    #[agent_test(spec = "specs/ends/panics.agent.yaml")]
    fn panics() -> anyhow::Result<()> {
        store("before the panic")?;
        println!("said before the panic");
        panic!("the agent lost its way");
    }

    #[agent_test(spec = "specs/ends/aborts.agent.yaml")]
    fn aborts() -> anyhow::Result<()> {
        store("before the abort")?;
        println!("said before the abort");
        std::process::abort();
    }

    #[agent_test(spec = "specs/ends/exits.agent.yaml")]
    fn exits() -> anyhow::Result<()> {
        store("before the exit")?;
        println!("said before the exit");
        std::process::exit(0);
    }
}

trajectly_test::main!();
