//! Clients that call a tool again and again, and check every answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};

use super::http_connection::{Endpoint, HttpConnection};

/// The number of clients of one server.
const CLIENTS: usize = 4;

/// The pause between two calls of a client, so that the load does not depend on the latency.
const PAUSE: Duration = Duration::from_millis(10);

/// The latencies of calls, and the number of failed calls.
#[derive(Debug, Default)]
pub(super) struct Latencies {
    times: Vec<Duration>,
    pub(super) failed: usize,
}

impl Latencies {
    /// Returns the number of calls.
    pub(super) fn count(&self) -> usize {
        self.times.len()
    }

    /// Returns the 99th percentile.
    pub(super) fn percentile_99(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() * 99 / 100).copied().unwrap_or_default()
    }
}

/// The good clients of one server, each in a thread.
pub(super) struct GoodClients {
    latencies: Arc<Mutex<Latencies>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl GoodClients {
    /// Connects the clients and starts their calls.
    pub(super) fn start(endpoint: &Endpoint) -> Result<GoodClients> {
        let (latencies, stop) = (Arc::<Mutex<Latencies>>::default(), Arc::default());
        let start = |number: usize| {
            let mut connection = HttpConnection::open(endpoint, "2025-11-25")?;
            let (endpoint, latencies) = (endpoint.clone(), Arc::clone(&latencies));
            let stop: Arc<AtomicBool> = Arc::clone(&stop);
            Ok(thread::spawn(move || {
                let text = format!("{number}").repeat(1_000);
                for id in 1.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let call = endpoint.call(id, &text);
                    let began = Instant::now();
                    let is_good = match connection.send(&call) {
                        Ok(response) => response.status == 200 && response.body.contains(&text),
                        Err(_) => {
                            connection = HttpConnection::open(&endpoint, "2025-11-25")?;
                            false
                        }
                    };
                    let mut latencies = lock(&latencies);
                    latencies.times.push(began.elapsed());
                    latencies.failed += usize::from(!is_good);
                    drop(latencies);
                    thread::sleep(PAUSE);
                }
                Ok(())
            }))
        };
        let threads = (0..CLIENTS).map(start).collect::<Result<_>>()?;
        Ok(GoodClients { latencies, stop, threads })
    }

    /// Returns the latencies since the last call of this function.
    pub(super) fn take_latencies(&self) -> Latencies {
        std::mem::take(&mut *lock(&self.latencies))
    }

    /// Stops the clients.
    pub(super) fn stop(self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            thread.join().map_err(|_| anyhow!("a good client panicked"))??;
        }
        Ok(())
    }
}

fn lock(latencies: &Mutex<Latencies>) -> MutexGuard<'_, Latencies> {
    latencies.lock().unwrap_or_else(PoisonError::into_inner)
}
