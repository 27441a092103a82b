use trajectly_test::tool;

pub struct Ticket;
pub struct Refused;

#[tool]
pub fn value() -> Vec<Ticket> {
    Vec::new()
}

#[tool]
pub async fn error() -> Result<u8, Refused> {
    Err(Refused)
}

fn main() {}
