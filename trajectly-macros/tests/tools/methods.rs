//! Tools on types and traits: `self` in every form, never recorded and so never `Serialize`.
#![forbid(unsafe_code)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use trajectly_test::tool;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Ticket {
    id: u32,
}

impl Ticket {
    #[tool(name = "new_ticket")]
    fn new(id: u32) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        if id == 0 { Err("no ticket is 0")? } else { Ok(Self { id }) }
    }
}

#[derive(Default)]
struct Desk {
    tickets: Vec<Ticket>,
}

impl Desk {
    #[tool]
    fn open(&mut self, id: u32) -> usize {
        self.tickets.push(Ticket { id });
        self.tickets.len()
    }

    #[tool(name = "desk_find")]
    fn find(&self, id: u32) -> Option<Ticket> {
        let found = self.tickets.iter().find(|ticket| ticket.id == id)?;
        Some(Ticket { id: found.id })
    }

    #[tool]
    fn shared(self: &Arc<Self>, more: usize) -> usize {
        self.tickets.len() + more
    }

    #[tool]
    fn close(self) -> Vec<Ticket> {
        self.tickets
    }
}

trait Search {
    fn search(&self, query: &str) -> Vec<String>;

    #[tool]
    fn first(&self, query: &str) -> Option<String> {
        self.search(query).into_iter().next()
    }
}

impl Search for Desk {
    #[tool]
    fn search(&self, query: &str) -> Vec<String> {
        self.tickets.iter().map(|ticket| format!("{query} {}", ticket.id)).collect()
    }
}

#[test]
fn self_reaches_the_body() {
    let mut desk = Desk::default();
    assert_eq!(desk.open(7), 1);
    assert_eq!(desk.find(7), Some(Ticket { id: 7 }));
    assert_eq!(desk.find(8), None);
    assert_eq!(Arc::new(Desk::default()).shared(2), 2);
    assert_eq!(desk.close(), [Ticket { id: 7 }]);
}

#[test]
fn associated_functions_may_answer_self() {
    assert_eq!(Ticket::new(7).ok(), Some(Ticket { id: 7 }));
    assert!(Ticket::new(0).is_err());
}

#[test]
fn trait_methods_may_be_tools() {
    let desk = Desk { tickets: vec![Ticket { id: 7 }] };
    assert_eq!(desk.first("found").as_deref(), Some("found 7"));
}
