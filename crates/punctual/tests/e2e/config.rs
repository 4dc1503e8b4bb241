//! `punctual config`, `completions` and `man`.

use crate::process::{Server, complaint, punctual};

fn output(args: &[&str]) -> String {
    let output = punctual().args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_is_shown_can_be_checked_and_what_is_wrong_is_told_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("punctual.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, output(&["config", "show"])).unwrap();
    assert_eq!(output(&["config", "check", path]), format!("{path} is right\n"));
    for (text, part) in [
        ("store = 'memory:'\nlisten_on = 'x'\n", "2:1: unknown field `listen_on`"),
        ("store = ''\n", "store: not empty"),
        ("[[tokens]]\ntoken = 'hush hush'\nrights = ['read']\n", "tokens[0]: token: only visible"),
        ("[[tokens]]\nrights = ['read']\n", "tokens[0]: name one of token"),
    ] {
        std::fs::write(&file, text).unwrap();
        let reason = complaint(&punctual().args(["config", "check", path]).output().unwrap(), 1);
        assert!(reason.contains(part), "{reason}");
        assert!(!reason.contains("hush"), "{reason}");
    }
    let reason = complaint(&punctual().args(["config", "check", "none"]).output().unwrap(), 1);
    assert!(reason.contains("cannot read the configuration none"), "{reason}");
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let text = output(&["completions", shell]);
        for command in ["serve", "work", "flow", "worker", "events", "config"] {
            assert!(text.contains(command), "{shell}: {command}");
        }
    }
    let manual = output(&["man"]);
    assert!(manual.starts_with(".ie") && manual.contains("punctual\\-work"), "{manual}");
    let dir = tempfile::tempdir().unwrap();
    output(&["man", "--dir", dir.path().to_str().unwrap()]);
    let page = std::fs::read_to_string(dir.path().join("punctual-plan-add.1")).unwrap();
    assert!(page.contains("Examples:"), "{page}");
    let nowhere = punctual().args(["man", "--dir", "/none/such"]).output().unwrap();
    assert!(complaint(&nowhere, 1).contains("dir: cannot write into /none/such"));
}

#[test]
fn the_doctor_reads_the_configuration_and_asks_the_server_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let (store, config) = (dir.path().join("data"), dir.path().join("punctual.toml"));
    let server = Server::start(&store);
    let text = format!("listen = {:?}\nstore = {store:?}\n", server.address());
    std::fs::write(&config, text).unwrap();
    let doctor = |path: &std::path::Path| {
        let output = punctual().args(["doctor", "--json", "--config"]).arg(path).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.success(), report["ok"] == true, "{report}");
        let checks = report["checks"].as_array().unwrap().clone();
        move |name: &str| checks.iter().find(|check| check["check"] == name).cloned()
    };
    let found = doctor(&config);
    assert_eq!(found("server").unwrap()["verdict"], "ok");
    assert_eq!(found("permissions").unwrap()["verdict"], "ok", "the server made it its own");
    for name in ["configuration", "clock", "open files", "disk", "time", "files"] {
        assert_eq!(found(name).unwrap()["ok"], true, "{name}");
    }
    server.stop();

    std::fs::write(&config, "lisen = 1\n").unwrap();
    let found = doctor(&config);
    let wrong = found("configuration").unwrap();
    assert!(wrong["verdict"] == "fail" && wrong["found"].to_string().contains(":1:1:"), "{wrong}");
}
