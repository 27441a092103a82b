//! Runs an errand in the shop: `search_buy C-2041 "wireless earbuds" 8000`. Reads `OPENAI_API_KEY` and `OPENAI_BASE_URL`.

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use async_openai::config::OpenAIConfig;
use trajectly_examples::chat;
use trajectly_examples::search_buy::{Errand, WhenPending, buy_with};

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
    let mut args = std::env::args().skip(1);
    let (Some(customer_id), Some(wish), Some(budget)) = (args.next(), args.next(), args.next()) else {
        return Err("usage: search_buy <customer id> <wish> <budget in cents>".into());
    };
    let errand = Errand { customer_id, wish, budget_cents: budget.parse()? };
    let client = chat::client(OpenAIConfig::new());
    let print = |piece: &str| {
        let mut out = std::io::stdout().lock();
        // A closed pipe ends the words, not the errand.
        let _ = out.write_all(piece.as_bytes()).and_then(|()| out.flush());
    };
    buy_with(&client, &errand, WhenPending::default(), print).await?;
    println!();
    Ok(())
}
