use trajectly_test::tool;

#[tool]
fn borrowed(id: &str) -> &str {
    id
}

#[tool]
async fn inside() -> Result<Vec<&'static str>, std::io::Error> {
    Ok(Vec::new())
}

fn main() {
    borrowed("a");
    let _ = inside();
}
