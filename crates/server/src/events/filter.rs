//! What a listener wants to hear of.

use punctual_core::QueueName;
use punctual_core::announce::{NAMES, PUB};

use crate::access::Scope;
use crate::engine::Failure;

/// What a listener wants: of some queues, of some kinds, or all there is.
#[derive(Debug, Default)]
pub(crate) struct EventFilter {
    queues: Vec<QueueName>,
    kinds: Vec<Pattern>,
    /// The queues it may hear of.
    scope: Scope,
}

/// The names of some kinds of events.
#[derive(Debug)]
enum Pattern {
    /// This one.
    Exact(String),
    /// All that begin so, up to and with a dot.
    Prefix(String),
}

impl EventFilter {
    /// Reads what a request asks for: lists, separated by commas.
    pub(crate) fn parse(queues: Option<&str>, kinds: Option<&str>) -> Result<Self, Failure> {
        let queue =
            |name: &str| QueueName::parse(name).map_err(|invalid| Failure::Refused(invalid.into()));
        Ok(Self {
            queues: queues.map_or(Ok(Vec::new()), |list| items(list).map(queue).collect())?,
            kinds: kinds
                .map_or(Ok(Vec::new()), |list| items(list).map(Pattern::parse).collect())?,
            scope: Scope::all(),
        })
    }

    /// The same, of these queues only.
    pub(crate) fn within(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Whether it wants an event.
    pub(super) fn wants(&self, kind: &str, queues: &[QueueName]) -> bool {
        let kinds = || self.kinds.iter().any(|pattern| pattern.is(kind));
        let named = || queues.iter().any(|queue| self.queues.contains(queue));
        let allowed = || !queues.is_empty() && queues.iter().all(|queue| self.scope.covers(queue));
        (self.kinds.is_empty() || kinds())
            && (self.queues.is_empty() || named())
            && (self.scope.is_all() || allowed())
    }
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, Failure> {
        if let Some(group) = text.strip_suffix('*') {
            let is_group = |name: &&str| name.strip_prefix(group).is_some();
            let is_known = group == PUB || NAMES.iter().any(is_group);
            if group.ends_with('.') && is_known {
                return Ok(Self::Prefix(group.to_owned()));
            }
        } else if NAMES.contains(&text)
            || text.strip_prefix(PUB).is_some_and(|queue| QueueName::parse(queue).is_ok())
        {
            return Ok(Self::Exact(text.to_owned()));
        }
        let text: String = text.chars().take(100).collect();
        let rule = format!(
            "{text:?} is no event; name one, like task.pushed, or all of a kind, like task.*"
        );
        Err(Failure::invalid("type", rule))
    }

    fn is(&self, kind: &str) -> bool {
        match self {
            Self::Exact(name) => kind == name,
            Self::Prefix(prefix) => kind.starts_with(prefix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_one_by_one_or_all_of_a_kind() {
        let q = [QueueName::parse("q").unwrap()];
        let filter = EventFilter::parse(None, Some("task.*, plan.fired,pub.news")).unwrap();
        for (kind, wanted) in [
            ("task.pushed", true),
            ("plan.fired", true),
            ("plan.error", false),
            ("pub.news", true),
            ("pub.newspaper", false),
        ] {
            assert_eq!(filter.wants(kind, &q), wanted, "{kind}");
        }
        for bad in
            ["", "task", "*", "task.", "task*", "task.*.x", "task.push", "nonsense.*", "pub.a b"]
        {
            assert!(EventFilter::parse(None, Some(bad)).is_err(), "{bad}");
        }
        assert!(EventFilter::parse(None, Some("pub.*,stream.gap,queue.*")).is_ok());
    }

    #[test]
    fn queues_are_named_and_an_event_without_any_is_of_none() {
        let [a, b] = ["a", "b"].map(|name| QueueName::parse(name).unwrap());
        let filter = EventFilter::parse(Some("a,c"), None).unwrap();
        assert!(filter.wants("task.pushed", std::slice::from_ref(&a)));
        assert!(filter.wants("worker.joined", &[b.clone(), a]));
        assert!(!filter.wants("task.pushed", &[b]));
        assert!(!filter.wants("flow.done", &[]));
        assert!(EventFilter::parse(Some("a b"), None).is_err());
    }
}
