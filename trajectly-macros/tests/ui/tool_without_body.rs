use trajectly_test::tool;

trait Desk {
    #[tool]
    fn fetch(&self, id: u8) -> u8;
}

fn main() {}
