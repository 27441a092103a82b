//! A cargo test harness for LLM agents.
