use trajectly_test::tool;

#[tool(description = "fetches a ticket")]
fn far_from_all() {}

#[tool(nmae = "fetch")]
fn near_one() {}

#[tool(name = "fetch", name = "fetch")]
fn twice() {}

fn main() {
    far_from_all();
    near_one();
    twice();
}
