//! Prints `docs/commands.md`.

fn main() {
    print!("{}", rq_command::document::markdown());
}
