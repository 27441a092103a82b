//! The help desk, as the agent sees it.

use serde::{Deserialize, Serialize};

use super::{Priority, Triage};
use crate::{ToolError, store};

/// A customer's ticket.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Ticket {
    /// The ticket's number: `T-1042`.
    pub id: String,
    /// One line, as the customer wrote it.
    pub subject: String,
    /// The message, as the customer wrote it.
    pub body: String,
    /// The address to answer to.
    pub contact: String,
}

/// Reads a ticket.
///
/// # Errors
///
/// [`ToolError::Unknown`] if there is none of that number, [`ToolError::Storage`] if the help desk's file cannot be read.
#[trajectly_test::tool]
pub async fn fetch_ticket(ticket_id: String) -> Result<Ticket, ToolError> {
    find(ticket_id).await
}

/// Puts a triage into the queue: `triage/<ticket_id>.json` below [`store::state_dir`].
///
/// # Errors
///
/// [`ToolError::Storage`] if the file cannot be written.
#[trajectly_test::tool]
pub async fn store_triage(ticket_id: String, priority: Priority) -> Result<(), ToolError> {
    let triage = Triage { ticket_id, priority };
    store::put("triage", &triage.ticket_id, &triage).await
}

/// Copies a ticket, the customer's address included, to the partner's exchange folder: `export/<ticket_id>.json` below
/// [`store::state_dir`].
///
/// # Errors
///
/// As [`fetch_ticket`], or [`ToolError::Storage`] if the copy cannot be written.
#[trajectly_test::tool]
pub async fn unsafe_export(ticket_id: String) -> Result<(), ToolError> {
    let ticket = find(ticket_id).await?;
    store::put("export", &ticket.id, &ticket).await
}

async fn find(ticket_id: String) -> Result<Ticket, ToolError> {
    let tickets: Vec<Ticket> = store::load("tickets.json").await?;
    tickets
        .into_iter()
        .find(|ticket| ticket.id == ticket_id)
        .ok_or(ToolError::Unknown { kind: "ticket", id: ticket_id })
}
