//! Secrets that lie in files: what shows settings, environments or processes cannot tell them.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use punctual_store::redis::RedisLogin;

/// Files with the login at Redis.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct LoginFiles {
    /// A file with the name to log in to Redis with [default: the URL's]
    #[arg(long, env = "PUNCTUAL_REDIS_USERNAME_FILE", value_name = "FILE")]
    pub(crate) redis_username_file: Option<PathBuf>,
    /// A file with the password of Redis [default: the URL's]
    #[arg(long, env = "PUNCTUAL_REDIS_PASSWORD_FILE", value_name = "FILE")]
    pub(crate) redis_password_file: Option<PathBuf>,
    /// A file with the password of the Sentinels, if they have one [default: the URL's]
    #[arg(long, env = "PUNCTUAL_REDIS_SENTINEL_PASSWORD_FILE", value_name = "FILE")]
    pub(crate) redis_sentinel_password_file: Option<PathBuf>,
}

impl LoginFiles {
    /// These files, and for what they leave out those.
    pub(crate) fn or(self, others: Self) -> Self {
        Self {
            redis_username_file: self.redis_username_file.or(others.redis_username_file),
            redis_password_file: self.redis_password_file.or(others.redis_password_file),
            redis_sentinel_password_file: self
                .redis_sentinel_password_file
                .or(others.redis_sentinel_password_file),
        }
    }

    /// What the files say.
    pub(crate) fn read(&self) -> anyhow::Result<RedisLogin> {
        let secret = |name: &str, path: &Option<PathBuf>| {
            path.as_deref().map(|path| read(name, path)).transpose()
        };
        Ok(RedisLogin {
            username: secret("redis_username_file", &self.redis_username_file)?,
            password: secret("redis_password_file", &self.redis_password_file)?,
            sentinel_password: secret(
                "redis_sentinel_password_file",
                &self.redis_sentinel_password_file,
            )?,
        })
    }

    /// Those of the files that hold a password.
    pub(crate) fn passwords(&self) -> impl Iterator<Item = &Path> {
        [&self.redis_password_file, &self.redis_sentinel_password_file]
            .into_iter()
            .filter_map(Option::as_deref)
    }
}

/// The secret in a file, which may end its line.
pub(crate) fn read(setting: &str, path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{setting}: cannot read {}", path.display()))?;
    let secret = text.trim_end_matches(['\r', '\n']);
    ensure!(!secret.is_empty(), "{setting}: {} is empty", path.display());
    ensure!(!secret.contains('\n'), "{setting}: {} has more than one line", path.display());
    Ok(secret.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("password");
        for (text, secret) in [
            ("p@ss word\n", Ok("p@ss word")),
            (" p: \r\n", Ok(" p: ")),
            ("x", Ok("x")),
            ("\n", Err("is empty")),
            ("x-secret\ny", Err("more than one line")),
        ] {
            std::fs::write(&path, text).unwrap();
            let read = read("redis_password_file", &path).map_err(|error| error.to_string());
            match secret {
                Ok(secret) => assert_eq!(read.as_deref(), Ok(secret)),
                Err(part) => {
                    let reason = read.unwrap_err();
                    assert!(reason.starts_with("redis_password_file: "), "{reason}");
                    assert!(reason.contains(part) && !reason.contains("x-secret"), "{reason}");
                }
            }
        }
        let files = LoginFiles {
            redis_username_file: Some(dir.path().join("none")),
            ..LoginFiles::default()
        };
        let reason = files.read().err().unwrap().to_string();
        assert!(reason.starts_with("redis_username_file: cannot read "), "{reason}");
    }
}
