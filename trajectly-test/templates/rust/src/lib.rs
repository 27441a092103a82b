//! An agent that triages support tickets, tested with Trajectly.

pub mod triage;
