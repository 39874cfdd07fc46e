//! Finds the installed peers and their start commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use sparring_transport::ChildTarget;

/// A server from npm, started without npx, which would be slow and add a process.
pub(super) fn npm(package: &str) -> Option<ChildTarget> {
    let folder = format!("node/node_modules/@modelcontextprotocol/{package}/dist/index.js");
    let script = installed(&folder, package)?;
    Some(ChildTarget::new("node").args([script.to_string_lossy()]))
}

/// A script from npm that needs Node 22, with the Node that is installed next to it.
pub(super) fn node22(path: &str) -> Option<ChildTarget> {
    let script = installed(&format!("node22/node_modules/@modelcontextprotocol/{path}"), path)?;
    Some(of_node22().args([script.to_string_lossy()]))
}

/// A script of this repository for Node 22 that needs a package from npm; its first
/// argument is the package's folder.
pub(super) fn node22_with(package: &str, script: &str) -> Option<ChildTarget> {
    let package = installed(&format!("node22/node_modules/{package}"), package)?;
    let folder = package.parent().expect("it is in a folder").to_string_lossy().into_owned();
    Some(of_node22().args([script.to_owned(), folder]))
}

fn of_node22() -> ChildTarget {
    // Without a Node 22 from npm, the system's Node may work.
    let node = installed("node22/node_modules/.bin/node", "Node 22");
    ChildTarget::new(node.map_or("node".into(), |node| node.to_string_lossy().into_owned()))
}

/// The Python with the peers, with these arguments.
pub(crate) fn python(args: &[&str]) -> Option<ChildTarget> {
    let python = installed("python/bin/python", &format!("python {}", args.join(" ")))?;
    Some(ChildTarget::new(python.to_string_lossy()).args(args.iter().copied()))
}

/// A file next to the tests.
pub(crate) fn script(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/peers");
    folder.join(name).to_string_lossy().into_owned()
}

fn installed(path: &str, what: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {what} is not installed; run `cargo xtask peers`");
    }
    found
}

/// An example of this crate; built if needed.
pub(super) fn example(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).expect("target/PROFILE/deps/it");
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--examples"]);
        build.args(profile.ends_with("release").then_some("--release"));
        build.arg("--target-dir").arg(profile.parent().expect("target/PROFILE"));
        assert!(build.status().unwrap().success(), "the examples do not build");
    }
    path.to_string_lossy().into_owned()
}
