//! Asynchronous tools: `async fn`, and functions that return a boxed future, as `#[async_trait]` makes them.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use trajectly_test::tool;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[tool]
async fn fetch(id: String, attempts: &mut u32) -> Result<String, Failure> {
    *attempts += 1;
    if id.is_empty() {
        return Err("no id".into());
    }
    let number: u32 = std::future::ready(id.parse()).await?;
    Ok(format!("ticket {number}"))
}

/// `Send`, though what it holds over an `.await` may be sent but not shared.
#[tool]
async fn count(counter: Cell<u8>) -> u8 {
    counter.set(counter.get() + 1);
    std::future::ready(()).await;
    counter.get()
}

struct Desk(u32);

impl Desk {
    #[tool]
    async fn next(&mut self, step: u32) -> u32 {
        self.0 += std::future::ready(step).await;
        self.0
    }

    #[tool(skip(prefix))]
    fn search<'a>(&'a self, prefix: &'a str, mut query: String) -> BoxFuture<'a, Option<String>> {
        if query.is_empty() {
            return Box::pin(async { None });
        }
        Box::pin(async move {
            query.insert_str(0, prefix);
            Some(format!("{query} {}", self.0))
        })
    }
}

/// What `#[async_trait]` makes of `async fn find(&self, id: u32) -> Result<u32, Failure>`.
trait Find {
    fn find<'life, 'call>(
        &'life self,
        id: u32,
    ) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<u32, Failure>> + Send + 'call>>
    where
        'life: 'call,
        Self: 'call;
}

impl Find for Desk {
    #[tool]
    fn find<'life, 'call>(
        &'life self,
        id: u32,
    ) -> ::core::pin::Pin<Box<dyn ::core::future::Future<Output = Result<u32, Failure>> + Send + 'call>>
    where
        'life: 'call,
        Self: 'call,
    {
        Box::pin(async move { if self.0 == id { Ok(id) } else { Err("no such ticket")? } })
    }
}

fn run<F: Future + Send>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

#[test]
fn every_way_out_of_the_body_is_kept() {
    let mut attempts = 0;
    assert_eq!(run(fetch("7".to_owned(), &mut attempts)).ok().as_deref(), Some("ticket 7"));
    assert_eq!(run(fetch(String::new(), &mut attempts)).map_err(|error| error.to_string()), Err("no id".to_owned()));
    assert!(run(fetch("many".to_owned(), &mut attempts)).is_err());
    assert_eq!(attempts, 3);
}

#[test]
fn the_future_is_as_send_as_it_was() {
    assert_eq!(run(count(Cell::new(1))), 2);
    let mut desk = Desk(1);
    assert_eq!(run(desk.next(2)), 3);
}

#[test]
fn a_boxed_future_is_the_call() {
    let desk = Desk(3);
    assert_eq!(run(desk.search("open ", "refunds".to_owned())).as_deref(), Some("open refunds 3"));
    assert_eq!(run(desk.search("open ", String::new())), None);
    assert_eq!(run(desk.find(3)).ok(), Some(3));
    assert!(run(desk.find(4)).is_err());
}
