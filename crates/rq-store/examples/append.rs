//! What appending costs beside a bare write of the same bytes:
//! `cargo run --release -p rq-store --example append [messages] [bytes]`.
//!
//! One message a record, no sync; and the steps of a checkpoint of all messages. Times are of the wall clock, and of the CPU where the system tells them.

use std::error::Error;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Instant;

use rq_core::{Id, Moment, Policy, Pop};
use rq_store::{Checkpointing, Files, Options, Store};

/// CPU seconds of this process, user and system, to a hundredth.
fn cpu() -> f64 {
    let Ok(text) = fs::read_to_string("/proc/self/stat") else {
        return 0.0;
    };
    let fields = text.rsplit(')').next().unwrap_or_default().split(' ');
    let ticks = fields.skip(12).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn measure<R>(what: &str, count: u64, work: impl FnOnce() -> R) -> R {
    let (start, before) = (Instant::now(), cpu());
    let outcome = work();
    let (wall, used) = (start.elapsed().as_secs_f64(), cpu() - before);
    let micros = |seconds: f64| seconds * 1e6 / count as f64;
    println!(
        "{what:24} {:7.3} us wall, {:7.3} us CPU",
        micros(wall),
        micros(used)
    );
    outcome
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let count = arguments.next().transpose()?.unwrap_or(500_000);
    let bytes = arguments.next().transpose()?.unwrap_or(100);
    let payload = vec![7u8; usize::try_from(bytes)?];
    let directory = tempfile::tempdir()?;
    let options = Options {
        create: Some([1; 16]),
        segment_bytes: u64::MAX,
        ..Options::default()
    };
    let path = directory.path().join("store");
    let (mut store, _) = Store::open(Files::new(&path), options)?;
    // As large as a record with this payload.
    let mut record = store.record()?;
    let place = (1_700_000_000_000, &Policy::NONE);
    record.push(b"queue", place, None, [&payload[..]].into_iter())?;
    record.append()?;
    let length = fs::metadata(path.join("log-0000000000000001"))?.len() - 40;
    let bare = vec![7u8; usize::try_from(length)?];

    for _ in 0..3 {
        let name = directory.path().join("bare");
        let file = File::create(&name)?;
        measure("bare write", count, || {
            (0..count).try_for_each(|n| file.write_all_at(&bare, n * length))
        })?;
        fs::remove_file(name)?;
        let push = |n: u64| -> Result<(), Box<dyn Error>> {
            let mut record = store.record()?;
            let place = (1_700_000_000_001 + n / 100, &Policy::NONE);
            record.push(b"queue", place, None, [&payload[..]].into_iter())?;
            record.append()?;
            Ok(())
        };
        measure("push", count, || (0..count).try_for_each(push))?;
        let begun = measure("begin checkpoint", count, || store.begin_checkpoint())?;
        let ended = measure("run checkpoint", count, || begun.map(Checkpointing::run));
        if let Some(ended) = ended {
            measure("end checkpoint", count, || store.end_checkpoint(ended))?;
        }
        let mut ids = Vec::new();
        measure("pop", count, || -> Result<(), Box<dyn Error>> {
            for _ in 0..count {
                let mut record = store.record()?;
                record.change(b"queue", |queue, effect| {
                    let moment = Moment::at(1_700_000_100_000, Id::default());
                    queue.pop(&moment, &Pop::of(1), effect, |message| ids.push(message.id))
                });
                record.append()?;
            }
            Ok(())
        })?;
        measure("acknowledge", count, || -> Result<(), Box<dyn Error>> {
            let mut acknowledged = Vec::new();
            for &id in &ids {
                let mut record = store.record()?;
                record.change(b"queue", |queue, effect| {
                    let receipts = [id.into()].into_iter();
                    queue.acknowledge(
                        1_700_000_100_000,
                        receipts,
                        &mut acknowledged,
                        effect,
                        |_| (),
                    )
                });
                record.append()?;
            }
            Ok(())
        })?;
    }
    Ok(())
}
