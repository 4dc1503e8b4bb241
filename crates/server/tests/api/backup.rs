//! `/v1/backup` over stores that are not copied; how one is copied, the tests of the binary tell.

use super::{TestServer, json};

#[tokio::test]
async fn a_store_that_is_not_copied_says_what_to_do_instead() {
    let server = TestServer::start().await;
    let detail = server.post("/v1/backup", json!({})).await.problem(409, "wrong_state");
    assert!(detail.contains("memory:") || detail.contains("punctual migrate"), "{detail}");
    server.post("/v1/backup", json!({"file": "x"})).await.problem(422, "invalid");
    server.get("/v1/backup").await.problem(405, "method_not_allowed");
}
