//! The examples in a Markdown file, the output some of them promise, and its links.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A shell block.
#[derive(Debug, PartialEq)]
pub(crate) struct Example {
    /// The line of the file it begins on.
    pub(crate) line: usize,
    /// The commands to run.
    pub(crate) code: String,
    /// The expected output, if a block marked `output` follows.
    pub(crate) output: Option<String>,
}

/// Reads the examples of a file: every block fenced as `sh`, with the output that a following
/// block promises whose fence says `output` (```` ```json output ````). Other blocks are only shown.
pub(crate) fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut open: Option<(String, usize, String)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                let line = text[..range.start].matches('\n').count() + 2;
                open = Some((info.trim().to_owned(), line, String::new()));
            }
            Event::Text(code) => open.iter_mut().for_each(|(_, _, all)| all.push_str(&code)),
            Event::End(TagEnd::CodeBlock) => {
                let Some((info, line, code)) = open.take() else { continue };
                if info == "sh" {
                    examples.push(Example { line, code, output: None });
                } else if info.split_whitespace().any(|word| word == "output")
                    && let Some(example) = examples.last_mut()
                {
                    example.output = Some(code);
                }
            }
            _ => {}
        }
    }
    examples
}

/// The relative links of a text, without their fragments, each with the line it stands on.
pub(crate) fn links(text: &str) -> Vec<(usize, String)> {
    let links = Parser::new(text).into_offset_iter().filter_map(|(event, range)| {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            return None;
        };
        let path = dest_url.split('#').next().unwrap_or_default();
        let line = text[..range.start].matches('\n').count() + 1;
        (!path.is_empty() && !path.contains("://")).then(|| (line, path.to_owned()))
    });
    links.collect()
}

/// Whether a text matches a pattern, in which `…` stands for anything.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, mut rest) = (pattern.trim(), text.trim());
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(after) = rest.strip_prefix(first) else { return false };
    rest = after;
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_blocks_are_found_with_their_output() {
        let text = "# T\n```sh\na\nb\n```\ntext\n```json output\n{}\n```\n```console\nno\n```\n```sh\nc\n```\n";
        let found = examples(text);
        assert_eq!(
            found,
            [
                Example { line: 3, code: "a\nb\n".into(), output: Some("{}\n".into()) },
                Example { line: 14, code: "c\n".into(), output: None },
            ]
        );
    }

    #[test]
    fn a_block_inside_a_list_or_a_longer_fence_is_read_as_markdown_has_it() {
        let text = "1. one\n\n   ```sh\n   a\n   ```\n\n````text\n```sh\nb\n```\n````\n";
        assert_eq!(examples(text), [Example { line: 4, code: "a\n".into(), output: None }]);
    }

    #[test]
    fn links_are_found_where_they_are_links() {
        let text = "[`a.rs`](../a.rs) [x](https://x/y)\n\n[y](b.md#z) `[no](c.md)` [z](#z)\n";
        assert_eq!(links(text), [(1, "../a.rs".to_owned()), (3, "b.md".to_owned())]);
    }

    #[test]
    fn an_ellipsis_stands_for_anything() {
        for (pattern, text, expected) in [
            ("a", "a\n", true),
            ("a", "ab", false),
            ("{\"id\":\"…\",\"n\":…}", "{\"id\":\"x\",\"n\":12}", true),
            ("…b…", "abc", true),
            ("a…a", "a", false),
            ("a…b…c", "acb", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
