//! One Redis.

use punctual_store::conformance;
use punctual_testing::redis::Server;

use crate::documented;
use crate::subject::Redis;

#[tokio::test]
async fn conformance() {
    let server = Server::start();
    conformance::run_all(|clock| Redis::new(server.url(), clock)).await;
    documented::check(&server);
}

#[test]
fn random_sequences() {
    let server = Server::start();
    conformance::random::compare(60, |clock| Redis::new(server.url(), clock));
}

#[test]
fn random_lists() {
    let server = Server::start();
    conformance::random::walk(150, |clock| Redis::new(server.url(), clock));
}
