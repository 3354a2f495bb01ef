//! Owns a file, whose endpoint answers, until standard input ends: `own DIRECTORY [always|interval|os]`.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use rq_embedded::{Owner, Sync};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let directory = arguments.next().map(PathBuf::from);
    let directory = directory.ok_or("expected a directory")?;
    let sync = match arguments.next().and_then(|text| text.into_string().ok()) {
        None => Sync::Interval,
        Some(text) => match text.as_str() {
            "always" => Sync::Always,
            "interval" => Sync::Interval,
            "os" => Sync::Os,
            _ => return Err("expected always, interval or os".into()),
        },
    };
    // One file for one test: its identity is of no interest.
    let (owner, _) = Owner::open(&directory, Some([7; 16]), sync)?;
    println!("ready");
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    owner.release()?;
    Ok(())
}
