//! What holds for all parsers, and that they read what the table says.

use proptest::prelude::*;

use super::super::words::number;
use super::*;
use crate::commands::COMMANDS;
use crate::document;
use crate::table::{Argument, Command, Kind, Verb};

/// Reads a command of any kind; gives the places that were named.
fn read(verb: Verb, list: &[&[u8]], ids: &mut Vec<Receipt>) -> Result<Vec<usize>, Refusal> {
    let all = |named: Named| match named {
        Named::Tokens(tokens) => tokens.collect(),
        Named::Receipts => vec![],
    };
    Ok(match verb {
        Verb::Push => push(list)?.elements.collect(),
        Verb::PushExtended => {
            let push = push_extended(list)?;
            let name = push.producer.map(|(name, _)| name);
            let single = push.token.into_iter().chain(name);
            push.elements.chain(push.headers).chain(single).collect()
        }
        Verb::Pop => {
            let pop = pop(list)?;
            pop.keys.chain(pop.consumer).collect()
        }
        Verb::Recover => {
            let recover = recover(list)?;
            recover.consumer.into_iter().chain(recover.from).collect()
        }
        Verb::Claim => {
            let claim = claim(list, ids)?;
            [claim.consumer]
                .into_iter()
                .chain(all(claim.named))
                .collect()
        }
        Verb::Register => register(list).collect(),
        Verb::Notify => notify(list).map(|_| vec![])?,
        Verb::Acknowledge => all(acknowledge(list, ids)?.named),
        Verb::Nack => {
            let nack = negative_acknowledge(list, ids)?;
            nack.reason.into_iter().chain(all(nack.named)).collect()
        }
        Verb::Extend => all(extend(list, ids)?.named),
        Verb::Forward => {
            let forward = forward(list, ids)?;
            forward.elements.chain(all(forward.named)).collect()
        }
        Verb::Inspect => inspect(list)?.consumer.into_iter().collect(),
        Verb::Peek => peek(list).map(|_| vec![])?,
        Verb::Get => all(get(list, ids)?.named),
        Verb::Range => range(list).map(|_| vec![])?,
        Verb::Split => split(list).map(|_| vec![])?,
        Verb::Length | Verb::Info => only_key(list, verb).map(|()| vec![])?,
        Verb::Status => status(list).collect(),
        Verb::Delete => all(delete(list, ids)?),
        Verb::Redrive => match redrive(list, ids)? {
            Redrive::Named(named) => all(named),
            Redrive::All | Redrive::Count(_) => vec![],
        },
        Verb::Flush => flush(list).map(|_| vec![])?,
        Verb::Pause | Verb::Resume => sides(list, verb).map(|_| vec![])?,
        Verb::Setup => setup(list).map(|_| vec![])?,
        Verb::Consumer => match consumer(list)? {
            ConsumerOf::List => vec![],
            ConsumerOf::Delete(name) => vec![name],
        },
        Verb::Apply => apply(list)?.collect(),
    })
}

/// Every way to write an argument, leaving out at most what is optional within it.
fn written(argument: &Argument) -> Vec<Vec<&'static str>> {
    let sample = match (argument.kind, argument.name) {
        (Kind::Integer, _) => "1",
        (_, "id" | "min" | "max") => "1-1",
        (_, "factor") => "1.5",
        _ => "x",
    };
    let values: Vec<Vec<&str>> = match argument.kind {
        Kind::Word => vec![vec![]],
        Kind::Block => together(argument.parts),
        Kind::OneOf => argument.parts.iter().flat_map(written).collect(),
        _ => vec![vec![sample]],
    };
    let with_token = |value: Vec<&'static str>| argument.token.into_iter().chain(value).collect();
    values.into_iter().map(with_token).collect()
}

