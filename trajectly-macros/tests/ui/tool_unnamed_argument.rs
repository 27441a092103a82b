use trajectly_test::tool;

#[tool]
fn destructured((id, _title): (u8, String), _: bool) -> u8 {
    id
}

struct Id(u8);

#[tool(skip(id))]
fn newtype(Id(id): Id) -> u8 {
    id
}

fn main() {
    destructured((1, String::new()), true);
    newtype(Id(1));
}
