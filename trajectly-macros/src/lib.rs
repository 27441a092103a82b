//! The attribute macros of Trajectly.
