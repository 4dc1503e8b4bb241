//! Access tokens of the real server: where it listens, who may do what, and that nothing tells them.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::process::{Server, complaint, punctual};
use crate::raw::{self, Answer};

const TOKEN: &str = "producer-0123456789";
const ADMIN: &str = "sesame";

/// What a server answers to the bearer of a token.
fn get(server: &Server, path: &str, token: &str) -> Value {
    let mut stream = raw::connect(server.address());
    let head = raw::head("GET", path, &format!("Authorization: Bearer {token}\r\n"));
    stream.write_all(head.as_bytes()).unwrap();
    serde_json::from_str(&Answer::read(stream).body).unwrap()
}

fn serve() -> std::process::Command {
    let mut command = punctual();
    command.args(["serve", "--store", "memory:"]);
    command
}

#[test]
fn other_machines_are_served_with_tokens_or_by_express_wish() {
    let open = ["--listen", "0.0.0.0:0"];
    let output = serve().args(open).output().unwrap();
    let reason = complaint(&output, 1);
    assert!(reason.contains("there are no access tokens"), "{reason}");
    assert!(reason.contains("[[tokens]]"), "it says what to do: {reason}");
    for flags in [
        vec!["--allow-open-access"],
        vec!["--tokens", r#"[{"token":"0123456789abcdef","rights":["read"]}]"#],
    ] {
        let mut command = serve();
        command.args(open).args(flags).stderr(Stdio::null());
        Server::of(command).stop();
    }
}

#[test]
fn a_token_of_the_file_opens_what_its_rights_say() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("punctual.toml");
    let secret = dir.path().join("secret");
    std::fs::write(&secret, format!("{TOKEN}\n")).unwrap();
    let text = format!(
        "listen = '127.0.0.1:0'\n[[tokens]]\ntoken_file = {secret:?}\n\
         rights = ['produce']\nqueues = ['mail']\n\
         [[tokens]]\ntoken = '{ADMIN}'\nrights = ['admin']\n"
    );
    std::fs::write(&config, text).unwrap();
    let log = dir.path().join("log");
    let mut command = serve();
    command.arg("--config").arg(&config).env("PUNCTUAL_LOG", "trace");
    command.stderr(std::fs::File::create(&log).unwrap());
    let server = Server::of(command);
    let run = |token: Option<&str>, args: &[&str]| {
        let mut command = punctual();
        command.args(args).env("PUNCTUAL_URL", &server.url);
        if let Some(token) = token {
            command.env("PUNCTUAL_TOKEN", token);
        }
        command.output().unwrap()
    };
    assert!(run(Some(TOKEN), &["push", "mail", "1"]).status.success());
    let reason = complaint(&run(None, &["push", "mail", "1"]), 1);
    assert!(reason.contains("(unauthorized); name a token with --token"), "{reason}");
    let reason = complaint(&run(Some(TOKEN), &["push", "other", "1"]), 1);
    assert!(reason.contains("not good for queue other"), "{reason}");
    let reason = complaint(&run(Some(TOKEN), &["queue", "list"]), 1);
    assert!(reason.contains("the right read"), "{reason}");
    let told = |path: &str| get(&server, path, ADMIN);
    let config = told("/v1/system/config");
    let items = config["items"].as_array().unwrap();
    let setting = |name: &str| items.iter().find(|setting| setting["name"] == name).unwrap();
    let (listen, store) = (setting("listen"), setting("store"));
    assert_eq!((&listen["source"], &listen["value"]), (&json!("file"), &json!("127.0.0.1:0")));
    assert_eq!((&store["source"], &store["value"]), (&json!("flag"), &json!("memory:")));
    assert_eq!(setting("log")["source"], "environment");
    assert_eq!(setting("tokens")["value"], "***");
    let tokens = told("/v1/system/tokens");
    assert_eq!(tokens["items"].as_array().unwrap().len(), 2);
    assert!(!format!("{config}{tokens}").contains(TOKEN));
    let audit = told("/v1/system/audit");
    assert_eq!(audit["items"][0]["action"], "token.refused");
    server.stop();
    let told = std::fs::read_to_string(log).unwrap();
    assert!(!told.contains(TOKEN), "the log says nothing of tokens");
    assert!(told.contains("fewer than 16 characters is easily guessed"), "{told}");
    assert!(told.contains(" audit: noted who=\"unknown\""), "{told}");
}

#[test]
fn a_token_that_is_wrong_is_refused_at_the_start_with_its_place() {
    for (tokens, part) in [
        (r#"[{"token":"a secret","rights":["read"]}]"#, "tokens[0]: token: only visible ASCII"),
        ("nonsense", "tokens: "),
    ] {
        let output =
            serve().args(["--listen", "127.0.0.1:0", "--tokens", tokens]).output().unwrap();
        let reason = complaint(&output, 1);
        assert!(reason.contains(part), "{reason}");
        assert!(!reason.contains("secret"), "{reason}");
    }
}
