//! The pure, deterministic core of Trajectly.
