//! The one runtime of this process that outlives the runtimes of tests: what
//! tests share lives there, and plain tests wait by it.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};

/// How many threads it has. A second one goes on where something blocks the
/// first, as a server under test may.
const THREADS: usize = 2;

/// The runtime, which ends with the process.
pub(crate) fn background() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(THREADS).thread_name("sparring").enable_all();
        builder.build().unwrap_or_else(|error| panic!("no runtime for tests: {error}"))
    })
}
