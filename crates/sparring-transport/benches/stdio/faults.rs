//! Measures the time until each fault of a child is reported: from the moment it is sent, or
//! from the first moment at which it can be detected, to the error.

use std::io::Write;
use std::time::{Duration, SystemTime};

use sparring_peer::Client;
use sparring_transport::{ChildLink, ChildTarget};
use sparring_wire::Revision;

/// The longest acceptable time.
const LIMIT: Duration = Duration::from_millis(100);
/// Runs of each fault; the slowest counts.
const ROUNDS: usize = 3;
/// The timeout of a call.
const TIMEOUT: Duration = Duration::from_millis(1500);
/// The maximum wait for further frames of the call.
const GRACE: Duration = Duration::from_secs(1);

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"faulty","version":"1"}}}"#;

/// Each fault: its name, the child's action or output, and the delay until it can be detected.
const FAULTS: [(&str, &str, Duration); 12] = [
    ("exits", "exit", Duration::ZERO),
    ("exits, others hold its pipes", "leave", Duration::ZERO),
    ("dies of a signal", "die", Duration::ZERO),
    ("closes stdout, and lives", "close", Duration::ZERO),
    ("a line too long", "long", Duration::ZERO),
    ("wrong jsonrpc", r#"{"jsonrpc":"1.0","id":2,"result":{}}"#, Duration::ZERO),
    ("neither result nor error", r#"{"jsonrpc":"2.0","id":2}"#, Duration::ZERO),
    ("the id in another type", r#"{"jsonrpc":"2.0","id":"2","result":{}}"#, Duration::ZERO),
    ("truncated JSON", r#"{"jsonrpc":"2.0","id":2,"result":{"content":["#, Duration::ZERO),
    ("garbage, after the grace", "Traceback", GRACE),
    ("a foreign id, after the grace", r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, GRACE),
    ("never answers, after the timeout", "stay", TIMEOUT),
];

/// Answers the handshake, waits for a call, prints the time to stderr, and misbehaves.
pub(crate) fn serve(fault: &str) {
    let mut lines = std::io::stdin().lines();
    let mut output = std::io::stdout();
    lines.next();
    writeln!(output, "{HELLO}").expect("the client reads");
    // The notification and the call.
    lines.nth(1);
    if fault == "long" {
        let limit = ChildTarget::new("").max_line;
        let line = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"x":"{}"#, "x".repeat(limit));
        output.write_all(line.as_bytes()).expect("the client reads");
    }
    if fault == "leave" {
        // Not waited for; it ends with the group.
        let others = std::process::Command::new("sh").args(["-c", "sleep 60 &"]).status();
        others.expect("there is a shell");
    }
    eprintln!("{}", now().as_nanos());
    match fault {
        "exit" | "leave" => std::process::exit(3),
        #[cfg(unix)]
        "die" => {
            let (here, kill) = (rustix::process::getpid(), rustix::process::Signal::KILL);
            rustix::process::kill_process(here, kill).expect("one may kill oneself");
        }
        #[cfg(unix)]
        "close" => {
            let nothing = std::fs::File::open("/dev/null").expect("there is nothing");
            rustix::stdio::dup2_stdout(&nothing).expect("stdout can be replaced");
        }
        "long" | "stay" => {}
        answer => writeln!(output, "{answer}").expect("the client reads"),
    }
    lines.for_each(drop);
}

/// Measures and prints all faults; returns true if each was reported in time.
pub(crate) async fn run() -> bool {
    println!("\nfrom when a fault can be known to its error, the worst of {ROUNDS}\n");
    let mut all = true;
    for (name, fault, known_after) in FAULTS {
        let mut worst = Duration::ZERO;
        for _ in 0..ROUNDS {
            worst = worst.max(time_to_error(fault).await.saturating_sub(known_after));
        }
        let verdict = if worst < LIMIT { "met" } else { "MISSED" };
        println!("{name:<36} {worst:>9.2?}, less than {LIMIT:?} wanted: {verdict}");
        all &= worst < LIMIT;
    }
    all
}

/// Returns the time from the fault to the error.
async fn time_to_error(fault: &str) -> Duration {
    let target = ChildTarget::new(super::this_program()).args(["serve-fault", fault]);
    let link = ChildLink::spawn(&target).expect("this program starts");
    let stderr = link.stderr();
    let builder = Client::builder().revision(Revision::V2025_11_25);
    let client = builder.connect(link).await.expect("it begins well");
    let call = client.call_tool("x", serde_json::json!({})).timeout(TIMEOUT);
    call.await.expect_err("a fault");
    let failed_at = now();
    client.close().await;
    let text = stderr.text();
    let at = text.lines().next().and_then(|line| line.parse().ok()).expect("the child's time");
    failed_at.saturating_sub(Duration::from_nanos(at))
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970")
}
