//! A server that runs: whether it can be reached, does its work, and lets its caller in.

use punctual_client::Client;

use super::Check;
use crate::output::advice;

/// Asks a server.
pub(super) async fn examine(client: &Client) -> Vec<Check> {
    let url = client.url();
    match client.ready().await {
        Ok(ready) => {
            let found = format!("{url} is ready; store {}, {}", ready.store, ready.durability);
            vec![Check::ok("server", found), access(client).await]
        }
        Err(error) if error.status().is_some() => {
            let advice = "look at its log: it says what keeps the server from its work";
            vec![Check::fail("server", vec![error.to_string()], advice)]
        }
        Err(error) => {
            let advice = match advice(&error).trim_start_matches("; ") {
                "" => "look at its log, and at what lies between here and there",
                advice => advice,
            };
            vec![Check::fail("server", vec![error.to_string()], advice)]
        }
    }
}

/// Whether the caller may look at queues.
async fn access(client: &Client) -> Check {
    match client.queues(None, None, 1, None).await {
        Ok(_) => Check::ok("access", "queues can be read"),
        Err(error) => {
            let advice = advice(&error).trim_start_matches("; ");
            Check::fail("access", vec![error.to_string()], advice)
        }
    }
}
