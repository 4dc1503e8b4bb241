//! Lists longer than one answer: page after page, until there is enough.

use punctual_client::{Error, Page};

/// Most items the server puts on a page.
const PAGE: usize = 1_000;

/// Reads pages until there are `limit` items or no more. A page may be short without being the last.
pub(crate) async fn gather<T>(
    limit: usize,
    mut read: impl AsyncFnMut(usize, Option<&str>) -> Result<Page<T>, Error>,
) -> Result<Page<T>, Error> {
    let mut all = Page { items: Vec::new(), next: None };
    loop {
        let wanted = limit.saturating_sub(all.items.len()).clamp(1, PAGE);
        let page = read(wanted, all.next.as_deref()).await?;
        all.items.extend(page.items);
        all.next = page.next;
        if all.next.is_none() || all.items.len() >= limit {
            return Ok(all);
        }
    }
}

/// A list for people: a table, a word if there is nothing, a hint if there is more.
pub(crate) fn listed<T>(page: &Page<T>, none: &str, table: impl FnOnce(&[T]) -> String) -> String {
    match (page.items.is_empty(), &page.next) {
        (true, _) => none.to_owned(),
        (false, None) => table(&page.items),
        (false, Some(_)) => format!("{}\n(there are more; see --limit)", table(&page.items)),
    }
}
