use trajectly_test::tool;

#[tool(name = "")]
fn unnamed() {}

#[tool(name)]
fn valueless() {}

#[tool("fetch")]
fn no_key() {}

fn main() {
    unnamed();
    valueless();
    no_key();
}
