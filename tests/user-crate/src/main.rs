//! The agent as a program: what a spec's `command` runs, and what production runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    if let Ok(address) = std::env::var("LIFELINE") {
        let _lifeline = std::net::TcpStream::connect(address).expect("the test listens");
        loop {
            std::thread::park();
        }
    }
    match e2e_agents::lookup(&name).and_then(|person| e2e_agents::errand().map(|()| person)) {
        Ok(person) => {
            println!("{}", person.greeting);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
