//! The stream of events of the real server, over its restart and its end.

use punctual_client::NewTask;

use crate::ear::Ear;
use crate::process::Server;

#[tokio::test]
async fn ids_never_repeat_over_a_restart_and_the_gap_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut ids = std::collections::BTreeSet::new();
    let mut last = String::new();
    for round in 0..3 {
        let server = Server::start(dir.path());
        let header = match round {
            0 => String::new(),
            _ => format!("last-event-id: {last}\r\n"),
        };
        let mut ear = Ear::open(&server, &header);
        if round > 0 {
            assert_eq!(ear.next().unwrap().1, "stream.gap");
        }
        for n in 0..2 {
            let id = format!("{round}-{n}");
            server.client().push("q", &NewTask::new("x").id(id.as_str())).await.unwrap();
            let (event, kind, data) = ear.next().unwrap();
            assert_eq!((kind.as_str(), data["id"].as_str()), ("task.pushed", Some(id.as_str())));
            assert!(ids.insert(event.clone()), "{event} came twice");
            last = event;
        }
        // The stream ends with the server, which does not wait for it.
        server.signal("TERM");
        assert!(ear.next().is_none());
        let (status, _) = server.wait();
        assert!(status.success(), "{status}");
    }
}
