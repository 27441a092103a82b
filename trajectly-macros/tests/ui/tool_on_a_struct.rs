use trajectly_test::tool;

#[tool]
struct Ticket;

fn main() {
    let _ = Ticket;
}
