//! Where a test's plans are kept: in a directory or in a Redis of its own.

use std::path::PathBuf;
use std::process::Command;

use punctual_testing::redis::{Cluster, Server as Redis};
use tempfile::TempDir;

use crate::process::{Server, serve};

pub(crate) enum Place {
    Directory(TempDir),
    Redis(Redis),
    Cluster(Cluster),
}

impl Place {
    pub(crate) fn directory() -> Self {
        Self::Directory(tempfile::tempdir().unwrap())
    }

    pub(crate) fn redis() -> Self {
        Self::Redis(Redis::with(&["--appendonly", "yes", "--appendfsync", "always"]))
    }

    pub(crate) fn cluster() -> Self {
        Self::Cluster(Cluster::start())
    }

    /// A server over it, still to be started.
    pub(crate) fn serve(&self) -> Command {
        let store = match self {
            Self::Directory(dir) => dir.path().join("store"),
            Self::Redis(redis) => PathBuf::from(redis.url()),
            Self::Cluster(cluster) => PathBuf::from(cluster.url()),
        };
        let mut command = serve(&store);
        command.arg("--allow-private-targets");
        command
    }

    /// A server whose clock can be moved.
    pub(crate) fn dev(&self) -> Server {
        let mut command = self.serve();
        command.arg("--dev");
        Server::of(command)
    }

    /// Lets time pass while no server runs.
    pub(crate) fn sleep(&self, ms: i64) {
        match self {
            Self::Directory(dir) => {
                let file = dir.path().join("store/dev-clock");
                let ahead: i64 = std::fs::read_to_string(&file).unwrap().parse().unwrap();
                std::fs::write(&file, (ahead + ms).to_string()).unwrap();
            }
            Self::Redis(redis) => {
                let client = redis::Client::open(redis.url()).unwrap();
                let mut shift = redis::cmd("HINCRBY");
                shift.arg("punctual:shard").arg("ahead").arg(ms);
                shift.query::<i64>(&mut client.get_connection().unwrap()).unwrap();
            }
            Self::Cluster(_) => panic!("each of its servers has a clock"),
        }
    }
}
