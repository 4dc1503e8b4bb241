//! Sentences of a passage, and the words that none may open with.

/// Words and phrases that hide the subject of a sentence.
const AVOIDED: &[&str] = &[
    "what",
    "whatever",
    "who",
    "whoever",
    "whom",
    "whomever",
    "whose",
    "those",
    "that which",
    "where that",
];

/// Text that belongs together: a comment, a message, a heading, a paragraph.
#[derive(Debug, PartialEq)]
pub(super) struct Passage {
    /// The line it begins on.
    pub(super) line: usize,
    /// Its text, with the line breaks of the file.
    pub(super) text: String,
}

/// A sentence that opens with an avoided word.
pub(super) struct Finding {
    pub(super) line: usize,
    /// Its beginning.
    pub(super) sentence: String,
}

/// Finds the sentences of a passage that open with an avoided word. A question may.
pub(super) fn openings(passage: &Passage) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends(&passage.text) {
        let sentence = &passage.text[start..end];
        let bare = sentence.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`');
        if is_avoided(bare) && !bare.trim_end().ends_with('?') {
            let before = &passage.text[..start + (sentence.len() - bare.len())];
            let words: Vec<&str> = bare.split_whitespace().take(12).collect();
            found.push(Finding {
                line: passage.line + before.matches('\n').count(),
                sentence: words.join(" "),
            });
        }
        start = end;
    }
    found
}

/// Where sentences end: after a full stop, a question mark or an exclamation mark that a space follows.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut is_after_stop = false;
    for (at, character) in text.char_indices() {
        if is_after_stop && character.is_whitespace() {
            ends.push(at);
        }
        // A closing quote or bracket belongs to the sentence that has just ended.
        is_after_stop = matches!(character, '.' | '!' | '?')
            || is_after_stop && matches!(character, '*' | ')' | '"' | '\'' | '’');
    }
    ends.push(text.len());
    ends
}

fn is_avoided(sentence: &str) -> bool {
    AVOIDED.iter().any(|avoided| {
        let mut words = sentence.split_whitespace();
        avoided.split(' ').all(|expected| {
            let word = words.next().unwrap_or_default();
            word.trim_end_matches([',', ':', '*']).eq_ignore_ascii_case(expected)
        })
    })
}
