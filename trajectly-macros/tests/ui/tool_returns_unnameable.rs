use trajectly_test::tool;

#[tool]
fn opaque() -> impl Iterator<Item = u8> {
    [1].into_iter()
}

#[tool]
fn future() -> Result<impl Future<Output = u8>, String> {
    Ok(async { 1 })
}

#[tool]
fn never() -> ! {
    loop {}
}

fn main() {
    opaque();
    let _ = future();
    never();
}
