use trajectly_test::tool;

#[tool]
fn now() -> u8 {
    "seven"
}

#[tool]
async fn later() -> u8 {
    "seven"
}

#[tool]
async fn nothing() -> u8 {}

fn main() {}
