//! Passages of source files: comments, messages and names of tests, and the text of Markdown files.

use super::sentences::Passage;

/// Comments and string literals of Rust, and names of functions that read like sentences.
pub(super) fn rust(text: &str) -> Vec<Passage> {
    let mut scanner = Scanner::new(text);
    while let Some(next) = scanner.peek() {
        if scanner.eat("//") {
            scanner.line_comment();
        } else if scanner.eat("/*") {
            scanner.block_comment();
        } else if let Some(hashes) = scanner.raw_string() {
            scanner.string(&format!("\"{}", "#".repeat(hashes)), false);
        } else if scanner.eat("\"") {
            scanner.string("\"", true);
        } else if next == '\'' {
            scanner.character();
        } else if scanner.eat("fn ") {
            scanner.name();
        } else {
            scanner.step();
        }
    }
    scanner.finish()
}

/// Comments of JavaScript.
pub(super) fn javascript(text: &str) -> Vec<Passage> {
    let mut scanner = Scanner::new(text);
    while let Some(next) = scanner.peek() {
        if scanner.eat("//") {
            scanner.line_comment();
        } else if scanner.eat("/*") {
            scanner.block_comment();
        } else if matches!(next, '"' | '\'' | '`') {
            scanner.step();
            scanner.skip_quoted(next);
        } else {
            scanner.step();
        }
    }
    scanner.finish()
}

/// Comments of Lua.
pub(super) fn lua(text: &str) -> Vec<Passage> {
    let mut scanner = Scanner::new(text);
    while let Some(next) = scanner.peek() {
        if scanner.eat("--") {
            scanner.line_comment();
        } else if matches!(next, '"' | '\'') {
            scanner.step();
            scanner.skip_quoted(next);
        } else {
            scanner.step();
        }
    }
    scanner.finish()
}

/// Headings, paragraphs, items and table cells of Markdown, without code blocks.
pub(super) fn markdown(text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut is_code, mut is_open) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let (number, content) = (index + 1, line.trim());
        if content.starts_with("```") {
            (is_code, is_open) = (!is_code, false);
        } else if is_code || content.is_empty() {
            is_open = false;
        } else if content.starts_with('|') {
            let cells =
                content.split('|').map(|cell| Passage { line: number, text: cell.to_owned() });
            passages.extend(cells);
            is_open = false;
        } else {
            let begins = content.starts_with(['#', '-', '*', '>'])
                || content
                    .split_once(". ")
                    .is_some_and(|(before, _)| before.parse::<u32>().is_ok());
            match passages.last_mut().filter(|_| is_open && !begins) {
                Some(passage) => passage.text += &format!("\n{content}"),
                None => passages.push(Passage { line: number, text: item(content).to_owned() }),
            }
            is_open = !content.starts_with('#');
        }
    }
    passages
}

/// The text of a numbered item without its number.
fn item(content: &str) -> &str {
    match content.split_once(". ") {
        Some((number, text)) if number.parse::<u32>().is_ok() => text,
        _ => content,
    }
}

/// Reads a source file from its beginning to its end.
struct Scanner<'a> {
    rest: &'a str,
    line: usize,
    /// Whether nothing but spaces was read since the line began.
    is_fresh: bool,
    /// The last line of the line comment at the end of `found`.
    last_comment: Option<usize>,
    found: Vec<Passage>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, is_fresh: true, last_comment: None, found: Vec::new() }
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn step(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        if next == '\n' {
            (self.line, self.is_fresh) = (self.line + 1, true);
        } else if !next.is_whitespace() {
            self.is_fresh = false;
        }
        Some(next)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(prefix) else { return false };
        self.rest = rest;
        true
    }

    /// Reads the rest of the line; a comment on a line of its own continues the one on the line before.
    fn line_comment(&mut self) {
        let (is_alone, line) = (self.is_fresh, self.line);
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let content = self.rest[..end].trim_start_matches(['/', '!', '-']).trim();
        self.rest = &self.rest[end..];
        let follows = is_alone && self.last_comment.is_some_and(|last| last + 1 == line);
        match self.found.last_mut().filter(|_| follows) {
            Some(passage) => passage.text += &format!("\n{content}"),
            None => self.found.push(Passage { line, text: content.to_owned() }),
        }
        self.last_comment = is_alone.then_some(line);
    }

    fn block_comment(&mut self) {
        let (line, end) = (self.line, self.rest.find("*/").unwrap_or(self.rest.len()));
        let lines = self.rest[..end].lines().map(|line| line.trim().trim_start_matches('*').trim());
        let text = lines.collect::<Vec<_>>().join("\n");
        self.skip(end);
        self.eat("*/");
        self.found.push(Passage { line, text });
    }

    /// Reads a string literal up to its closing quote.
    fn string(&mut self, close: &str, has_escapes: bool) {
        let (line, mut text) = (self.line, String::new());
        while !self.rest.is_empty() && !self.eat(close) {
            if has_escapes && self.eat("\\") {
                self.step();
                text.push(' ');
            } else {
                text.extend(self.step());
            }
        }
        self.is_fresh = false;
        // A single word is a name, not a message.
        if text.trim().contains(' ') {
            self.last_comment = None;
            self.found.push(Passage { line, text });
        }
    }

    /// Skips a quoted text of a script, at most to the end of the line unless it may go on.
    fn skip_quoted(&mut self, quote: char) {
        while let Some(next) = self.peek() {
            if next == '\n' && quote != '`' {
                return;
            }
            self.step();
            if next == '\\' {
                self.step();
            } else if next == quote {
                return;
            }
        }
    }

    /// Reads the opening of a raw string, and tells how many hashes it has.
    fn raw_string(&mut self) -> Option<usize> {
        let after = self.rest.strip_prefix('r')?;
        let quoted = after.trim_start_matches('#');
        let rest = quoted.strip_prefix('"')?;
        let hashes = after.len() - quoted.len();
        self.rest = rest;
        Some(hashes)
    }

    /// Skips a character literal; a lifetime is left to be read as a name.
    fn character(&mut self) {
        self.step();
        let mut ahead = self.rest.chars();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.skip(2);
                while self.step().is_some_and(|next| next != '\'') {}
            }
            (Some(first), Some('\'')) => self.skip(first.len_utf8() + 1),
            _ => {}
        }
    }

    /// Reads the name of a function, whose words are a sentence in tests.
    fn name(&mut self) {
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        let end = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let text = self.rest[..end].replace('_', " ");
        self.found.push(Passage { line: self.line, text });
        self.last_comment = None;
        self.skip(end);
    }

    /// Skips bytes, and counts their lines.
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.line += skipped.matches('\n').count();
        (self.rest, self.is_fresh) = (rest, false);
    }

    fn finish(self) -> Vec<Passage> {
        self.found
    }
}
