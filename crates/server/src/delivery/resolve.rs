//! Names of hosts become addresses.

use std::io;
use std::net::IpAddr;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::net::lookup_host;

/// Looks up names. What it finds is judged by the connector, whoever says so.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses of a name, the best first.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The machine's own way of looking up names.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        async move { Ok(lookup_host((name, 0)).await?.map(|address| address.ip()).collect()) }
            .boxed()
    }
}
