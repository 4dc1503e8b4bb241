//! The checks of the SDKs: each is driven through one story against the real server, and runs its own tests.

use crate::server::binaries;
use crate::stages::{Step, cargo, command, root, target};
use crate::tools;

/// Drives every SDK, or those that are named, through the story of `sdks/conformance`.
pub(crate) fn check(languages: &[&str]) -> anyhow::Result<()> {
    prepare()?;
    with_binary(command("sdks/conformance/run", languages)).run()
}

/// Besides the story, each SDK's own tests and types, its examples included.
pub(crate) fn check_all() -> anyhow::Result<()> {
    check(&[])?;
    let python = target().join("sdks/venv/bin/python");
    let python = python.to_string_lossy();
    let within = root().join("sdks/python");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    command(&python, &pip).args(&["--editable", "./sdks/python[test]"]).run()?;
    command(&python, &["-m", "mypy"]).within(&within).run()?;
    with_binary(command(&python, &["-m", "pytest", "-q"])).within(&within).run()?;
    let within = root().join("sdks/typescript");
    with_binary(command("npm", &["test", "--silent"])).within(&within).run()?;
    check_go()?;
    with_binary(command("sdks/java/test", &[])).run()?;
    with_binary(command(&python, &["-B", "sdks/conformance/readme.py"])).run()
}

/// The Go SDK: its format, what vet finds, and its tests. The standard library is all it needs: nothing is fetched.
fn check_go() -> anyhow::Result<()> {
    for folder in ["sdks/go", "sdks/conformance/drivers/go"] {
        let within = root().join(folder);
        command("sh", &["-c", "unformatted=$(gofmt -l .) && test -z \"$unformatted\" || { echo \"gofmt: $unformatted\"; exit 1; }"])
            .within(&within)
            .run()?;
        command("go", &["vet", "./..."]).within(&within).run()?;
    }
    with_binary(command("go", &["test", "-count=1", "./..."])).within(&root().join("sdks/go")).run()
}

fn prepare() -> anyhow::Result<()> {
    tools::require(tools::SDKS)?;
    if command("python3", &["-c", "import ensurepip"]).run().is_err() {
        // Debian keeps it in a package of its own.
        tools::install(&["python3-venv"])?;
    }
    cargo(&["build", "--locked", "-p", "punctual"]).run()
}

fn with_binary(step: Step) -> Step {
    step.env("PUNCTUAL_BIN", &binaries().join("punctual").to_string_lossy())
        .env("SDKS_DIR", &target().join("sdks").to_string_lossy())
}
