//! Outside a session a tool is the function it was, whatever its signature. That all of these compile without a warning
//! is half of the test.
#![forbid(unsafe_op_in_unsafe_fn)]
#![warn(clippy::pedantic, unreachable_pub, unused_qualifications)]

#[path = "tools/asynchronous.rs"]
mod asynchronous;
#[path = "tools/functions.rs"]
mod functions;
#[path = "tools/generic.rs"]
mod generic;
#[path = "tools/methods.rs"]
mod methods;
#[path = "tools/places.rs"]
mod places;
