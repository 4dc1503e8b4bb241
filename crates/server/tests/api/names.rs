//! `.` and `..`: HTTP clients rewrite paths that contain them, so nothing new may be called that.

use punctual_core::{NewTask, Queue, QueueName, Settings, Spec, TaskId, Timestamp};
use punctual_server::ServerConfig;
use punctual_store::{ManualClock, Push, PutQueue};

use super::{TestServer, json};

#[tokio::test]
async fn nothing_new_is_called_dot_or_dots() {
    let server = TestServer::start().await;
    server.put("/v1/queues/q", json!({})).await.is(201);
    let url = "aHR0cDovLzE5Mi4wLjIuMS8"; // http://192.0.2.1/
    for dots in [".", ".."] {
        let escaped = dots.replace('.', "%2E");
        let rule = json!({"plan_type": "hour", "plan_value": 1, "repeat": -1});
        let plan = |fields: serde_json::Value| {
            let mut plan = rule.clone();
            plan.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            plan
        };
        let step = |name: &str, queue: &str| json!([{"name": name, "queue": queue}]);
        for (method, path, body, field) in [
            ("PUT", format!("/v1/queues/{escaped}"), json!({}), "queue"),
            ("POST", format!("/v1/queues/{escaped}/tasks"), json!({}), "queue"),
            ("POST", "/v1/queues/q/tasks".into(), json!({"id": dots}), "id"),
            ("POST", "/v1/queues/q/tasks".into(), json!({"callback": {"queue": dots}}), "queue"),
            (
                "POST",
                "/v1/queues/q/tasks".into(),
                json!({"callback": {"queue": "r", "task": {"id": dots}}}),
                "callback.task.id",
            ),
            ("POST", "/v1/notices".into(), json!({"id": dots, "url": "http://192.0.2.1/"}), "id"),
            ("POST", "/v1/plans".into(), plan(json!({"plan_id": dots, "queue": "q"})), "plan_id"),
            ("POST", "/v1/plans".into(), plan(json!({"queue": dots})), "queue"),
            ("PUT", format!("/v1/plans/{escaped}"), plan(json!({"queue": "q"})), "plan_id"),
            (
                "POST",
                "/v1/plans".into(),
                plan(json!({"queue": "q", "bundle_key": dots})),
                "bundle_key",
            ),
            ("POST", "/v1/flows".into(), json!({"id": dots, "steps": step("a", "q")}), "id"),
            ("POST", "/v1/flows".into(), json!({"steps": step(dots, "q")}), "steps[0].name"),
            ("POST", "/v1/flows".into(), json!({"steps": step("a", dots)}), "steps[0].queue"),
            ("PUT", format!("/v1/workers/{escaped}"), json!({"queues": ["q"]}), "worker"),
            ("PUT", "/v1/workers/w".into(), json!({"queues": ["q", dots]}), "queues"),
            ("POST", "/v1/queues/q/take".into(), json!({"worker": dots}), "worker"),
            ("POST", format!("/v1/queues/q/bundles/{escaped}/push"), json!({"task": 1}), "key"),
            ("POST", format!("/v3/queue/{escaped}/POST/{url}"), json!(1), "merge_key"),
        ] {
            let answer = server.raw(method, &path, &[], body.to_string()).await;
            let detail = answer.problem(422, "invalid");
            assert!(detail.contains(field), "{method} {path} {body}: {detail}");
        }
        let batch = json!({"tasks": [{"id": dots}, {"id": "fine"}]});
        let results = server.post("/v1/queues/q/tasks", batch).await.is(200)["results"].clone();
        assert_eq!((&results[0]["code"], &results[1]["ok"]), (&json!("invalid"), &json!(true)));
        server.delete("/v1/queues/q/tasks/fine").await.is(204);
    }
    let queues = server.get("/v1/queues").await.is(200);
    let queues = queues["items"].as_array().unwrap().iter();
    let names: Vec<_> = queues.map(|queue| queue["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["bundles", "callbacks", "notices", "q"], "nothing was made");
    assert_eq!(server.get("/v1/queues/q").await.is(200)["counts"]["total"], 0);
}

/// They could be made before they were refused.
#[tokio::test]
async fn what_has_such_a_name_already_is_read_and_removed_by_its_escaped_path() {
    let clock = ManualClock::new(Timestamp::parse("2026-11-15T06:00:00Z").unwrap());
    let store = crate::store(&clock);
    let queue = QueueName::parse("..").unwrap();
    let record = Queue {
        name: queue.clone(),
        settings: Settings::default(),
        paused: false,
        created_at: store.now(),
    };
    store.put_queue(PutQueue { queue: record, before: None }).await.unwrap().unwrap();
    let server = TestServer::over(store.clone(), clock, ServerConfig::default()).await;
    for id in [".", ".."] {
        let id = TaskId::parse(id).unwrap();
        let spec = Spec::new(queue.clone(), NewTask::default(), id, store.now());
        let push = Push { queue: queue.clone(), tasks: vec![spec.into()], keyed: None };
        store.push(push).await.unwrap();
    }
    let page = server.get("/v1/queues/%2e%2e/tasks").await.is(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    for id in ["%2E", "%2E%2E"] {
        let path = format!("/v1/queues/%2E%2E/tasks/{id}");
        assert_eq!(server.get(&path).await.is(200)["state"], "ready");
        server.delete(&path).await.is(204);
        server.get(&path).await.problem(404, "not_found");
    }
    server.delete("/v1/queues/%2E%2E").await.is(204);
    server.get("/v1/queues/%2E%2E").await.problem(404, "not_found");
}