/// Without anything optional, and with each optional argument alone, in all its ways.
fn together(arguments: &[Argument]) -> Vec<Vec<&'static str>> {
    let mut all: Vec<Vec<&str>> = vec![];
    let optional = arguments
        .iter()
        .enumerate()
        .filter(|(_, argument)| argument.optional);
    for chosen in std::iter::once(None).chain(optional.map(|(at, _)| Some(at))) {
        let mut lines = vec![vec![]];
        for (at, argument) in arguments.iter().enumerate() {
            if argument.optional && chosen != Some(at) {
                continue;
            }
            let ways = written(argument);
            let longer = |line: &Vec<&'static str>| {
                let line = line.clone();
                ways.iter()
                    .map(move |way| [line.as_slice(), way].concat())
                    .collect::<Vec<_>>()
            };
            lines = lines.iter().flat_map(longer).collect();
        }
        all.extend(lines);
    }
    all
}

/// Filters that only some states have.
fn excluded(command: &Command, line: &[&str]) -> bool {
    command.verb == Verb::Inspect && (line.contains(&"IDLE") || line.contains(&"CONSUMER"))
}

#[test]
fn the_table_says_what_parsers_read() {
    let mut count = 0;
    for command in COMMANDS {
        for line in together(command.arguments) {
            let text = format!("{} {}", command.name, line.join(" "));
            let text = text.trim_end().to_lowercase();
            let read = read(command.verb, words(&text).as_slice(), &mut vec![]);
            assert_eq!(read.is_err(), excluded(command, &line), "{text}: {read:?}");
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn wrong_numbers_of_arguments_are_answered_with_the_syntax() {
    for command in COMMANDS {
        if matches!(command.verb, Verb::Status | Verb::Register) {
            continue;
        }
        let refusal = read(command.verb, &[command.name.as_bytes()], &mut vec![]);
        let error = refusal.map_err(|refusal| refusal.to_string());
        let syntax = document::syntax(command);
        assert!(
            error.is_err_and(|error| error.ends_with(&syntax)),
            "{syntax}"
        );
    }
}

/// Words that are likely to mean something, and others.
fn word() -> impl Strategy<Value = Vec<u8>> {
    let known = COMMANDS.iter().flat_map(document_words).collect::<Vec<_>>();
    prop_oneof![
        4 => prop::sample::select(known),
        2 => (-1i64..4).prop_map(|number| number.to_string().into_bytes()),
        2 => Just(b"1-1".to_vec()),
        1 => any::<Vec<u8>>(),
    ]
}

fn document_words(command: &Command) -> Vec<Vec<u8>> {
    let syntax = document::syntax(command);
    let words = syntax.split(|c: char| !c.is_ascii_alphabetic());
    words.map(|word| word.as_bytes().to_vec()).collect()
}

proptest! {
    #[test]
    fn no_arguments_make_a_parser_fail_otherwise(list in prop::collection::vec(word(), 0..12)) {
        let list: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
        for command in COMMANDS {
            match read(command.verb, list.as_slice(), &mut vec![]) {
                Ok(places) => prop_assert!(places.iter().all(|&place| (1..list.len()).contains(&place))),
                Err(refusal) => prop_assert!(refusal.text.contains("expected")),
            }
        }
        if let Ok(pop) = pop(list.as_slice()) {
            prop_assert!(!pop.keys.is_empty() && pop.keys.end == list.len());
        }
        prop_assert_eq!(status(list.as_slice()).len() + 1, list.len().max(1));
    }

    #[test]
    fn any_bytes_at_all_are_read_or_refused(list: Vec<Vec<u8>>) {
        let list: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
        for command in COMMANDS {
            let _ = read(command.verb, list.as_slice(), &mut vec![]);
        }
    }

    #[test]
    fn numbers_are_read_in_their_shortest_form_only(value: i64, text in "[-+0-9 ]{1,20}") {
        prop_assert_eq!(number(value.to_string().as_bytes()), Some(value));
        if let Some(read) = number(text.as_bytes()) {
            prop_assert_eq!(read.to_string(), text);
        }
    }
}
