//! Runs the scripted server until it is stopped, and prints the base URL to hand to a client as `OPENAI_BASE_URL`.

fn main() -> std::io::Result<()> {
    println!("{}", trajectly_examples::upstream::start()?);
    loop {
        std::thread::park();
    }
}
