//! Packs the dashboard and the API reference into the binary: every file compressed, under a path that
//! changes with its content. rust-embed would not do: it packs files as they are, and what is sent is
//! compressed here, once.

use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

/// What is packed, by the ending of its name.
const TYPES: &[(&str, &str)] = &[
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("svg", "image/svg+xml"),
];

/// What the reference needs of Swagger UI.
const SWAGGER_UI: &[&str] = &["swagger-ui-bundle.js", "swagger-ui.css"];

/// A file before it is packed.
struct File {
    name: String,
    kind: &'static str,
    content: Vec<u8>,
}

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=dashboard/app");
    println!("cargo::rerun-if-changed=reference");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    let mut files = Vec::new();
    collect(Path::new("dashboard/app"), "", &mut files)?;
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut modules = String::new();
    for file in files.iter_mut().filter(|file| file.name.ends_with(".js")) {
        if !file.name.starts_with("vendor/") {
            file.content = without_comments(&file.content);
        }
        let link = format!("  <link rel=\"modulepreload\" href=\"assets/VERSION/{}\">", file.name);
        writeln!(modules, "{link}").expect("a string takes all");
    }
    collect(Path::new("reference"), "reference/", &mut files)?;
    unpack(&mut files)?;

    let index = fs::read_to_string("dashboard/app/index.html")?;
    let index = index.replace("  <!-- modules -->\n", &modules);
    let reference = fs::read_to_string("reference/index.html")?;
    let mut hasher = DefaultHasher::new();
    (&index, &reference).hash(&mut hasher);
    let mut table = String::from("&[\n");
    for (number, file) in files.iter().enumerate() {
        (&file.name, &file.content).hash(&mut hasher);
        writeln!(table, "    {},", packed(&out, &number.to_string(), file)?)
            .expect("a string takes all");
    }
    table.push(']');
    let version = format!("{:016x}", hasher.finish());
    let page = |stem, html: &str| {
        let content = html.replace("VERSION", &version).into_bytes();
        packed(&out, stem, &File { name: String::new(), kind: "text/html; charset=utf-8", content })
    };
    let (index, reference) = (page("index", &index)?, page("reference", &reference)?);
    let code = format!(
        "const VERSION: &str = {version:?};\n\
         const INDEX: Asset = {index};\n\
         const REFERENCE: Asset = {reference};\n\
         const FILES: &[Asset] = {table};\n"
    );
    fs::write(out.join("assets.rs"), code)
}

/// Adds all files below a directory that are packed.
fn collect(directory: &Path, prefix: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let last = path.file_name().expect("an entry has a name").to_string_lossy();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{last}/"), files)?;
        } else if let Some(kind) = kind(&last) {
            files.push(File { name: format!("{prefix}{last}"), kind, content: fs::read(&path)? });
        }
    }
    Ok(())
}

fn kind(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    TYPES.iter().find(|(known, _)| *known == ending).map(|(_, kind)| *kind)
}

/// Adds what the reference needs of Swagger UI.
fn unpack(files: &mut Vec<File>) -> io::Result<()> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for wanted in SWAGGER_UI {
        let ending = format!("/dist/{wanted}");
        let paths = archive.file_names().filter_map(Result::ok);
        // The archive's only directory is called after the version.
        let path = paths
            .map(String::from)
            .find(|path| path.ends_with(&ending) && path.matches('/').count() == 2);
        let path = path.expect("the archive holds a build of Swagger UI");
        let mut content = Vec::new();
        archive.by_name(&path)?.read_to_end(&mut content)?;
        let kind = kind(wanted).expect("their types are known");
        files.push(File { name: format!("reference/{wanted}"), kind, content });
    }
    Ok(())
}

/// A module without its indentation and its comments, which are for those who read it in the repository: types, and lines that
/// say why. They would be a tenth of what goes over the wire.
fn without_comments(code: &[u8]) -> Vec<u8> {
    let code = std::str::from_utf8(code).expect("a module is text");
    let mut rest = code;
    let mut slim = String::with_capacity(code.len());
    while let Some((before, after)) = rest.split_once("/**") {
        slim.push_str(before);
        let (_, after) = after.split_once("*/").expect("a comment ends");
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    slim.push_str(rest);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let (mut module, mut is_in_template) = (String::with_capacity(slim.len()), false);
    for line in slim.lines().filter(is_code) {
        // Indentation goes too, except within a template, where it may be a part of the text.
        module.push_str(if is_in_template { line } else { line.trim_start() });
        module.push('\n');
        is_in_template ^= line.matches('`').count() % 2 == 1;
    }
    module.into_bytes()
}

/// Writes a file plain and compressed, and says so in Rust.
fn packed(out: &Path, stem: &str, file: &File) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&file.content)?;
    let (plain, gzip) = (out.join(stem), out.join(format!("{stem}.gz")));
    fs::write(&plain, &file.content)?;
    fs::write(&gzip, encoder.finish()?)?;
    let (name, kind) = (&file.name, file.kind);
    Ok(format!(
        "Asset {{ name: {name:?}, kind: {kind:?}, plain: include_bytes!({plain:?}), gzip: include_bytes!({gzip:?}) }}"
    ))
}
