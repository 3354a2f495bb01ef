//! The documentation of the commands is what the table says.
#![allow(clippy::unwrap_used)]

#[test]
fn the_page_of_commands_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/commands.md");
    let page = std::fs::read_to_string(path).unwrap();
    let table = rq_command::document::markdown();
    assert!(
        page == table,
        "docs/commands.md is stale, write it anew with: make docs"
    );
}
