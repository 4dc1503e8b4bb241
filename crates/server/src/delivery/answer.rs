//! Answers of targets: read as far as they matter, then let go.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::RETRY_AFTER;
use hyper::{HeaderMap, Response};
use memchr::memmem::Finder;
use punctual_core::http::Answer;
use punctual_core::limits::RESULT_BYTES_MAX;
use punctual_core::{Span, Timestamp};

/// How far an answer is searched for the text that means success.
const SEARCHED_BYTES_MAX: usize = 1 << 20;

/// Reads an answer into `answer` and counts its bytes, so that what was read is there even if the
/// rest never comes.
pub(super) async fn read(
    response: Response<Incoming>,
    needle: Option<&str>,
    now: Timestamp,
    answer: &mut Answer,
    bytes: &mut usize,
) -> hyper::Result<()> {
    answer.status = response.status().as_u16();
    answer.retry_after = retry_after(response.headers(), now);
    let mut search = needle.map(Search::new);
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        let Ok(chunk) = frame?.into_data() else { continue };
        *bytes += chunk.len();
        let room = RESULT_BYTES_MAX + 1 - answer.body.len();
        answer.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        answer.is_found |= search.as_mut().is_some_and(|search| search.finds(&chunk));
        let is_searched = search.is_none() || answer.is_found || *bytes >= SEARCHED_BYTES_MAX;
        if answer.body.len() > RESULT_BYTES_MAX && is_searched {
            // The rest is not read, and the connection closed with it.
            return Ok(());
        }
    }
    answer.is_whole = true;
    Ok(())
}

/// How long a target asks to be left alone: seconds, or until a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Span> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Span::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let millis = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
    Some(Timestamp::from_millis(millis).since(now))
}

/// A search for a text that may begin in one piece and end in another.
struct Search<'a> {
    finder: Finder<'a>,
    /// The end of what was searched: not quite as long as the text.
    tail: Vec<u8>,
}

impl<'a> Search<'a> {
    fn new(needle: &'a str) -> Self {
        Self { finder: Finder::new(needle), tail: Vec::new() }
    }

    fn finds(&mut self, chunk: &Bytes) -> bool {
        let overlap = self.finder.needle().len() - 1;
        // The seam between what came before and this.
        self.tail.extend_from_slice(&chunk[..chunk.len().min(overlap)]);
        let is_found = self.finder.find(&self.tail).is_some() || self.finder.find(chunk).is_some();
        if chunk.len() > overlap {
            self.tail.clear();
            self.tail.extend_from_slice(&chunk[chunk.len() - overlap..]);
        } else {
            let surplus = self.tail.len().saturating_sub(overlap);
            self.tail.drain(..surplus);
        }
        is_found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_target_may_name_seconds_or_a_date() {
        let now = Timestamp::parse("2026-11-15T06:00:00Z").unwrap();
        for (value, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 15 Nov 2026 06:01:00 GMT", Some(60)),
            ("Sun, 15 Nov 2026 05:00:00 GMT", Some(0)),
            ("99999999999999999999", None),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]);
            assert_eq!(retry_after(&headers, now), expected.map(Span::from_secs), "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_found_over_the_edges_of_pieces(
            pieces in proptest::collection::vec("[ab]{0,4}", 0..12), needle in "[ab]{1,5}",
        ) {
            let mut search = Search::new(&needle);
            let mut found = false;
            for piece in &pieces {
                found |= search.finds(&Bytes::from(piece.clone()));
            }
            prop_assert_eq!(found, pieces.concat().contains(&needle));
        }
    }
}
