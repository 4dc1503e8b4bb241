//! The inbox of notices: two lists that any program may write to.

use std::sync::Arc;

use punctual_core::http::Reach;
use punctual_core::notice::{Message, NoticeSettings};
use punctual_core::{QueueName, Spec, State};
use punctual_store::{Inbox, InboxLists, Received, Store};
use punctual_testing::eventually;
use punctual_testing::redis::{Cluster, Server};
use serde_json::Value;

use crate::nodes::{Node, id, name};

/// The names of the source design.
fn lists() -> InboxLists {
    let (list, backup) = ("redis_message_storge", "redis_message_tmp_storge");
    InboxLists { list: list.to_owned(), backup: backup.to_owned() }
}

fn inbox(node: &Node) -> Arc<dyn Inbox> {
    node.0.inbox(lists()).unwrap()
}

fn message(id: &str) -> String {
    format!(r#"{{"id":"{id}","url":"http://example.com/"}}"#)
}

/// The notice a message becomes.
fn notice(node: &Node, message: &[u8]) -> Spec {
    let message: Message = serde_json::from_slice(message).unwrap();
    let new = message.into_task(&NoticeSettings::default(), &Reach::public()).unwrap();
    Spec::new(QueueName::notices(), new, id("unnamed"), node.0.now())
}

fn leave_messages(server: &Server, ids: &[&str]) {
    for id in ids {
        server.command::<u64>(&format!("RPUSH redis_message_storge {}", message(id)));
    }
}

fn list(server: &Server, key: &str) -> Vec<String> {
    server.command(&format!("LRANGE {key} 0 -1"))
}

fn messages(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| message(id)).collect()
}

async fn next(inbox: &Arc<dyn Inbox>, n: usize) -> Option<Vec<String>> {
    let taken = inbox.next(n).await.unwrap()?;
    Some(taken.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect())
}

#[tokio::test]
async fn messages_move_through_the_backup_and_become_notices() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let inbox = inbox(&node);
    assert_eq!(next(&inbox, 9).await, Some(Vec::new()));
    leave_messages(&server, &["a", "b", "c"]);
    assert_eq!(next(&inbox, 2).await, Some(messages(&["a", "b"])));
    assert_eq!(list(&server, "redis_message_tmp_storge"), messages(&["a", "b"]));
    assert_eq!(list(&server, "redis_message_storge"), messages(&["c"]));
    let a = message("a").into_bytes();
    assert_eq!(inbox.receive(&a, &notice(&node, &a)).await.unwrap(), Received::Done);
    assert_eq!(list(&server, "redis_message_tmp_storge"), messages(&["b"]));
    let read = node.0.read(&QueueName::notices(), &[id("a")]).await.unwrap().remove(0).unwrap();
    assert_eq!(*read.task.spec, notice_at(&read.task.spec, &node, &a));
    // A message that is not there makes no notice.
    assert_eq!(inbox.receive(&a, &notice(&node, &a)).await.unwrap(), Received::Gone);
    // What was not dealt with is put back, in order, before what waits.
    assert_eq!(next(&inbox, 9).await, Some(messages(&["b", "c"])));
    assert_eq!(node.live("notices").await, 1);
}

/// The notice a message becomes at the time another was made.
fn notice_at(at: &Spec, node: &Node, message: &[u8]) -> Spec {
    Spec { created_at: at.created_at, due_at: at.due_at, ..notice(node, message) }
}

#[tokio::test]
async fn what_cannot_be_a_notice_is_rejected_with_the_reason() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let inbox = inbox(&node);
    server.command::<u64>("RPUSH redis_message_storge {broken");
    leave_messages(&server, &["a", "a"]);
    assert_eq!(next(&inbox, 9).await.unwrap().len(), 3);
    assert_eq!(inbox.reject(b"{broken", "no \"JSON\"").await.unwrap(), Received::Done);
    assert_eq!(inbox.reject(b"{broken", "again").await.unwrap(), Received::Gone);
    let a = message("a").into_bytes();
    for _ in 0..2 {
        assert_eq!(inbox.receive(&a, &notice(&node, &a)).await.unwrap(), Received::Done);
    }
    let rejected = list(&server, "redis_message_storge:rejected");
    let rejected: Vec<Value> =
        rejected.iter().map(|entry| serde_json::from_str(entry).unwrap()).collect();
    assert_eq!(
        (&rejected[0]["message"], &rejected[0]["reason"]),
        (&"{broken".into(), &"no \"JSON\"".into())
    );
    assert_eq!(rejected[1]["message"], message("a"), "the id is taken");
    assert_eq!((rejected.len(), node.live("notices").await), (2, 1));
    assert!(list(&server, "redis_message_tmp_storge").is_empty());
}

#[tokio::test]
async fn one_node_serves_the_inbox_and_another_goes_on_in_order() {
    let server = Server::start();
    let (first, second) = (Node::open(server.url()).await, Node::open(server.url()).await);
    let (a, b) = (inbox(&first), inbox(&second));
    leave_messages(&server, &["1", "2", "3", "4"]);
    assert_eq!(next(&a, 3).await, Some(messages(&["1", "2", "3"])));
    assert_eq!(next(&b, 3).await, None, "the other serves it");
    let one = message("1").into_bytes();
    a.receive(&one, &notice(&first, &one)).await.unwrap();
    // The first one is not heard of any more; its lease ends.
    server.command::<u64>("PEXPIRE redis_message_storge:lease 1");
    eventually("the lease ends", || {
        (server.command::<u64>("EXISTS redis_message_storge:lease") == 0).then_some(())
    });
    assert_eq!(next(&b, 9).await, Some(messages(&["2", "3", "4"])));
    // Whatever the first one still says is without effect.
    let two = message("2").into_bytes();
    assert_eq!(a.receive(&two, &notice(&first, &two)).await.unwrap(), Received::Lost);
    assert_eq!(a.reject(&two, "no").await.unwrap(), Received::Lost);
    a.leave().await.unwrap();
    assert_eq!(next(&a, 9).await, None);
    assert_eq!(b.receive(&two, &notice(&second, &two)).await.unwrap(), Received::Done);
    b.leave().await.unwrap();
    assert_eq!(next(&a, 9).await, Some(messages(&["3", "4"])), "at once");
    assert_eq!(first.live("notices").await, 2);
}

