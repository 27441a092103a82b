use trajectly_test::tool;

#[tool]
const fn constant() -> u8 {
    7
}

#[tool]
extern "C" fn foreign() -> u8 {
    7
}

fn main() {
    constant();
    foreign();
}
