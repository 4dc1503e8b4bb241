//! The inbox of notices, from `RPUSH` to the target, while servers die.

use punctual_client::NoticeState;
use punctual_testing::eventually;
use punctual_testing::redis::Server as Redis;
use serde_json::{Value, json};

use crate::process::{PATIENCE, Server, complaint, serve};
use crate::target::{answer, target};

const LIST: &str = "redis_message_storge";

fn receiving(redis: &Redis) -> Server {
    let mut command = serve(redis.url().as_ref());
    command.args(["--allow-private-targets", "--notices-list", LIST]);
    command.args(["--notices-backup", "redis_message_tmp_storge"]);
    Server::of(command)
}

#[tokio::test]
async fn messages_in_a_list_are_sent_whoever_serves_it() {
    let redis = Redis::start();
    let (address, requests) = target();
    let leave = |id: &str| {
        let url = format!("http://{address}/");
        let message = json!({"id": id, "url": url, "content_type": "json", "data": [id],
            "success_flag": "ok"});
        redis.command::<u64>(&format!("RPUSH {LIST} {message}"))
    };
    let [one, other] = [receiving(&redis), receiving(&redis)];
    redis.command::<u64>(&format!("RPUSH {LIST} broken"));
    leave("a");
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, json!(["a"]));
    answer(stream, "200 OK");

    until_succeeded(&other, "a").await;

    // Whichever serves the inbox: after its end the other one does.
    one.kill();
    leave("b");
    let (request, stream) = requests.recv_timeout(PATIENCE).unwrap();
    assert_eq!(request, json!(["b"]));
    answer(stream, "200 OK");
    until_succeeded(&other, "b").await;
    let rejected: String = redis.command(&format!("LINDEX {LIST}:rejected 0"));
    let rejected: Value = serde_json::from_str(&rejected).unwrap();
    assert_eq!(rejected["message"], "broken");
    assert_eq!(redis.command::<u64>(&format!("LLEN {LIST}")), 0);
    assert_eq!(redis.command::<u64>("LLEN redis_message_tmp_storge"), 0);

    // What is asked to stop lets go of the inbox at once.
    other.stop();
    let lease = format!("EXISTS {LIST}:lease");
    eventually("the lease is given up", || (redis.command::<u64>(&lease) == 0).then_some(()));
}

async fn until_succeeded(server: &Server, id: &str) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while server.client().notice(id).await.unwrap().state != NoticeState::Succeeded {
        assert!(std::time::Instant::now() < deadline, "{id} is sent");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[test]
fn an_inbox_with_one_list_is_refused() {
    let redis = Redis::start();
    let refused = serve(redis.url().as_ref()).args(["--notices-list", LIST]).output().unwrap();
    assert!(complaint(&refused, 1).contains("notices.backup: "));
}
