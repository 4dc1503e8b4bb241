//! Every conformance check on every store, each a test of its own: `store::topic::check`.
//!
//! `cargo nextest run -p punctual-store --test conformance redis::push` runs those of one topic on one store.
//! Redis servers are shared by all checks of a run; each check has a key prefix of its own.
#![allow(clippy::unwrap_used, reason = "a test")]

mod documented;
#[path = "../subjects/local.rs"]
mod local;
#[path = "../subjects/model.rs"]
mod model;
#[path = "../subjects/redis.rs"]
mod redis;
#[path = "../subjects/traveller.rs"]
mod traveller;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use punctual_store::ManualClock;
use punctual_store::conformance::{Check, Subject, all_checks};
use punctual_testing::redis::{Shared, remove_keys};

use self::documented::Documented;
use self::local::Local;
use self::model::Model;
use self::redis::Redis;
use self::traveller::{Kind, Traveller};

/// A check on a store as a test.
fn trial<F, M, S>(store: &str, check: &'static Check, make: F) -> Trial
where
    F: FnOnce(ManualClock) -> M + Send + 'static,
    M: Future<Output = S>,
    S: Subject,
{
    Trial::test(format!("{store}::{}", check.name), move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(check.run(make));
        remove_keys();
        Ok(())
    })
}

/// Every check on a store.
fn of<F, M, S>(store: &str, make: F) -> Vec<Trial>
where
    F: FnOnce(ManualClock) -> M + Copy + Send + 'static,
    M: Future<Output = S>,
    S: Subject,
{
    all_checks().map(|check| trial(store, check, make)).collect()
}

/// The stores of a journey, made when it begins.
type Route = fn() -> [Kind; 2];

/// Everything that outlives a restart outlives a move to another store.
fn journeys() -> Vec<Trial> {
    fn over(shared: Shared) -> Kind {
        Kind::Redis(shared.url())
    }
    let routes: [(&str, Route); 5] = [
        ("from_model_to_disk", || [Kind::Model, Kind::Disk]),
        ("from_disk_to_redis", || [Kind::Disk, over(Shared::Single)]),
        ("from_redis_to_memory", || [over(Shared::Single), Kind::Memory]),
        ("from_memory_to_cluster", || [Kind::Memory, over(Shared::Cluster)]),
        ("from_cluster_to_redis", || [over(Shared::Cluster), over(Shared::Single)]),
    ];
    let travel = |(name, route): (&str, Route)| {
        let about = all_checks().filter(|check| check.is_about_restarts());
        let along =
            |check| trial(name, check, move |clock| Traveller::new(route().to_vec(), clock));
        about.map(along).collect::<Vec<_>>()
    };
    routes.into_iter().flat_map(travel).collect()
}

fn main() -> ExitCode {
    let trials = [
        of("model", Model::new),
        of("memory", Local::in_memory),
        of("disk", Local::on_disk),
        of("redis", |clock| Documented::new(Shared::Single.url(), clock)),
        of("sentinel", |clock| Redis::new(Shared::Sentinel.url(), clock)),
        of("cluster", |clock| Redis::new(Shared::Cluster.url(), clock)),
        journeys(),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().flatten().collect()).exit_code()
}
