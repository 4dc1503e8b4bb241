//! What the documentation points at must be there: files, and the tests it names.

use std::fs;
use std::path::Path;

use anyhow::ensure;

use crate::stages::root;

/// Checks every relative link, and every test that a line names together with a Rust file.
pub(crate) fn check(path: &Path, text: &str) -> anyhow::Result<()> {
    let base = path.parent().unwrap_or(root());
    let name = path.strip_prefix(root()).unwrap_or(path).display();
    for (index, line) in text.lines().enumerate() {
        let mut code = String::new();
        for link in links(line) {
            let target = base.join(link);
            ensure!(target.exists(), "{name}:{}: {link} is not there", index + 1);
            if link.ends_with(".rs") {
                code += &fs::read_to_string(target)?;
            }
        }
        for test in tests(line).filter(|_| !code.is_empty()) {
            let there = code.contains(&format!("fn {test}("));
            ensure!(there, "{name}:{}: there is no test {test}", index + 1);
        }
    }
    Ok(())
}

/// The relative links of a line, without their fragments.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| {
        let link = rest.split([')', '#']).next()?;
        (!link.is_empty() && !link.contains("://")).then_some(link)
    })
}

/// What a line has in backquotes and reads like the name of a test: a sentence.
fn tests(line: &str) -> impl Iterator<Item = &str> {
    let sentence = |word: &&str| {
        let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        plain && word.matches('_').count() >= 2
    };
    line.split('`').skip(1).step_by(2).filter(sentence)
}

#[cfg(test)]
mod tests {
    use super::{links, tests};

    #[test]
    fn links_and_tests_are_found() {
        let line = "[`a.rs`](../a.rs) `it_does_so`, `stale_token`, [x](https://x/y) [y](b.md#z)";
        assert_eq!(links(line).collect::<Vec<_>>(), ["../a.rs", "b.md"]);
        assert_eq!(tests(line).collect::<Vec<_>>(), ["it_does_so"]);
    }
}
