//! Requests, by the route they are for and the kind of answer they got.

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use matchit::Router;
use punctual_store::measure::{Histogram, TIMES};

/// Kinds of answers, as they read.
const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];
const METHODS: [Method; 5] =
    [Method::GET, Method::PUT, Method::POST, Method::PATCH, Method::DELETE];

/// How long requests took.
pub(crate) struct Requests {
    routes: Router<usize>,
    /// One more than there are routes: the last is for what is none.
    paths: Vec<Path>,
}

struct Path {
    template: String,
    /// By method, one more than are named, and kind of answer; most there never are.
    times: [[OnceLock<Histogram>; CLASSES.len()]; METHODS.len() + 1],
}

impl Path {
    fn new(template: String) -> Self {
        Self { template, times: Default::default() }
    }
}

/// The times of one kind of request.
pub(super) struct Timed<'a> {
    pub(super) method: &'a str,
    pub(super) route: &'a str,
    pub(super) status: &'static str,
    pub(super) times: &'a Histogram,
}

impl Requests {
    /// Requests for these routes, by their templates.
    pub(crate) fn new(templates: impl IntoIterator<Item = String>) -> Self {
        let (mut routes, mut paths) = (Router::new(), Vec::new());
        for template in templates {
            // Two spellings of one route count as the one that came first.
            if routes.insert(template.clone(), paths.len()).is_ok() {
                paths.push(Path::new(template));
            }
        }
        paths.push(Path::new("other".to_owned()));
        Self { routes, paths }
    }

    /// Where requests for a path are counted.
    pub(crate) fn place(&self, path: &str) -> usize {
        self.routes.at(path).map_or(self.paths.len() - 1, |found| *found.value)
    }

    /// The template of a place.
    pub(crate) fn template(&self, place: usize) -> &str {
        &self.paths[place].template
    }

    /// A request was answered.
    pub(crate) fn answered(
        &self,
        place: usize,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let method = METHODS.iter().position(|known| known == method).unwrap_or(METHODS.len());
        let class = usize::from(status.as_u16() / 100).clamp(2, 5) - 2;
        let times = &self.paths[place].times[method][class];
        times.get_or_init(|| Histogram::new(TIMES)).took(took);
    }

    /// All kinds of requests there were.
    pub(super) fn all(&self) -> Vec<Timed<'_>> {
        let mut all = Vec::new();
        for path in &self.paths {
            let methods = METHODS.iter().map(Method::as_str).chain(["other"]);
            for (classes, method) in path.times.iter().zip(methods) {
                for (times, status) in classes.iter().zip(CLASSES) {
                    if let Some(times) = times.get() {
                        all.push(Timed { method, route: &path.template, status, times });
                    }
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_by_route_method_and_kind_of_answer() {
        let templates = ["/v1/queues/{queue}", "/v1/queues/{queue}/tasks/{id}"].map(String::from);
        let requests = Requests::new(templates);
        for (path, method, status) in [
            ("/v1/queues/a", Method::GET, 200),
            ("/v1/queues/b", Method::GET, 201),
            ("/v1/queues/b", Method::PUT, 404),
            ("/v1/queues/a/tasks/b", Method::GET, 503),
            ("/v1/nothing/<script>", Method::GET, 404),
            ("/v1/queues/a", Method::TRACE, 405),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            requests.answered(requests.place(path), &method, status, Duration::from_millis(2));
        }
        let mut seen: Vec<String> = requests
            .all()
            .into_iter()
            .map(|Timed { method, route, status, times }| {
                format!("{method} {route} {status} {}", times.observed().count)
            })
            .collect();
        seen.sort();
        assert_eq!(
            seen,
            [
                "GET /v1/queues/{queue} 2xx 2",
                "GET /v1/queues/{queue}/tasks/{id} 5xx 1",
                "GET other 4xx 1",
                "PUT /v1/queues/{queue} 4xx 1",
                "other /v1/queues/{queue} 4xx 1",
            ]
        );
    }
}
