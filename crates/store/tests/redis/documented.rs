//! Every key and every field that lies in Redis is in `docs/redis.md`.

use std::collections::BTreeSet;

use punctual_testing::redis::Server;

const PAGE: &str = include_str!("../../../../docs/redis.md");

/// What stands between backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The part of the page from one text to another.
fn part(from: &str, to: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(from).unwrap_or_else(|| panic!("no {from:?} on the page"));
    rest.split_once(to).unwrap_or_else(|| panic!("no {to:?} on the page")).0
}

/// The names in the first columns of tables.
fn names(part: &'static str) -> BTreeSet<&'static str> {
    let first = |line: &'static str| line.strip_prefix("| ")?.split(" | ").next();
    part.lines().filter_map(first).flat_map(quoted).collect()
}

/// Whether a key is described: by its name, or up to the first part that differs.
fn is_described(key: &str) -> bool {
    quoted(PAGE).filter(|text| text.starts_with("punctual:")).any(|text| {
        match text.split_once(['<', '[', '{']) {
            Some((known, _)) => known != "punctual:" && key.starts_with(known),
            None => key == text,
        }
    })
}

/// The fields of a hash. Its key may hold spaces.
fn fields_of(server: &Server, key: &str) -> Vec<String> {
    redis::cmd("HKEYS").arg(key).query(&mut server.connect()).unwrap()
}

/// Checks all that lies in a Redis, under whatever prefix.
pub(crate) fn check(server: &Server) {
    let of_queue = names(part("Fields of `punctual:q:<queue>`", "### Of a task"));
    let of_task = names(part("### Of a task", "### Of a bundle"));
    let of_bundle = names(part("| field of the record |", "### Of a plan"));
    let of_plan = names(part("| field of that |", "### Of a flow"));
    let of_others = names(part("| field of such a record |", "What workers hold"));
    let keys: Vec<String> = server.command("KEYS *");
    let mut kinds = BTreeSet::new();
    for key in &keys {
        let (_, rest) = key.split_once(':').unwrap();
        let name = format!("punctual:{rest}");
        assert!(is_described(&name), "{name} is not described");
        let kind = rest.split(':').next().unwrap().to_owned();
        let fields = match kind.as_str() {
            "q" => &of_queue,
            "t" => &of_task,
            "queue" if rest.ends_with(":meta") => &of_bundle,
            "plan" if rest.starts_with("plan:meta:") => &of_plan,
            "flow" | "step" | "worker" | "vote" if !rest.ends_with(":items") => &of_others,
            _ => &BTreeSet::new(),
        };
        if !fields.is_empty() {
            for field in fields_of(server, key) {
                let name = field.split('.').next().unwrap();
                let is_piece = name.bytes().all(|byte| byte.is_ascii_digit());
                assert!(is_piece || fields.contains(name), "{field} of {key} is not described");
            }
        }
        kinds.insert(kind);
    }
    assert!(kinds.len() > 12, "that is little to have looked at: {kinds:?}");
}
