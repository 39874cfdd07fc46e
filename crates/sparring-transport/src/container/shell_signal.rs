//! Signals a container's processes with its own `sh`, for engines whose processes the host does
//! not show: remote ones, and those of other users.

use super::engine::ContainerEngine;
use super::error::ContainerError;

/// Reads the environment of every process in the container and sends the signals to each that
/// has the entry. Uses shell built-ins only; `read` skips the zero bytes between the variables.
const SCRIPT: &str = r#"
entry=$1
shift
found=0
for process in /proc/[0-9]*; do
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"$entry"*)
      found=$((found + 1))
      for signal in "$@"; do kill -s "$signal" "${process#/proc/}"; done
      break ;;
    esac
  done <"$process/environ"
done 2>/dev/null
echo "found $found"
"#;

/// Sends the signals to the processes that have the entry. Returns their number, or `None` if
/// no shell could search for them.
///
/// # Errors
/// When the engine cannot be run.
pub(super) async fn send_signals(
    engine: &ContainerEngine,
    exec: &[String],
    entry: &str,
    signals: &[&str],
) -> Result<Option<u32>, ContainerError> {
    let script = ["sh", "-c", SCRIPT, "sh", entry];
    let words = exec.iter().map(String::as_str).chain(script).chain(signals.iter().copied());
    let ran = engine.run(words).await?;
    Ok(ran.stdout.trim().strip_prefix("found ").and_then(|count| count.parse().ok()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Command;

    use super::*;

    #[tokio::test]
    async fn a_shell_finds_and_signals_only_processes_with_the_entry() {
        let start = |value: &str| {
            let mut command = Command::new("sleep");
            // Values with several lines before and after the entry.
            command.arg("300").env("A", "1\n2").env("Z", "1\n2").env("SPAR_TEST_SHELL", value);
            command.spawn().unwrap()
        };
        let own = format!("{}-shell", std::process::id());
        let (mut ours, mut other) = (start(&own), start("other"));
        let entry = format!("SPAR_TEST_SHELL={own}");
        let engine = ContainerEngine::new(vec!["env".to_owned()]).unwrap();
        let found = |signals: &'static [&'static str]| send_signals(&engine, &[], &entry, signals);
        assert_eq!(found(&[]).await.unwrap(), Some(1));
        assert!(ours.try_wait().unwrap().is_none());
        assert_eq!(found(&["TERM", "CONT"]).await.unwrap(), Some(1));
        assert_eq!(ours.wait().unwrap().signal(), Some(15));
        assert_eq!(found(&["KILL"]).await.unwrap(), Some(0));
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[tokio::test]
    async fn returns_none_without_a_shell() {
        let engine = ContainerEngine::new(vec!["false".to_owned()]).unwrap();
        assert_eq!(send_signals(&engine, &[], "A=1", &[]).await.unwrap(), None);
    }
}
