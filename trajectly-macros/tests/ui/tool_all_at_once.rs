use trajectly_test::tool;

#[tool(nam = "fetch", skip(clinet))]
const fn fetch(client: u8, _: u8) -> &'static str {
    let _ = client;
    "ticket"
}

fn main() {
    // The function is still there: no second wave of errors about its absence.
    fetch(1, 2);
}
