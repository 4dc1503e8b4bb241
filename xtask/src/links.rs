//! Checks the references of the documentation: files must exist, and so must the tests it names.

use std::fs;
use std::path::Path;

use anyhow::ensure;

use crate::markdown::links;
use crate::stages::root;

/// Checks every relative link, and every test that a line names together with a Rust file.
pub(crate) fn check(path: &Path, text: &str) -> anyhow::Result<()> {
    let base = path.parent().unwrap_or(root());
    let name = path.strip_prefix(root()).unwrap_or(path).display();
    let links = links(text);
    for (line, link) in &links {
        ensure!(base.join(link).exists(), "{name}:{line}: {link} is not there");
    }
    for (index, text) in text.lines().enumerate() {
        let line = index + 1;
        let mut code = String::new();
        for (_, link) in links.iter().filter(|(at, link)| *at == line && link.ends_with(".rs")) {
            code += &fs::read_to_string(base.join(link))?;
        }
        for test in tests(text).filter(|_| !code.is_empty()) {
            let there = code.contains(&format!("fn {test}("));
            ensure!(there, "{name}:{line}: there is no test {test}");
        }
    }
    Ok(())
}

/// Names of tests in a line: words in backquotes that read like a sentence.
fn tests(line: &str) -> impl Iterator<Item = &str> {
    let sentence = |word: &&str| {
        let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        plain && word.matches('_').count() >= 2
    };
    line.split('`').skip(1).step_by(2).filter(sentence)
}

#[cfg(test)]
mod tests {
    use super::tests;

    #[test]
    fn tests_are_found() {
        let line = "[`a.rs`](../a.rs) `it_does_so`, `stale_token`, [x](https://x/y) [y](b.md#z)";
        assert_eq!(tests(line).collect::<Vec<_>>(), ["it_does_so"]);
    }
}
