//! Commands about the connection.

use crate::client::Reply;
use crate::file::File;

fn ok() -> Reply {
    Reply::Status("OK".to_owned())
}

#[test]
fn ping_select_and_quit() {
    let file = File::new();
    let mut client = file.connect();
    assert_eq!(client.ask("ping"), Reply::Status("PONG".to_owned()));
    assert_eq!(client.ask("PING hello"), Reply::bytes("hello"));
    assert_eq!(
        client.ask("ping a b").error(),
        "ERR wrong number of arguments for 'ping' command"
    );
    assert_eq!(client.ask("SELECT 0"), ok());
    for (command, error) in [
        ("SELECT 1", "ERR DB index is out of range"),
        ("SELECT -1", "ERR DB index is out of range"),
        ("SELECT x", "ERR value is not an integer or out of range"),
        (
            "SELECT",
            "ERR wrong number of arguments for 'select' command",
        ),
    ] {
        assert_eq!(client.ask(command).error(), error);
    }
    assert_eq!(client.ask("QUIT"), ok());
    assert!(client.is_closed());
}

#[test]
fn hello_changes_the_protocol() {
    let file = File::new();
    let mut client = file.connect();
    let introduction = client.ask("HELLO");
    assert_eq!(introduction.list().len(), 14);
    assert_eq!(introduction.list()[1], Reply::bytes("reliableq"));
    assert_eq!(introduction.list()[5], Reply::Integer(2));
    assert_eq!(client.ask("RQ.INFO none"), Reply::NullArray);
    let Reply::Map(fields) = client.ask("HELLO 3 AUTH default any SETNAME me") else {
        panic!("expected a map");
    };
    let field = |name: &str| {
        &fields
            .iter()
            .find(|(key, _)| *key == Reply::bytes(name))
            .unwrap()
            .1
    };
    assert_eq!(*field("proto"), Reply::Integer(3));
    assert_eq!(*field("mode"), Reply::bytes("standalone"));
    assert_eq!(*field("role"), Reply::bytes("master"));
    assert_eq!(*field("modules"), Reply::Array(vec![]));
    assert_eq!(*field("id"), client.ask("CLIENT ID"));
    assert_eq!(client.ask("CLIENT GETNAME"), Reply::bytes("me"));
    assert_eq!(client.ask("RQ.INFO none"), Reply::Null);
    assert_eq!(client.ask("HELLO 2").list().len(), 14);
    assert_eq!(client.ask("RQ.INFO none"), Reply::NullArray);
}

#[test]
fn a_refused_hello_changes_nothing() {
    let file = File::new();
    let mut client = file.connect();
    for (command, error) in [
        ("HELLO 4", "NOPROTO unsupported protocol version"),
        (
            "HELLO x",
            "ERR Protocol version is not an integer or out of range",
        ),
        (
            "HELLO 3 SETNAME",
            "ERR Syntax error in HELLO option 'SETNAME'",
        ),
        (
            "HELLO 3 WHAT now",
            "ERR Syntax error in HELLO option 'WHAT'",
        ),
        (
            "HELLO 3 AUTH somebody x",
            "WRONGPASS there are no users here but 'default'",
        ),
    ] {
        assert_eq!(client.ask(command).error(), error);
        assert_eq!(client.ask("RQ.POP none"), Reply::NullArray);
    }
}

#[test]
fn client_tells_and_takes_names() {
    let file = File::new();
    let (mut first, mut second) = (file.connect(), file.connect());
    assert_ne!(first.ask("CLIENT ID"), second.ask("CLIENT ID"));
    assert_eq!(first.ask("CLIENT GETNAME"), Reply::NullBytes);
    assert_eq!(first.ask("CLIENT SETNAME me"), ok());
    assert_eq!(first.ask("client getname"), Reply::bytes("me"));
    assert_eq!(second.ask("CLIENT GETNAME"), Reply::NullBytes);
    first.request(&[b"CLIENT", b"SETNAME", b"a b"]);
    assert!(first.reply().error().starts_with("ERR Client names cannot"));
    assert_eq!(first.ask("CLIENT SETINFO LIB-NAME redis-py"), ok());
    assert_eq!(first.ask("CLIENT SETINFO lib-ver 1.2"), ok());
    for sync in ["always", "interval", "os", "ALWAYS"] {
        assert_eq!(first.ask(&format!("CLIENT SETINFO SYNC {sync}")), ok());
    }
    for (command, error) in [
        (
            "CLIENT SETINFO SYNC often",
            "ERR SYNC is 'often', expected always, interval or os",
        ),
        (
            "CLIENT SETINFO COLOUR red",
            "ERR Unrecognized option 'COLOUR', expected LIB-NAME, LIB-VER or SYNC",
        ),
        (
            "CLIENT SETINFO SYNC",
            "ERR wrong number of arguments for 'client|setinfo' command",
        ),
        (
            "CLIENT KILL 7",
            "ERR unknown subcommand 'KILL', expected SETINFO, SETNAME, GETNAME or ID",
        ),
        (
            "CLIENT",
            "ERR wrong number of arguments for 'client' command",
        ),
    ] {
        assert_eq!(first.ask(command).error(), error);
    }
}

