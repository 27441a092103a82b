//! Triages one ticket: `support_triage T-1042`. Reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`.

use std::error::Error;
use std::process::ExitCode;

use async_openai::config::OpenAIConfig;
use trajectly_examples::{chat, support_triage};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let ticket_id = std::env::args().nth(1).ok_or("usage: support_triage <ticket id>")?;
    let client = chat::client(OpenAIConfig::new());
    let triage = support_triage::triage(&client, &ticket_id).await?;
    println!("{}", serde_json::to_string(&triage)?);
    Ok(())
}
