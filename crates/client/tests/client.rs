//! Pushers and verifiers, from outside.

use std::time::{Duration, UNIX_EPOCH};

use punctual_client::{Client, Error, Pusher, Verifier};

const STAMP: u64 = 1_614_265_330;

#[test]
fn other_deliveries_are_refused() {
    let verifier = Verifier::new(["whsec_AAAA", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]);
    let genuine = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    let body = r#"{"test": 2432232314}"#;
    for (body, id, stamp, signature, now, is_genuine) in [
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", genuine, STAMP, true),
        ("{}", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", genuine, STAMP, false),
        (body, "other", "1614265330", genuine, STAMP, false),
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1,AAAA", STAMP, false),
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", "v1", STAMP, false),
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "soon", genuine, STAMP, false),
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", genuine, STAMP + 301, false),
        (body, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", genuine, STAMP - 301, false),
    ] {
        let headers =
            [("Webhook-Id", id), ("Webhook-Timestamp", stamp), ("Webhook-Signature", signature)];
        let now = UNIX_EPOCH + Duration::from_secs(now);
        let found = verifier.verify_at(body.as_bytes(), headers, now);
        assert_eq!(found.is_ok(), is_genuine, "{id} {stamp} {signature} {found:?}");
    }
    let missing = verifier.verify(b"", []).unwrap_err();
    assert_eq!(missing.to_string(), "the header 'webhook-id' is missing");
}

#[tokio::test]
async fn a_server_that_is_away_is_told_to_each_caller() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let pusher = Pusher::with_retry_for(Client::new(url, None).unwrap(), Duration::ZERO);
    let (one, two, three) =
        tokio::join!(pusher.push("q", "a"), pusher.push("q", "b"), pusher.push("q", "c"));
    for told in [one, two, three] {
        assert!(matches!(told, Err(Error::Unreachable { .. })), "{told:?}");
    }
}
