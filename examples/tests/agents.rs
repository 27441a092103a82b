//! The example agents, tested. `cargo test -p trajectly-examples` replays them offline.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use trajectly_examples::search_buy::{CheckoutPolicy, Errand, buy, buy_with};
use trajectly_examples::support_triage::{Delivery, Triage, triage, triage_with};
use trajectly_examples::{AgentError, chat};
use trajectly_test::{Session, agent_test};

fn client(session: &Session) -> Client<OpenAIConfig> {
    chat::client(OpenAIConfig::new().with_api_base(session.openai_base_url()))
}

#[agent_test(spec = "specs/support-triage.agent.yaml")]
async fn support_triage(session: Session) -> Result<Triage, AgentError> {
    triage(&client(&session), "T-1042").await
}

#[agent_test(spec = "specs/support-triage-regression.agent.yaml", expect_fail = "CONTRACT_TOOL_DENIED")]
async fn support_triage_regression(session: Session) -> Result<Triage, AgentError> {
    triage_with(&client(&session), "T-1042", Delivery::Export).await
}

fn errand() -> Errand {
    Errand { customer_id: "C-7".into(), wish: "wireless earbuds, the best rated".into(), budget_cents: 8_000 }
}

#[agent_test(spec = "specs/search-buy.agent.yaml")]
async fn search_buy(session: Session) -> Result<String, AgentError> {
    buy(&client(&session), &errand()).await
}

#[agent_test(spec = "specs/search-buy-regression.agent.yaml", expect_fail = "REFINEMENT_EXTRA_SIDE_EFFECT_CALL")]
async fn search_buy_regression(session: Session) -> Result<String, AgentError> {
    buy_with(&client(&session), &errand(), CheckoutPolicy::Optimistic, |_| ()).await
}

trajectly_test::main!(specs = "specs/**/*.agent.yaml", upstream = trajectly_examples::upstream::start);
