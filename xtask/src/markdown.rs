//! The examples in a Markdown file: shell blocks, and the output some of them promise.

/// A shell block.
#[derive(Debug, PartialEq)]
pub(crate) struct Example {
    /// The line of the file it begins on.
    pub(crate) line: usize,
    /// What to run.
    pub(crate) code: String,
    /// What it must print, where a block marked `output` follows.
    pub(crate) output: Option<String>,
}

/// Reads the examples of a file: every block fenced as `sh`, with the output that a following
/// block promises whose fence says `output` (```` ```json output ````). Other blocks are only shown.
pub(crate) fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut open: Option<(&str, usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim(), index + 2, String::new())),
            (None, None) => {}
            (Some((_, _, code)), None) => {
                code.push_str(line);
                code.push('\n');
            }
            (Some(_), Some(_)) => {
                let (info, line, code) = open.take().expect("matched as open");
                if info == "sh" {
                    examples.push(Example { line, code, output: None });
                } else if info.split_whitespace().any(|word| word == "output")
                    && let Some(example) = examples.last_mut()
                {
                    example.output = Some(code);
                }
            }
        }
    }
    examples
}

/// Whether a text is what a pattern promises, where `…` stands for anything.
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
