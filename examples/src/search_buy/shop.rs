//! The shop behind the tools: its catalogue, and what this process has put into carts and ordered.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::{ToolError, store};

/// A product, as the shop lists it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Product {
    /// The shop's number for it.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// Its price, in cents.
    pub price_cents: u64,
    /// What customers think of it, from 1 to 5.
    pub rating: f64,
    /// How many can be sent today.
    pub stock: u32,
}

/// A number of one product in a cart or an order.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Line {
    /// The shop's number for the product.
    pub sku: String,
    /// How many of it.
    pub quantity: u32,
    /// What one of them costs, in cents.
    pub price_cents: u64,
}

/// A customer's cart.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Cart {
    /// Whose it is.
    pub customer_id: String,
    /// What is in it, in the order in which it was put there.
    pub lines: Vec<Line>,
}

/// What has become of a payment.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Payment {
    /// The provider has it and will confirm it within the hour.
    Pending,
    /// The money is there.
    Confirmed,
}

/// An order.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Its number: the customer's and a count.
    pub order_id: String,
    /// What was ordered.
    pub lines: Vec<Line>,
    /// What it costs, in cents.
    pub total_cents: u64,
    /// What has become of the payment. The shop's provider starts every one as [`Payment::Pending`].
    pub payment: Payment,
}

/// What one customer has in the cart and on order.
#[derive(Default)]
struct Account {
    lines: Vec<Line>,
    orders: Vec<Order>,
}

/// Adds a number of one product to a customer's cart, and returns the cart as it is then.
pub(super) fn add(customer_id: String, product: Product, quantity: u32) -> Result<Cart, ToolError> {
    if quantity == 0 || quantity > product.stock {
        let message = format!("{quantity} of `{}` cannot be had: {} in stock", product.sku, product.stock);
        return Err(ToolError::Refused(message));
    }
    let lines = with_account(&customer_id, |account| {
        account.lines.push(Line { sku: product.sku, quantity, price_cents: product.price_cents });
        account.lines.clone()
    });
    Ok(Cart { customer_id, lines })
}

/// Makes an order of what is in a customer's cart.
pub(super) fn order(customer_id: &str) -> Result<Order, ToolError> {
    with_account(customer_id, |account| {
        if account.lines.is_empty() {
            return Err(ToolError::Refused(format!("the cart of `{customer_id}` is empty")));
        }
        let order = Order {
            order_id: format!("{customer_id}-{}", account.orders.len() + 1),
            lines: account.lines.clone(),
            total_cents: account.lines.iter().map(|line| line.price_cents * u64::from(line.quantity)).sum(),
            payment: Payment::Pending,
        };
        account.orders.push(order.clone());
        Ok(order)
    })
}

/// What the provider says of an order's payment: this one has confirmed it by the time it is asked. The cart is empty
/// from then on.
pub(super) fn payment(order_id: &str) -> Result<Payment, ToolError> {
    let unknown = || ToolError::Unknown { kind: "order", id: order_id.to_owned() };
    let (customer_id, _) = order_id.rsplit_once('-').ok_or_else(unknown)?;
    with_account(customer_id, |account| {
        let order = account.orders.iter_mut().find(|order| order.order_id == order_id).ok_or_else(unknown)?;
        order.payment = Payment::Confirmed;
        account.lines.clear();
        Ok(order.payment)
    })
}

/// Lends a customer's account, a fresh one to a customer who is new.
fn with_account<T>(customer_id: &str, change: impl FnOnce(&mut Account) -> T) -> T {
    static ACCOUNTS: LazyLock<Mutex<HashMap<String, Account>>> = LazyLock::new(Mutex::default);
    // Nothing between the two ends of a change can panic, so a poisoned lock still guards whole accounts.
    let mut accounts = ACCOUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    change(accounts.entry(customer_id.to_owned()).or_default())
}

/// All products.
pub(super) async fn catalogue() -> Result<Vec<Product>, ToolError> {
    store::load("catalogue.json").await
}

/// The product of that number.
pub(super) async fn product(sku: String) -> Result<Product, ToolError> {
    let found = catalogue().await?.into_iter().find(|product| product.sku == sku);
    found.ok_or(ToolError::Unknown { kind: "product", id: sku })
}

/// The products that share a word with `query` and cost no more than the price given, the best first.
pub(super) fn search(catalogue: Vec<Product>, query: &str, max_price_cents: u64) -> Vec<Product> {
    let query = query.to_lowercase();
    let shared = |product: &Product| {
        let name = product.name.to_lowercase();
        query.split_whitespace().filter(|word| name.split_whitespace().any(|part| part == *word)).count()
    };
    let mut found: Vec<(usize, Product)> = catalogue
        .into_iter()
        .filter(|product| product.price_cents <= max_price_cents)
        .map(|product| (shared(&product), product))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    found.sort_by(|(a_shared, a), (b_shared, b)| b_shared.cmp(a_shared).then(b.rating.total_cmp(&a.rating)));
    found.into_iter().map(|(_, product)| product).collect()
}
