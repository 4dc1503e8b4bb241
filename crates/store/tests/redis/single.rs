//! One Redis.

use punctual_store::conformance::random;
use punctual_testing::redis::Server;

use crate::subject::Redis;

#[test]
fn random_sequences() {
    let server = Server::start();
    random::compare(60, |clock| Redis::new(server.url(), clock));
}

#[test]
fn random_lists() {
    let server = Server::start();
    random::walk(150, |clock| Redis::new(server.url(), clock));
}
