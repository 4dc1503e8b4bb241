//! Programs the checks need besides cargo: what is missing is installed where that is possible, and named where not.

use std::process::{Command, Stdio};

use anyhow::bail;

/// A program, the Debian package that has it, and the oldest version that will do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tool {
    program: &'static str,
    package: &'static str,
    oldest: (u32, u32),
    /// The argument that makes it say its version.
    asked: &'static str,
}

const fn tool(program: &'static str) -> Tool {
    Tool { program, package: program, oldest: (0, 0), asked: "--version" }
}

impl Tool {
    const fn package(self, package: &'static str) -> Self {
        Self { package, ..self }
    }

    const fn asked(self, asked: &'static str) -> Self {
        Self { asked, ..self }
    }

    const fn since(self, major: u32, minor: u32) -> Self {
        Self { oldest: (major, minor), ..self }
    }
}

/// The tools of the benchmarks and tests that need a Redis.
pub(crate) const REDIS: &[Tool] = &[tool("redis-server").since(7, 0)];
/// The tools that check the API.
pub(crate) const API: &[Tool] = &[tool("python3").since(3, 10)];
/// The tools that check the dashboard.
pub(crate) const DASHBOARD: &[Tool] =
    &[tool("node").package("nodejs").since(20, 0), tool("npm"), tool("chromium")];
/// The tools that check the SDKs.
pub(crate) const SDKS: &[Tool] = &[
    tool("bash"),
    tool("python3").since(3, 10),
    tool("node").package("nodejs").since(20, 0),
    tool("npm"),
    tool("go").package("golang-go").since(1, 19).asked("version"),
    tool("javac").package("default-jdk-headless").since(17, 0),
];
/// The tools of the tests and of the examples in the docs.
pub(crate) const TESTS: &[Tool] = &[
    tool("make"),
    tool("bash"),
    tool("curl"),
    tool("jq"),
    tool("strace"),
    tool("faketime"),
    tool("kill").package("procps"),
];

/// Makes sure that tools are there: installs what is missing if it may, and else says how.
pub(crate) fn require(tools: &[Tool]) -> anyhow::Result<()> {
    let missing: Vec<&str> =
        tools.iter().filter(|tool| version(tool).is_none()).map(|tool| tool.package).collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    let wrong: Vec<String> = tools.iter().filter_map(problem).collect();
    if wrong.is_empty() { Ok(()) } else { bail!("{}", wrong.join("; ")) }
}

/// Makes sure that the toolchain has what formats and lints, which rustup leaves out of a minimal one.
pub(crate) fn require_components() -> anyhow::Result<()> {
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        let has = || succeeds(Command::new("cargo").args([command, "--version"]));
        if has() {
            continue;
        }
        println!("installing {component}");
        let added = succeeds(Command::new("rustup").args(["component", "add", component]));
        if !(added && has()) {
            bail!("missing: {component}; install it with: rustup component add {component}");
        }
    }
    Ok(())
}

/// Installs Debian packages if it may, and else says how.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    let names = packages.join(" ");
    if may_install() {
        println!("installing {names}");
        let installed = Command::new("sh")
            .args(["-c", "apt-get update -q && apt-get install -qy --no-install-recommends \"$@\""])
            .arg("sh")
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status()?;
        if installed.success() {
            return Ok(());
        }
    }
    bail!("missing: {names}; install them, for instance as root with: apt-get install {names}")
}

/// Whether `cargo nextest` is there. It runs the tests faster; without it `cargo test` does.
pub(crate) fn has_nextest() -> bool {
    succeeds(Command::new("cargo").args(["nextest", "--version"]))
}

/// Says what is wrong with a tool; nothing if it will do.
fn problem(tool: &Tool) -> Option<String> {
    let Tool { program, oldest, .. } = *tool;
    match version(tool) {
        None => Some(format!("{program} cannot be run")),
        Some(found) if found < oldest => Some(format!(
            "{program} {}.{} or later is needed, and {}.{} is here: the packages of this system are too old, \
             install a newer one and put it first on the PATH",
            oldest.0, oldest.1, found.0, found.1
        )),
        Some(_) => None,
    }
}

/// The version a tool says it has; `(0, 0)` of one that says none, nothing if it cannot be run.
fn version(tool: &Tool) -> Option<(u32, u32)> {
    let output = Command::new(tool.program).arg(tool.asked).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    Some(read_version(&String::from_utf8_lossy(&output.stdout)).unwrap_or_default())
}

/// The first two numbers with a point between them, as in `v20.11.1` or `Redis server v=7.0.15`.
fn read_version(text: &str) -> Option<(u32, u32)> {
    let parts: Vec<&str> = text.split('.').collect();
    parts.windows(2).find_map(|pair| {
        let major = pair[0].rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        let minor = pair[1].split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
        Some((major, minor))
    })
}

fn may_install() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout.starts_with(b"0\n"));
    root && succeeds(Command::new("apt-get").arg("--version"))
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_programs_say() {
        for (text, version) in [
            ("v20.11.1\n", Some((20, 11))),
            ("Python 3.11.2", Some((3, 11))),
            ("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0", Some((7, 0))),
            ("Chromium 140.0.7339.185 built on Debian", Some((140, 0))),
            ("go version go1.19.8 linux/amd64", Some((1, 19))),
            ("no version at all.", None),
        ] {
            assert_eq!(read_version(text), version, "{text}");
        }
    }

    #[test]
    fn a_tool_that_is_too_old_or_missing_is_named() {
        let missing = problem(&tool("no-such-program-anywhere")).expect("it is missing");
        assert_eq!(missing, "no-such-program-anywhere cannot be run");
        let old = problem(&tool("bash").since(999, 1)).expect("no bash is that new");
        assert!(old.starts_with("bash 999.1 or later is needed, and "), "{old}");
    }
}
