//! The table in `docs/lifecycle.md` is the state machine.

use std::collections::BTreeMap;

use punctual_core::task::{Edge, State, Verb, edge};

const PAGE: &str = include_str!("../../../docs/lifecycle.md");

/// What a cell says about where a verb leads: nowhere, if it removes the task.
fn leads_to(cell: &str) -> Vec<State> {
    if cell == "removed" { Vec::new() } else { states(cell) }
}

fn states(cell: &str) -> Vec<State> {
    let state = |name: &str| State::parse(name).unwrap_or_else(|| panic!("{name:?} is no state"));
    cell.split(", ").map(state).collect()
}

#[test]
fn the_page_lists_every_edge() {
    let (_, table) = PAGE.split_once("## Every edge").unwrap();
    let mut listed = BTreeMap::new();
    for row in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [verb, from, to] = cells[..] else { panic!("three cells: {row}") };
        for state in states(from) {
            let twice = listed.insert((verb.to_owned(), state), leads_to(to));
            assert_eq!(twice, None, "{verb} in {state} is listed twice");
        }
    }
    for verb in Verb::ALL {
        for state in State::ALL {
            let shown = listed.remove(&(verb.to_string(), state));
            let true_edge = match edge(state, verb) {
                Edge::To(to) => Some(to.to_vec()),
                Edge::Removed => Some(Vec::new()),
                Edge::Refused => None,
            };
            assert_eq!(shown, true_edge, "{verb} in {state}");
        }
    }
    assert!(listed.is_empty(), "rows for no verb: {listed:?}");
}
