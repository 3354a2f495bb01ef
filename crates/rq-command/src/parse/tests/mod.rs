mod consume;
mod grammar;
mod look;
mod manage;
mod produce;
mod settle;

use std::fmt::Debug;

use rq_core::{Id, Receipt};

use super::*;
use crate::refusal::Refusal;

fn words(text: &str) -> Vec<&[u8]> {
    text.split(' ').map(str::as_bytes).collect()
}

/// A receipt of a message, or its bare ID with 0.
fn receipt(milliseconds: u64, sequence: u64, delivery: u32) -> Receipt {
    let id = Id::new(milliseconds, sequence);
    Receipt { id, delivery }
}

/// What a parser reads that wants a list of receipts, and what it put into that list.
fn listed<T>(
    text: &str,
    parser: impl Fn(&[&[u8]], &mut Vec<Receipt>) -> Result<T, Refusal>,
) -> Result<(T, Vec<Receipt>), Refusal> {
    // What is left of an earlier command has to go.
    let mut receipts = vec![receipt(9, 9, 9)];
    let read = parser(words(text).as_slice(), &mut receipts)?;
    Ok((read, receipts))
}

/// Refusals are arguments' errors and say this.
fn refused<T: Debug>(cases: &[(&str, &str)], parser: impl Fn(&str) -> Result<T, Refusal>) {
    for (text, part) in cases {
        let read = parser(text).map_err(|refusal| refusal.to_string());
        let said = |error: &str| {
            error.starts_with("ERR ") && error.contains("expected") && error.contains(part)
        };
        assert!(
            matches!(&read, Err(error) if said(error)),
            "{text}: {read:?}"
        );
    }
}
