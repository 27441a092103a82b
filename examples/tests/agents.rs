//! Each agent against its spec: the sound variant, and the defective one held against the same baseline.

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use trajectly_examples::search_buy::{Errand, WhenPending, buy, buy_with};
use trajectly_examples::support_triage::{Delivery, Triage, triage, triage_with};
use trajectly_examples::{AgentError, chat, upstream};
use trajectly_test::{Session, agent_test};

#[agent_test(spec = "specs/support-triage.agent.yaml")]
async fn support_triage(session: Session) -> Result<Triage, AgentError> {
    session.step("triage");
    triage(&client(&session), "T-1042").await
}

#[agent_test(spec = "specs/support-triage-regression.agent.yaml", expect_fail = "CONTRACT_TOOL_DENIED")]
async fn support_triage_regression(session: Session) -> Result<Triage, AgentError> {
    session.step("triage");
    triage_with(&client(&session), "T-1042", Delivery::Export).await
}

#[agent_test(spec = "specs/search-buy.agent.yaml")]
async fn search_buy(session: Session) -> Result<String, AgentError> {
    session.step("errand");
    buy(&client(&session), &earbuds()).await
}

#[agent_test(spec = "specs/search-buy-regression.agent.yaml", expect_fail = "REFINEMENT_BASELINE_CALL_MISSING")]
async fn search_buy_regression(session: Session) -> Result<String, AgentError> {
    session.step("errand");
    buy_with(&client(&session), &earbuds(), WhenPending::Retry, |_| ()).await
}

fn client(session: &Session) -> Client<OpenAIConfig> {
    chat::client(OpenAIConfig::new().with_api_base(session.openai_base_url()))
}

fn earbuds() -> Errand {
    Errand { customer_id: "C-2041".into(), wish: "wireless earbuds, the best rated".into(), budget_cents: 8_000 }
}

trajectly_test::main!(specs = "specs/**/*.agent.yaml", upstream = upstream::start);
