use trajectly_test::tool;

struct Desk;

impl Desk {
    #[tool(skip(self, clinet, secret, client, client))]
    fn fetch(&self, client: u8, id: u8) -> u8 {
        client + id
    }
}

#[tool(skip)]
fn bare(id: u8) -> u8 {
    id
}

#[tool(skip())]
fn empty(id: u8) -> u8 {
    id
}

#[tool(skip = "id")]
fn text(id: u8) -> u8 {
    id
}

#[tool(skip(id: u8))]
fn typed(id: u8) -> u8 {
    id
}

fn main() {
    Desk.fetch(bare(1), empty(text(typed(2))));
}
