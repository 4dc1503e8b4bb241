//! Checks the files in `deploy/`, as far as possible without Docker, systemd or a cluster: each file can be
//! parsed, every file it names exists, and the binary accepts its arguments and settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use yaml_rust2::{Yaml, YamlLoader};

use crate::stages::{cargo, root, target};

/// Checks everything in `deploy/` and the metadata of the Debian package.
pub(crate) fn check() -> anyhow::Result<()> {
    cargo(&["build", "--locked", "-p", "punctual"]).run()?;
    let dir = target().join("deploy-check");
    fs::create_dir_all(&dir)?;
    for path in files(&root().join("deploy"))? {
        let name = path.strip_prefix(root()).unwrap_or(&path).display().to_string();
        let text = fs::read_to_string(&path).with_context(|| name.clone())?;
        let checked = match path.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => manifest(&path, &text, &dir),
            Some("toml") => settings(&text, &dir),
            Some("service") => unit(&text, &dir),
            None if path.ends_with("Dockerfile") => dockerfile(&text),
            _ => continue,
        };
        checked.with_context(|| name.clone())?;
        println!("{name}: fine");
    }
    debian().context("the Debian package in crates/punctual/Cargo.toml")
}

fn files(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() { all.extend(files(&path)?) } else { all.push(path) }
    }
    all.sort();
    Ok(all)
}

/// Lets the binary parse a command line. With `--help` it does nothing else, but it parses all arguments
/// before that.
fn accepted(args: &[String]) -> anyhow::Result<()> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let output = Command::new(target().join("debug/punctual"))
        .args(&args[..end])
        .arg("--help")
        .stdin(Stdio::null())
        .output()?;
    let reason = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "punctual {}: {reason}", args.join(" "));
    Ok(())
}

/// Lets the binary check settings, with a token in place of the mounted one.
fn settings(text: &str, dir: &Path) -> anyhow::Result<()> {
    let token = dir.join("token");
    fs::write(&token, "0123456789abcdef0123456789abcdef\n")?;
    let mut copy = String::new();
    for line in text.lines() {
        match line.trim().strip_prefix("token_file") {
            Some(_) => copy += &format!("token_file = {token:?}\n"),
            None => copy += &format!("{line}\n"),
        }
    }
    let file = dir.join("punctual.toml");
    fs::write(&file, copy)?;
    let status = Command::new(target().join("debug/punctual"))
        .args(["config", "check"])
        .arg(file)
        .stdout(Stdio::null())
        .status()?;
    ensure!(status.success(), "its settings are not right");
    Ok(())
}

fn manifest(path: &Path, text: &str, dir: &Path) -> anyhow::Result<()> {
    let documents = YamlLoader::load_from_str(text)?;
    ensure!(!documents.is_empty(), "there is nothing in it");
    for document in &documents {
        ensure!(document.as_hash().is_some(), "a document is not a mapping");
        if path.components().any(|part| part.as_os_str() == "kubernetes") {
            for name in ["apiVersion", "kind"] {
                ensure!(document[name].as_str().is_some(), "a document has no {name}");
            }
            ensure!(document["metadata"]["name"].as_str().is_some(), "a document has no name");
        }
        if let Some(text) = document["data"]["punctual.toml"].as_str() {
            settings(text, dir)?;
        }
        containers(document)?;
    }
    Ok(())
}

/// Finds every container that starts the binary, at any depth.
fn containers(yaml: &Yaml) -> anyhow::Result<()> {
    if let Some(list) = yaml.as_vec() {
        return list.iter().try_for_each(containers);
    }
    let Some(members) = yaml.as_hash() else { return Ok(()) };
    let is_ours = yaml["image"].as_str().is_some_and(|image| image.starts_with("punctual"))
        || strings(&yaml["command"]).is_some_and(|command| command == ["punctual"]);
    let args = strings(&yaml["args"]).or_else(|| strings(&yaml["command"]));
    if let Some(args) = args.filter(|_| is_ours) {
        accepted(&args)?;
    }
    members.values().try_for_each(containers)
}

fn strings(yaml: &Yaml) -> Option<Vec<String>> {
    yaml.as_vec()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn dockerfile(text: &str) -> anyhow::Result<()> {
    let ignored = fs::read_to_string(root().join(".dockerignore"))?;
    let mut user = "";
    let mut is_healthy = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["FROM", ..] => user = "",
            ["USER", name] => user = name,
            ["COPY", first, ..] if first.starts_with("--from") => {}
            ["COPY", sources @ .., _] => {
                for source in sources {
                    ensure!(root().join(source).exists(), "COPY: {source} is not there");
                    let is_left_out = ignored.lines().any(|line| line == *source);
                    ensure!(!is_left_out, "COPY: {source} is in .dockerignore");
                }
            }
            ["HEALTHCHECK", ..] => {
                let (_, command) = line.split_once("CMD ").context("HEALTHCHECK has no CMD")?;
                let command = YamlLoader::load_from_str(command)?;
                let command = command.first().and_then(strings).context("HEALTHCHECK: a list")?;
                let [program, args @ ..] = command.as_slice() else { bail!("HEALTHCHECK: empty") };
                ensure!(program == "punctual", "HEALTHCHECK: only the binary is in the image");
                accepted(args)?;
                is_healthy = true;
            }
            _ => {}
        }
    }
    ensure!(!user.is_empty() && !user.starts_with("root"), "it runs as root");
    ensure!(is_healthy, "it has no HEALTHCHECK");
    Ok(())
}

fn unit(text: &str, dir: &Path) -> anyhow::Result<()> {
    let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/punctual "));
    let start = start.context("it does not start /usr/bin/punctual")?;
    accepted(&start.split_whitespace().map(str::to_owned).collect::<Vec<_>>())?;
    let binary = target().join("debug/punctual").display().to_string();
    let file = dir.join("punctual.service");
    // Whether a manual page is installed here says nothing about the unit.
    let copy = text.replace("/usr/bin/punctual", &binary).replace("Documentation=", "# ");
    fs::write(&file, copy)?;
    match Command::new("systemd-analyze").arg("verify").arg(&file).output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success() && said.is_empty(), "systemd-analyze: {said}");
        }
        Err(error) => println!("systemd-analyze is not here, its part is left out: {error}"),
    }
    Ok(())
}

/// Checks that every file of the package exists, except for files that a build makes.
fn debian() -> anyhow::Result<()> {
    let base = root().join("crates/punctual");
    let manifest: toml::Table = fs::read_to_string(base.join("Cargo.toml"))?.parse()?;
    let deb = manifest["package"]["metadata"]["deb"].as_table().context("there is none")?;
    let assets = deb["assets"].as_array().context("it has no assets")?;
    for asset in assets {
        let source = asset[0].as_str().context("an asset is [source, target, mode]")?;
        let is_built = source.starts_with("target/");
        ensure!(is_built || base.join(source).exists(), "{source} is not there");
    }
    let units = deb["systemd-units"]["unit-scripts"].as_str().context("it has no unit")?;
    ensure!(base.join(units).join("punctual.service").exists(), "{units} has no unit");
    println!("crates/punctual/Cargo.toml: the Debian package is fine");
    Ok(())
}
