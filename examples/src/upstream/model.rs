//! The script: what a model of even temper would say next.

use serde_json::{Value, json};

use super::wire::{Reply, Request};

/// Reads the conversation and decides.
pub(super) fn reply(request: &Request) -> Reply {
    let task = Task::read(request);
    if request.offers("store_triage") && !task.done("store_triage") {
        return task.triage();
    }
    if request.offers("search_products") {
        return task.shop(request);
    }
    Reply::Text(format!("I have no tool for this: {}", task.text.trim()))
}

/// The last thing a user asked for, and what has been done about it since.
struct Task {
    text: String,
    /// The calls answered so far, in the order in which they were asked for, each with its result.
    results: Vec<(String, Value)>,
}

impl Task {
    fn read(request: &Request) -> Self {
        let start = request.messages.iter().rposition(|message| message.role == "user");
        let since = start.map_or(&request.messages[..], |start| &request.messages[start..]);
        let answer = |id: &str| {
            let answer = since.iter().find(|message| message.role == "tool" && message.tool_call_id == id)?;
            let text = answer.text();
            Some(serde_json::from_str(&text).unwrap_or(Value::String(text)))
        };
        let asked = since.iter().flat_map(|message| &message.tool_calls);
        Self {
            text: start.map(|start| request.messages[start].text()).unwrap_or_default(),
            results: asked.filter_map(|call| Some((call.function.name.clone(), answer(&call.id)?))).collect(),
        }
    }

    fn done(&self, tool: &str) -> bool {
        self.results.iter().any(|(name, _)| name == tool)
    }

    fn results<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a Value> {
        self.results.iter().filter(move |(name, _)| name == tool).map(|(_, result)| result)
    }

    /// The first word that is `prefix`, a dash and digits, such as `T-1042`.
    fn number(&self, prefix: &str) -> Option<&str> {
        self.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').find(|word| {
            let digits = word.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
            digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        })
    }

    fn triage(&self) -> Reply {
        const URGENT: [&str; 6] = ["down", "fails", "outage", "cannot", "lost", "today"];
        const IDLE: [&str; 4] = ["how do i", "would like to know", "no hurry", "question"];
        let text = self.text.to_lowercase();
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let priority = if says(&IDLE) {
            "low"
        } else if says(&URGENT) {
            "high"
        } else {
            "normal"
        };
        match self.number("T") {
            Some(ticket_id) => {
                Reply::Calls(vec![("store_triage", json!({ "ticket_id": ticket_id, "priority": priority }))])
            }
            None => Reply::Text("Which ticket is it?".into()),
        }
    }

    /// Search, read the two best hits, put the better one into the cart, check out, report.
    fn shop(&self, request: &Request) -> Reply {
        let Some(customer_id) = self.number("C") else {
            return Reply::Text("Which customer is it for?".into());
        };
        if let Some((_, last)) = self.results.last()
            && let Some(error) = last["error"].as_str()
        {
            return Reply::Text(format!("I could not do that: {error}."));
        }
        if !self.done("search_products") {
            let input = json!({ "query": self.query(), "max_price_cents": self.budget_cents() });
            return Reply::Calls(vec![("search_products", input)]);
        }
        let hits: Vec<&str> = self
            .results("search_products")
            .flat_map(|hits| hits.as_array().into_iter().flatten())
            .filter_map(|hit| hit["sku"].as_str())
            .collect();
        if hits.is_empty() {
            return Reply::Text("There is nothing like it within the budget.".into());
        }
        if request.offers("get_product") && !self.done("get_product") {
            return Reply::Calls(hits.iter().take(2).map(|sku| ("get_product", json!({ "sku": sku }))).collect());
        }
        if let Some(order) = self.results("checkout").last() {
            let (id, total) = (&order["order_id"], order["total_cents"].as_u64().unwrap_or_default());
            let id = id.as_str().unwrap_or("your order");
            return Reply::Text(format!("Ordered: {id}, for {}.{:02} in all.", total / 100, total % 100));
        }
        if request.offers("add_to_cart") && !self.done("add_to_cart") {
            return match self.best(&hits) {
                Some(sku) => {
                    let input = json!({ "customer_id": customer_id, "sku": sku, "quantity": 1 });
                    Reply::Calls(vec![("add_to_cart", input)])
                }
                None => Reply::Text("What you ask for is out of stock.".into()),
            };
        }
        if request.offers("checkout") {
            return Reply::Calls(vec![("checkout", json!({ "customer_id": customer_id }))]);
        }
        Reply::Text("It is in your cart.".into())
    }

    /// The best rated product that was looked at and is in stock; the first hit if none was looked at.
    fn best<'a>(&'a self, hits: &[&'a str]) -> Option<&'a str> {
        if !self.done("get_product") {
            return hits.first().copied();
        }
        let rating = |product: &Value| product["rating"].as_f64().unwrap_or_default();
        let in_stock = self.results("get_product").filter(|product| product["stock"].as_u64() > Some(0));
        in_stock.max_by(|a, b| rating(a).total_cmp(&rating(b)))?["sku"].as_str()
    }

    /// The words that say what is wanted.
    fn query(&self) -> String {
        const IDLE: [&str; 22] = [
            "a", "an", "the", "of", "in", "is", "are", "for", "and", "or", "with", "that", "asks", "wants", "buy",
            "some", "please", "customer", "budget", "cents", "best", "rated",
        ];
        let words = self.text.split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_lowercase);
        let telling = words.filter(|word| {
            !word.is_empty() && !word.contains(|c: char| c.is_ascii_digit()) && !IDLE.contains(&word.as_str())
        });
        telling.collect::<Vec<_>>().join(" ")
    }

    /// The number before `cents`; without one, a sum that stops nobody.
    fn budget_cents(&self) -> u64 {
        let words: Vec<&str> =
            self.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let named = words.windows(2).filter(|pair| pair[1] == "cents").find_map(|pair| pair[0].parse().ok());
        named.unwrap_or(1_000_000)
    }
}