#[tokio::test]
async fn a_full_queue_keeps_messages_waiting() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    node.put("notices", |queue| queue.settings.max = Some(1)).await;
    let inbox = inbox(&node);
    leave_messages(&server, &["a", "b"]);
    assert_eq!(next(&inbox, 9).await.unwrap().len(), 2);
    let (a, b) = (message("a").into_bytes(), message("b").into_bytes());
    assert_eq!(inbox.receive(&a, &notice(&node, &a)).await.unwrap(), Received::Done);
    assert_eq!(inbox.receive(&b, &notice(&node, &b)).await.unwrap(), Received::Full);
    assert_eq!(list(&server, "redis_message_tmp_storge"), messages(&["b"]));
}

#[tokio::test]
async fn an_inbox_needs_two_names_and_a_store_with_lists() {
    let server = Server::start();
    let node = Node::open(server.url()).await;
    let same = InboxLists { list: "a".to_owned(), backup: "a".to_owned() };
    let error = node.0.inbox(same).err().unwrap().to_string();
    assert!(error.starts_with("notices.list, notices.backup: "), "{error}");
    let clock = punctual_store::ManualClock::new(node.0.now());
    let model = punctual_store::model::ModelStore::new(Arc::new(clock));
    assert!(model.inbox(lists()).is_err());
}

#[tokio::test]
async fn in_a_cluster_the_lists_share_a_hash_tag() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    let error = node.0.inbox(lists()).err().unwrap().to_string();
    assert!(error.contains("one hash tag"), "{error}");
    // A tag whose slot lies elsewhere than the queue, and one per server.
    for tag in ["{a}", "{b}", "{c}", "{d}"] {
        let lists = InboxLists { list: format!("{tag}:in"), backup: format!("{tag}:on-its-way") };
        let slot: usize = cluster.servers[0].command(&format!("CLUSTER KEYSLOT {}", lists.list));
        let server = &cluster.servers[slot * 3 / 16_384];
        let ids = ["1", "2", "3"].map(|n| format!("{}{n}", &tag[1..2]));
        for id in &ids {
            server.command::<u64>(&format!("RPUSH {} {}", lists.list, message(id)));
        }
        server.command::<u64>(&format!("RPUSH {} {}", lists.list, message(&ids[0])));
        let inbox = node.0.inbox(lists.clone()).unwrap();
        let taken = inbox.next(9).await.unwrap().unwrap();
        assert_eq!(taken.len(), 4);
        for bytes in &taken {
            let done = inbox.receive(bytes, &notice(&node, bytes)).await.unwrap();
            assert_eq!(done, Received::Done);
        }
        for id in &ids {
            assert_eq!(node.state("notices", id).await, Some(State::Ready), "{id}");
        }
        let again = inbox.reject(&taken[0], "again").await.unwrap();
        assert_eq!(again, Received::Gone);
        for key in [&lists.list, &lists.backup, &format!("{}:outbox", lists.backup)] {
            assert_eq!(server.command::<u64>(&format!("LLEN {key}")), 0, "{key}");
        }
        assert_eq!(server.command::<u64>(&format!("LLEN {}:rejected", lists.list)), 1);
    }
    assert_eq!(node.live(name("notices").as_str()).await, 12);
}

#[tokio::test]
async fn what_was_noted_in_a_cluster_is_handed_over_once() {
    let cluster = Cluster::start();
    let node = Node::open(cluster.url()).await;
    let lists = InboxLists { list: "{n}:in".to_owned(), backup: "{n}:back".to_owned() };
    let slot: usize = cluster.servers[0].command("CLUSTER KEYSLOT {n}:in");
    let server = &cluster.servers[slot * 3 / 16_384];
    let inbox = node.0.inbox(lists).unwrap();
    let receive = async |id: &str| {
        server.command::<u64>(&format!("RPUSH {{n}}:in {}", message(id)));
        let bytes = inbox.next(1).await.unwrap().unwrap().remove(0);
        inbox.receive(&bytes, &notice(&node, &bytes)).await.unwrap()
    };
    assert_eq!(receive("a").await, Received::Done);
    // A node was killed between handing over a note and removing it: the note is there again, and the
    // notice was sent and removed meanwhile.
    let packed = postcard::to_stdvec(&notice(&node, message("a").as_bytes())).unwrap();
    // The task is packed in the second format, which says so.
    let entry = [b"1 \xff\x02".to_vec(), packed].concat();
    redis::cmd("LPUSH")
        .arg("{n}:back:outbox")
        .arg(entry)
        .query::<u64>(&mut server.connect())
        .unwrap();
    node.0.remove(&QueueName::notices(), &[id("a")]).await.unwrap();
    assert_eq!(receive("b").await, Received::Done);
    assert_eq!(node.state("notices", "a").await, None, "not made again");
    assert_eq!(node.state("notices", "b").await, Some(State::Ready));
    assert_eq!(server.command::<u64>("LLEN {n}:back:outbox"), 0);
}
