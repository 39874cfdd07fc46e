//! Compares the cost of the four ways to test the server: opening it, a ping, and a query.
//!
//! Every figure is a median of rounds in which the ways alternate. Only the ratios are
//! meaningful. Run it with `cargo xtask bench sql`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its findings")]

#[cfg(unix)]
#[path = "../tests/it/ways/four.rs"]
mod four;

#[cfg(unix)]
fn main() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::spawn(costs::print()).await.expect("no panic") });
}

#[cfg(not(unix))]
fn main() {
    println!("one of the ways is a pair of named pipes, which there are only on Unix");
}

#[cfg(unix)]
mod costs {
    use std::time::Instant;

    use serde_json::json;

    use super::four::{WAYS, Way};

    /// Rounds for each way.
    const ROUNDS: usize = 9;
    /// Requests in each round.
    const CALLS: u32 = 500;

    /// Microseconds of one round: for opening the server, for a ping, and for a query.
    type Costs = [f64; 3];

    pub(super) async fn print() {
        let mut rounds: [Vec<Costs>; 4] = Default::default();
        for _ in 0..ROUNDS {
            for (name, rounds) in WAYS.iter().zip(&mut rounds) {
                rounds.push(measure_round(name).await);
            }
        }
        println!(
            "one server in four ways, {ROUNDS} rounds of {CALLS}, medians; x is the direct way\n"
        );
        println!("{:<20} {:>22} {:>22} {:>22}", "", "to open it", "a ping", "a query of 3 rows");
        let direct = medians(&rounds[0]);
        for (name, rounds) in WAYS.iter().zip(&rounds) {
            let cells = medians(rounds).into_iter().zip(direct);
            let cells: Vec<_> = cells
                .map(|(cost, baseline)| format!("{cost:>11.1} µs {:>5.1}x", cost / baseline))
                .collect();
            println!(
                "{name:<20} {}",
                cells.iter().map(|it| format!("{it:>23}")).collect::<String>()
            );
        }
    }

    async fn measure_round(name: &str) -> Costs {
        let start = Instant::now();
        let mut way = Way::open(name).await;
        let opened = start.elapsed().as_secs_f64() * 1e6;
        let query = json!({"sql": "select name, cents from totals order by cents desc"});
        // The first request is slower in every way.
        way.ask("ping", json!({})).await;
        way.call("query", query.clone()).await;

        let start = Instant::now();
        for _ in 0..CALLS {
            way.ask("ping", json!({})).await;
        }
        let ping = start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS);
        let start = Instant::now();
        for _ in 0..CALLS {
            let answer = way.call("query", query.clone()).await;
            assert_eq!(answer["structuredContent"]["row_count"], 3);
        }
        let query = start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS);
        [opened, ping, query]
    }

    fn medians(rounds: &[Costs]) -> Costs {
        std::array::from_fn(|index| {
            let mut costs: Vec<f64> = rounds.iter().map(|round| round[index]).collect();
            costs.sort_by(f64::total_cmp);
            costs[costs.len() / 2]
        })
    }
}
