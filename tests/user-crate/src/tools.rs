use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::Write as _;
use std::sync::Barrier;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use trajectly_test::{RecordedError, tool};

/// Notes in the file that `JOURNAL` names that a tool's body really ran.
fn journal(line: &str) {
    if let Some(path) = std::env::var_os("JOURNAL") {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| writeln!(file, "{line}")).expect("the journal can be written");
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Person {
    pub name: String,
    pub greeting: String,
}

#[tool]
pub fn lookup(name: &str) -> anyhow::Result<Person> {
    journal("lookup");
    Ok(Person { name: name.to_owned(), greeting: format!("Hello, {name}!") })
}

#[tool]
pub fn store(text: &str) -> anyhow::Result<()> {
    journal(&format!("store {text}"));
    Ok(())
}

#[tool]
pub fn audit() {
    journal("audit");
}

#[tool]
pub fn delete_all() -> anyhow::Result<()> {
    journal("delete_all");
    Ok(())
}

/// What looks like a GitHub token, put together here so that none stands in the source.
pub fn secret() -> String {
    format!("{}_{}", "ghp", "0123456789".repeat(4))
}

#[tool]
pub fn credentials() -> anyhow::Result<String> {
    Ok(secret())
}

/// Something of each way in which arguments are taken.
pub struct Shop {
    pub currency: String,
}

impl Shop {
    #[tool]
    pub fn price(&self, sku: &str, quantities: &[u64], note: Option<&str>) -> anyhow::Result<String> {
        journal("price");
        let total: u64 = quantities.iter().sum();
        Ok(format!("{sku}: {total} {}{}", self.currency, note.unwrap_or_default()))
    }

    #[tool(name = "restock_async", skip(shelf))]
    pub async fn restock(&self, shelf: &std::cell::RefCell<Vec<u64>>, count: u64) -> anyhow::Result<u64> {
        journal("restock_async");
        shelf.borrow_mut().push(count);
        Ok(count * 2)
    }
}

/// Doubles, after giving other tasks a chance to come in between.
#[tool]
pub async fn double(n: u64) -> anyhow::Result<u64> {
    journal("double");
    for _ in 0..n % 3 {
        tokio::task::yield_now().await;
    }
    Ok(2 * n)
}

#[tool]
pub fn square(n: u64) -> anyhow::Result<u64> {
    journal("square");
    Ok(n * n)
}

/// Takes as long as it takes until three more of it run at the same time.
#[tool]
pub fn meet(n: u64) -> anyhow::Result<u64> {
    static ALL_HERE: Barrier = Barrier::new(4);
    ALL_HERE.wait();
    journal("meet");
    Ok(n + 100)
}

/// Calls other tools: one after the other, and two at once.
#[tool]
pub async fn both(n: u64) -> anyhow::Result<u64> {
    journal("both");
    let squared = square(n)?;
    let (a, b) = tokio::join!(double(n), double(n + 1));
    Ok(squared + a? + b?)
}

/// An error type of the agent's own.
#[derive(Debug)]
pub enum ShopError {
    SoldOut(String),
    Recorded(RecordedError),
}

impl fmt::Display for ShopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SoldOut(sku) => write!(f, "{sku} is sold out"),
            Self::Recorded(error) => error.fmt(f),
        }
    }
}

impl From<RecordedError> for ShopError {
    fn from(error: RecordedError) -> Self {
        Self::Recorded(error)
    }
}

#[tool]
pub fn order(sku: &str) -> Result<u64, ShopError> {
    journal("order");
    Err(ShopError::SoldOut(sku.to_owned()))
}

#[tool]
pub fn ship(address: &str) -> Result<u64, Box<dyn Error + Send + Sync>> {
    journal("ship");
    Err(format!("nobody lives at {address}").into())
}

#[tool]
pub fn charge(cents: i64) -> anyhow::Result<u64> {
    journal("charge");
    u64::try_from(cents).with_context(|| format!("cannot charge {cents}"))
}
