use trajectly_test::tool;

pub struct Client;

#[tool]
pub fn owned(id: u32, clients: Vec<Client>) -> u32 {
    drop(clients);
    id
}

#[tool]
pub async fn borrowed(client: &Client, id: u32) -> u32 {
    let _ = client;
    id
}

fn main() {}
