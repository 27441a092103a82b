//! The shop behind the tools: its catalogue, and the carts of this process.

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
    /// How often it has been ordered; part of an order's number, and of no interest to a model.
    #[serde(skip)]
    orders: u32,
}

/// What the payment has come to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Payment {
    /// The provider has it and will confirm it within the hour.
    Pending,
    /// The money is there.
    Confirmed,
}

/// An order, which is to be paid once.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Order {
    /// Its number: the customer's and a count.
    pub order_id: String,
    /// What was ordered.
    pub lines: Vec<Line>,
    /// What it costs, in cents.
    pub total_cents: u64,
    /// What the payment has come to. The shop's provider starts every payment as [`Payment::Pending`].
    pub payment: Payment,
}

impl Cart {
    /// Adds a number of one product and returns the cart as it is then.
    pub(super) fn add(&mut self, product: Product, quantity: u32) -> Result<Cart, ToolError> {
        if quantity == 0 || quantity > product.stock {
            let message = format!("{quantity} of `{}` cannot be had: {} in stock", product.sku, product.stock);
            return Err(ToolError::Refused(message));
        }
        self.lines.push(Line { sku: product.sku, quantity, price_cents: product.price_cents });
        Ok(self.clone())
    }

    /// What its lines cost together, in cents.
    pub(super) fn total_cents(&self) -> Result<u64, ToolError> {
        if self.lines.is_empty() {
            return Err(ToolError::Refused(format!("the cart of `{}` is empty", self.customer_id)));
        }
        Ok(self.lines.iter().map(|line| line.price_cents * u64::from(line.quantity)).sum())
    }

    /// Makes one more order of what is in it.
    pub(super) fn order(&mut self) -> Result<Order, ToolError> {
        let total_cents = self.total_cents()?;
        self.orders += 1;
        Ok(Order {
            order_id: format!("{}-{}", self.customer_id, self.orders),
            lines: self.lines.clone(),
            total_cents,
            payment: Payment::Pending,
        })
    }
}

/// Lends a customer's cart, an empty one if there is none yet.
pub(super) fn with_cart<T>(customer_id: &str, use_cart: impl FnOnce(&mut Cart) -> T) -> T {
    static CARTS: LazyLock<Mutex<HashMap<String, Cart>>> = LazyLock::new(Mutex::default);
    // A cart is changed in one step, so that a panic elsewhere leaves nothing half done.
    let mut carts = CARTS.lock().unwrap_or_else(PoisonError::into_inner);
    let cart = carts.entry(customer_id.to_owned()).or_insert_with(|| Cart {
        customer_id: customer_id.to_owned(),
        lines: Vec::new(),
        orders: 0,
    });
    use_cart(cart)
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
