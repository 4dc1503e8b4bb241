//! Finds sentences that are hard to read: comments, messages, headings and sentences of the docs that open with a
//! word like "What" or "Whoever" instead of with the thing they describe.
//!
//! `cargo xtask prose` looks at the whole project, or at the given folders. `cargo xtask test` looks at [`CLEAN`], so
//! that a folder that was cleaned stays clean.

mod sentences;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use self::sentences::{Finding, Passage, openings};
use crate::stages::root;

/// Folders and files without a finding. Add a folder when its last finding is gone.
const CLEAN: &[&str] = &[
    "README.md",
    "README.zh-CN.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "docs",
    "deploy",
    "xtask",
    "crates/client",
];
/// Folders that hold nothing of ours, and this module, which quotes the words.
const SKIPPED: &[&str] =
    &["target", "node_modules", "vendor", ".git", "xtask/src/prose.rs", "xtask/src/prose"];

/// Looks at folders and files, or at everything if none is given. Any finding is an error.
pub(crate) fn check(paths: &[&str]) -> anyhow::Result<()> {
    let paths = if paths.is_empty() { &["."] } else { paths };
    let mut count = 0;
    for path in paths {
        for file in files(&root().join(path)).with_context(|| path.to_string())? {
            let name = file.strip_prefix(root()).unwrap_or(&file).display();
            for Finding { line, sentence } in findings(&file)? {
                println!("{name}:{line}: {sentence}");
                count += 1;
            }
        }
    }
    if count > 0 {
        bail!(
            "{count} sentences open with a word to avoid; name the thing first, or begin with a verb"
        );
    }
    Ok(())
}

/// Looks at the folders that are clean already.
pub(crate) fn check_clean() -> anyhow::Result<()> {
    check(CLEAN)
}

fn findings(path: &Path) -> anyhow::Result<Vec<Finding>> {
    let Some(passages_of) = reader(path) else { return Ok(Vec::new()) };
    Ok(passages_of(&fs::read_to_string(path)?).iter().flat_map(openings).collect())
}

/// How the passages of a file are found; nothing for a file of another kind.
fn reader(path: &Path) -> Option<fn(&str) -> Vec<Passage>> {
    match path.extension()?.to_str()? {
        "rs" => Some(source::rust),
        "lua" => Some(source::lua),
        "js" | "mjs" | "ts" => Some(source::javascript),
        "md" => Some(source::markdown),
        _ => None,
    }
}

/// Lists the files below a path, in order.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort();
    let mut all = Vec::new();
    for entry in entries {
        let is_skipped = SKIPPED.iter().any(|name| entry.ends_with(name));
        if !is_skipped {
            all.extend(files(&entry)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(file: &str, text: &str) -> Vec<(usize, String)> {
        let passages = reader(Path::new(file)).expect("a file of a known kind")(text);
        passages.iter().flat_map(openings).map(|finding| (finding.line, finding.sentence)).collect()
    }

    #[test]
    fn rust_comments_messages_and_test_names_are_checked() {
        let text = r##"//! Holds things.
//! What is lost
//! stays lost. It is gone.
/// Whose "turn" it is.
fn whose_turn() { let x = 'a'; let y: &'static str = "whoever asks"; } // Those two.
const RAW: &str = r#"what is "this" // not"#;
// Returns the rest.
"##;
        let lines: Vec<_> = found("a.rs", text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [2, 4, 5, 5, 5, 6]);
    }

    #[test]
    fn lua_and_javascript_comments_are_checked() {
        let lua = "-- What is due.\nlocal a = 1 -- fine\n";
        assert_eq!(found("a.lua", lua), [(1, "What is due.".to_owned())]);
        let script = "const url = 'http://x'; // Those here.\n/* Who asks. */\n/**\n * Fine. Whoever\n * asks.\n */\n";
        let lines: Vec<_> = found("a.js", script).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 2, 4]);
    }

    #[test]
    fn headings_items_cells_and_sentences_of_markdown_are_checked() {
        let text = "# What it is\n\nFine text. Those\nare not. `what` is code.\n\n- **Whoever asks** waits\n\n\
            | a | what a cell says |\n\n```sh\n# What is run.\n```\n\nWhat now?\n";
        let lines: Vec<_> = found("a.md", text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, [1, 3, 6, 8]);
    }
}
