//! Agents on real clients, tested with Trajectly.
