//! Shared fixtures: started once, and a failed start is reported to every test.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sparring::blocking::Wait as _;
use sparring::{Client, Shared};

use crate::greeter::program;

static STARTED: AtomicUsize = AtomicUsize::new(0);

static SERVER: Shared<Client> = Shared::new(|| {
    Box::pin(async {
        STARTED.fetch_add(1, Ordering::SeqCst);
        Ok(Client::connect(program()).await?)
    })
});

#[test]
fn a_shared_server_is_started_once_by_sixteen_threads_and_outlives_each() {
    let together = Barrier::new(16);
    for runtimes in [true, false] {
        std::thread::scope(|scope| {
            for number in 0..16 {
                let together = &together;
                scope.spawn(move || {
                    let body = async {
                        let client = SERVER.get().await.unwrap();
                        let call = client.call_tool("greet", json!({"name": number.to_string()}));
                        assert_eq!(call.await.unwrap().content(), format!("hello {number}"));
                    };
                    together.wait();
                    match runtimes {
                        // A runtime that ends with the thread.
                        true => tokio::runtime::Builder::new_current_thread()
                            .enable_all()
                            .build()
                            .unwrap()
                            .block_on(body),
                        false => body.wait(),
                    }
                });
            }
        });
    }
    assert_eq!(STARTED.load(Ordering::SeqCst), 1);
}

static TRIED: AtomicUsize = AtomicUsize::new(0);

static BROKEN: Shared<Client> = Shared::new(|| {
    Box::pin(async {
        TRIED.fetch_add(1, Ordering::SeqCst);
        Err("the port is taken".into())
    })
});

static PANICS: Shared<Client> = Shared::new(|| Box::pin(async { panic!("no such table") }));

#[tokio::test]
async fn a_failed_start_is_reported_to_every_test_and_not_repeated() {
    for _ in 0..3 {
        let line = line!() + 1;
        let error = BROKEN.get().await.unwrap_err();
        let expected = "cannot start a shared fixture: the port is taken";
        assert_eq!(error.to_string().lines().next(), Some(expected));
        assert_eq!(error.location().line(), line);
        let error = PANICS.get().await.unwrap_err();
        assert!(
            error.to_string().contains("cannot start a shared fixture: no such table"),
            "{error}"
        );
    }
    assert_eq!(TRIED.load(Ordering::SeqCst), 1);
}
