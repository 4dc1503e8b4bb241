//! What is measured over Redis, also while it is away.

use std::time::Instant;

use punctual_testing::redis::Server as Redis;

use crate::node;
use crate::process::PATIENCE;
use crate::scrape::{documented, scrape, served};

#[test]
fn the_table_lists_what_is_served_and_an_outage_is_told() {
    let redis = Redis::start();
    let server = node(&redis);
    let text = scrape(&server);
    let mut expected = documented("embedded store:");
    // Only servers that send traces count them.
    expected.remove("punctual_trace_spans_total");
    assert_eq!(served(&text), expected);
    assert!(
        text.contains("punctual_redis_connected 1\n") && text.contains("punctual_store_up 1\n")
    );
    assert!(text.contains("punctual_tasks{queue=\"notices\",state=\"ready\"} 0\n"));
    drop(redis);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = scrape(&server);
        if text.contains("punctual_redis_connected 0\n") && text.contains("punctual_store_up 0\n") {
            assert!(!text.contains("punctual_tasks{"), "{text}");
            break;
        }
        assert!(Instant::now() < deadline, "{text}");
    }
}