#[test]
fn commands_are_those_of_the_table() {
    let file = File::new();
    let mut client = file.connect();
    let names: Vec<String> = rq_command::COMMANDS
        .iter()
        .map(|command| command.name.to_lowercase())
        .filter(|name| name != "rq.apply")
        .collect();
    let count = i64::try_from(names.len()).unwrap();
    assert_eq!(client.ask("COMMAND COUNT"), Reply::Integer(count));
    let information = client.ask("COMMAND");
    let told: Vec<String> = information
        .list()
        .iter()
        .map(|each| each.list()[0].text())
        .collect();
    assert_eq!(told, names);
    assert_eq!(client.ask("COMMAND INFO"), information);
    let some = client.ask("COMMAND INFO RQ.LEN get");
    assert_eq!(some.list()[0].list()[0], Reply::bytes("rq.len"));
    assert_eq!(some.list()[0].list()[3], Reply::Integer(1));
    assert_eq!(some.list()[1], Reply::NullArray);
    let all = client.ask("COMMAND INFO RQ.STATUS");
    assert_eq!(
        all.list()[0].list()[3..6],
        [1, -1, 1].map(Reply::Integer),
        "every argument is a key"
    );
    let either = client.ask("COMMAND INFO RQ.SETUP RQ.CONSUMER");
    assert_eq!(
        either.list()[0].list()[2],
        Reply::Array(vec![Reply::Status("fast".to_owned())]),
        "it looks or changes"
    );
    assert_eq!(either.list()[1].list()[2], Reply::Array(vec![]));
    assert!(
        client
            .ask("COMMAND WHAT")
            .error()
            .starts_with("ERR unknown subcommand 'WHAT'")
    );
}

#[test]
fn documentation_is_that_of_the_table() {
    let file = File::new();
    let mut client = file.connect();
    assert_eq!(client.ask("COMMAND DOCS get"), Reply::Array(vec![]));
    let flat = client.ask("COMMAND DOCS rq.len");
    assert_eq!(flat.list()[0], Reply::bytes("rq.len"));
    assert_eq!(flat.list()[1].list()[0], Reply::bytes("summary"));
    client.ask("HELLO 3");
    let Reply::Map(commands) = client.ask("COMMAND DOCS") else {
        panic!("expected a map");
    };
    assert_eq!(commands.len(), rq_command::COMMANDS.len() - 1);
    let (name, Reply::Map(fields)) = &commands[1] else {
        panic!("expected a map");
    };
    assert_eq!(*name, Reply::bytes("rq.pushex"));
    let (_, arguments) = fields.last().unwrap();
    let optional = Reply::Set(vec![Reply::Status("optional".to_owned())]);
    let is_optional_block = |argument: &Reply| {
        let Reply::Map(fields) = argument else {
            panic!("expected a map");
        };
        fields.contains(&(Reply::bytes("flags"), optional.clone()))
            && fields.contains(&(Reply::bytes("type"), Reply::bytes("block")))
    };
    assert!(arguments.list().iter().any(is_optional_block));
}

#[test]
fn what_is_not_known_is_said_as_redis_says_it() {
    let file = File::new();
    let mut client = file.connect();
    for (command, error) in [
        (
            "GET a b",
            "ERR unknown command 'GET', with args beginning with: 'a' 'b' ",
        ),
        (
            "FLUSHALL",
            "ERR unknown command 'FLUSHALL', with args beginning with: ",
        ),
        (
            "RQ.APPLY q x",
            "ERR unknown command 'RQ.APPLY', with args beginning with: 'q' 'x' ",
        ),
    ] {
        assert_eq!(client.ask(command).error(), error);
    }
    client.request(&[b"a\r\nb", &[b'x'; 1000], b"y"]);
    let error = client.reply();
    assert!(
        error
            .error()
            .starts_with("ERR unknown command 'a  b', with args")
    );
    assert!(error.error().len() < 400);
    assert_eq!(client.ask("PING"), Reply::Status("PONG".to_owned()));
}
