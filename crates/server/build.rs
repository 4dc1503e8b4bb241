//! Packs the dashboard into the binary: every file compressed, under a path that changes with its content.

use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// What is packed, by the ending of its name.
const TYPES: &[(&str, &str)] = &[
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("svg", "image/svg+xml"),
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=dashboard/app");
    let root = Path::new("dashboard/app");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();

    let mut hasher = DefaultHasher::new();
    let mut table = String::from("&[\n");
    let mut modules = String::new();
    for (index, (path, kind)) in files.iter().enumerate() {
        let mut content = fs::read_to_string(path)?;
        let name = path.strip_prefix(root).expect("it was found below").display().to_string();
        if name.ends_with(".js") && !name.starts_with("vendor/") {
            content = without_comments(&content);
        }
        (&name, &content).hash(&mut hasher);
        if name.ends_with(".js") {
            writeln!(modules, "  <link rel=\"modulepreload\" href=\"assets/VERSION/{name}\">")
                .expect("a string takes all");
        }
        writeln!(
            table,
            "    {},",
            packed(&out, &index.to_string(), &name, kind, content.as_bytes())?
        )
        .expect("a string takes all");
    }
    table.push(']');

    let html = fs::read_to_string(root.join("index.html"))?;
    html.hash(&mut hasher);
    let version = format!("{:016x}", hasher.finish());
    let html = html.replace("  <!-- modules -->\n", &modules).replace("VERSION", &version);
    let index = packed(&out, "index", "", "text/html; charset=utf-8", html.as_bytes())?;
    let code = format!(
        "const VERSION: &str = {version:?};\nconst INDEX: Asset = {index};\nconst FILES: &[Asset] = {table};\n"
    );
    fs::write(out.join("dashboard.rs"), code)
}

/// All files below a directory that are packed, with their types.
fn collect(directory: &Path, files: &mut Vec<(PathBuf, &'static str)>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        if let Some((_, kind)) = TYPES.iter().find(|(name, _)| ending == Some(name)) {
            files.push((path, kind));
        }
    }
    Ok(())
}

/// A module without its comments, which are for those who read it in the repository: types, and lines that
/// say why. They would be a tenth of what goes over the wire.
fn without_comments(code: &str) -> String {
    let mut rest = code;
    let mut slim = String::with_capacity(code.len());
    while let Some((before, after)) = rest.split_once("/**") {
        slim.push_str(before);
        let (_, after) = after.split_once("*/").expect("a comment ends");
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    slim.push_str(rest);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    slim.lines().filter(is_code).fold(String::new(), |code, line| code + line + "\n")
}

/// Writes a file plain and compressed, and says so in Rust.
fn packed(out: &Path, stem: &str, name: &str, kind: &str, content: &[u8]) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    let (plain, gzip) = (out.join(stem), out.join(format!("{stem}.gz")));
    fs::write(&plain, content)?;
    fs::write(&gzip, encoder.finish()?)?;
    Ok(format!(
        "Asset {{ name: {name:?}, kind: {kind:?}, plain: include_bytes!({plain:?}), gzip: include_bytes!({gzip:?}) }}"
    ))
}
