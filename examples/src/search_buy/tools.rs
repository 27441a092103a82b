//! The shop, as the agent sees it, and the part of it that the model is offered.

use async_openai::types::chat::ChatCompletionTools;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shop::{self, Cart, Order, Payment, Product};
use crate::{ToolError, chat, store};

/// A product as a search shows it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// The shop's number for the product.
    pub sku: String,
    /// Its name.
    pub name: String,
    /// Its price, in cents.
    pub price_cents: u64,
}

/// Finds products whose name has a word of `query`, up to a price: the ones that share more words first, then the better
/// rated. Nothing found is an empty list.
///
/// # Errors
///
/// [`ToolError::Storage`] if the catalogue cannot be read.
#[trajectly_test::tool]
pub async fn search_products(query: String, max_price_cents: u64) -> Result<Vec<Hit>, ToolError> {
    let found = shop::search(shop::catalogue().await?, &query, max_price_cents);
    Ok(found
        .into_iter()
        .map(|product| Hit { sku: product.sku, name: product.name, price_cents: product.price_cents })
        .collect())
}

/// Reads all that the shop knows about a product.
///
/// # Errors
///
/// [`ToolError::Unknown`] if the shop has no such product, [`ToolError::Storage`] if the catalogue cannot be read.
#[trajectly_test::tool]
pub async fn get_product(sku: String) -> Result<Product, ToolError> {
    shop::product(sku).await
}

/// Puts a number of one product into a customer's cart, and returns the cart.
///
/// # Errors
///
/// As [`get_product`], or [`ToolError::Refused`] if there are not enough of it in stock.
#[trajectly_test::tool]
pub async fn add_to_cart(customer_id: String, sku: String, quantity: u32) -> Result<Cart, ToolError> {
    let product = shop::product(sku).await?;
    shop::add(customer_id, product, quantity)
}

/// Orders what is in a customer's cart and starts the payment: `orders/<order_id>.json` below [`store::state_dir`]. The
/// cart stays as it is until the payment is confirmed, so every call is one more order.
///
/// # Errors
///
/// [`ToolError::Refused`] if the cart is empty, [`ToolError::Storage`] if the order cannot be written.
#[trajectly_test::tool]
pub async fn checkout(customer_id: String) -> Result<Order, ToolError> {
    let order = shop::order(&customer_id)?;
    store::put("orders", &order.order_id, &order).await?;
    Ok(order)
}

/// Asks the payment provider what has become of an order's payment. Not for the model: the agent asks before it reports.
///
/// # Errors
///
/// [`ToolError::Unknown`] if there is no such order.
#[trajectly_test::tool]
pub fn payment_status(order_id: &str) -> Result<Payment, ToolError> {
    shop::payment(order_id)
}

/// The tools that the model may call.
pub(super) fn offered() -> Vec<ChatCompletionTools> {
    let customer_id = json!({ "type": "string", "description": "The customer's number, such as C-2041." });
    let sku = json!({ "type": "string", "description": "The shop's number for the product." });
    vec![
        chat::function(
            "search_products",
            "Finds products by words of their name, up to a price.",
            json!({ "query": { "type": "string" }, "max_price_cents": { "type": "integer" } }),
        ),
        chat::function("get_product", "Reads a product's rating and stock.", json!({ "sku": sku })),
        chat::function(
            "add_to_cart",
            "Puts a number of one product into the customer's cart.",
            json!({ "customer_id": customer_id, "sku": sku, "quantity": { "type": "integer" } }),
        ),
        chat::function(
            "checkout",
            "Orders and pays what is in the customer's cart.",
            json!({ "customer_id": customer_id }),
        ),
    ]
}
