//! Decisions about calls: by rules, by grants, and by asking.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::json;
use sparring_host::permissions::{
    Answer, Asker, Call, Grants, PermissionGate, PermissionGateOptions, Permissions, Policy,
    Question, Reason,
};
use sparring_wire::RawJson;
use tokio::sync::{Notify, Semaphore};

use super::{rules, server};

/// An asker who gives answers one after the other, each when the test lets it.
struct ScriptedAsker {
    answers: Mutex<Vec<Option<Answer>>>,
    asked: AtomicUsize,
    reached: Notify,
    permits: Semaphore,
}

impl ScriptedAsker {
    /// An asker who answers at once.
    fn answering_at_once(answers: &[Option<Answer>]) -> Arc<ScriptedAsker> {
        let asker = ScriptedAsker::answering_when_released(answers);
        asker.permits.add_permits(answers.len());
        asker
    }

    fn answering_when_released(answers: &[Option<Answer>]) -> Arc<ScriptedAsker> {
        Arc::new(ScriptedAsker {
            answers: Mutex::new(answers.iter().rev().copied().collect()),
            asked: AtomicUsize::new(0),
            reached: Notify::new(),
            permits: Semaphore::new(0),
        })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn as_asker(self: &Arc<Self>) -> Option<Arc<dyn Asker>> {
        let asker = self.clone();
        Some(Arc::new(move |_: Question| {
            let asker = asker.clone();
            async move {
                asker.asked.fetch_add(1, Ordering::SeqCst);
                asker.reached.notify_one();
                asker.permits.acquire().await.expect("it is never closed").forget();
                let answer = asker.answers.lock().expect("no panic while locked").pop();
                answer.ok_or_else(|| io::Error::other("asked too often"))
            }
        }))
    }
}

fn permissions(policy: &Policy) -> Permissions {
    let (permissions, findings) = Permissions::new(policy, &[server("fs", "run")]);
    assert!(findings.is_empty(), "{findings:?}");
    permissions
}

fn gate(policy: &Policy, options: PermissionGateOptions) -> PermissionGate {
    PermissionGate::new(permissions(policy), options)
}

fn gate_with_asker(asker: &Arc<ScriptedAsker>) -> PermissionGate {
    let options =
        PermissionGateOptions { asker: asker.as_asker(), ..PermissionGateOptions::default() };
    gate(&Policy::default(), options)
}

/// The reason why a call of a tool of `fs` is made, or the error.
async fn call(gate: &PermissionGate, tool: &str, path: &str) -> Result<&'static str, String> {
    let arguments = RawJson::from(json!({"path": path}));
    let call = Call { id: "1", server: "fs", tool, arguments: arguments.view() };
    match gate.check(call).await {
        Ok(settled) => {
            assert!(settled.allowed);
            Ok(settled.reason.name())
        }
        Err(denied) => Err(denied.to_string()),
    }
}

fn denied(why: &str) -> Result<&'static str, String> {
    Err(why.to_owned())
}

#[tokio::test]
async fn once_is_for_one_call() {
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Once), None]);
    let gate = gate_with_asker(&asker);
    assert_eq!(call(&gate, "rm", "/").await, Ok("answer"));
    assert_eq!(
        call(&gate, "rm", "/").await,
        denied("the tool 'rm' of 'fs' is not allowed: no answer")
    );
    assert_eq!(asker.asked(), 2);
}

#[tokio::test]
async fn always_is_for_every_call_of_the_tool_in_other_runs_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Always), None]);
    let open = |asker| {
        let grants = Grants::open(folder.path()).0;
        gate(
            &Policy::default(),
            PermissionGateOptions { asker, grants, ..PermissionGateOptions::default() },
        )
    };
    let first = open(asker.as_asker());
    assert_eq!(call(&first, "rm", "/a").await, Ok("answer"));
    assert_eq!(call(&first, "rm", "/b").await, Ok("grant"));
    assert_eq!(asker.asked(), 1);
    // The next run cannot ask.
    let next = open(None);
    assert_eq!(call(&next, "rm", "/c").await, Ok("grant"));
    assert!(call(&next, "mv", "/c").await.is_err(), "another tool");

    // The same name with another program.
    next.set_permissions(Permissions::new(&Policy::default(), &[server("fs", "other")]).0);
    assert!(call(&next, "rm", "/c").await.is_err());

    // A granted tool can still be denied.
    next.set_permissions(permissions(&Policy {
        project: rules(&["mcp__fs__rm"], &[], &[]),
        ..Policy::default()
    }));
    assert_eq!(
        call(&next, "rm", "/c").await,
        denied("the tool 'rm' of 'fs' is denied by rule 'mcp__fs__rm' (project)")
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_is_valid_for_this_run_with_a_note() {
    let folder = tempfile::tempdir().expect("a folder");
    let no_folder = folder.path().join("file");
    std::fs::write(&no_folder, "").expect("it is ours");
    let grants = Grants::open(&no_folder).0;
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Always)]);
    let options = PermissionGateOptions {
        asker: asker.as_asker(),
        grants,
        ..PermissionGateOptions::default()
    };
    let gate = gate(&Policy::default(), options);
    let arguments = RawJson::empty_object();
    let call = Call { id: "1", server: "fs", tool: "rm", arguments: arguments.view() };
    let note = gate.check(call).await.expect("it is allowed").note.expect("a note");
    assert!(note.starts_with("the answer is valid for this run only: grants file "), "{note}");
    let again = gate.check(call).await.expect("it is allowed");
    assert_eq!((again.reason, again.note), (Reason::Granted, None));
}

#[tokio::test]
async fn never_is_for_the_rest_of_the_run() {
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Never), Some(Answer::Once)]);
    let gate = gate_with_asker(&asker);
    let never = "the tool 'rm' of 'fs' is denied: you answered never";
    assert_eq!(call(&gate, "rm", "/a").await, denied(never));
    assert_eq!(call(&gate, "rm", "/b").await, denied(never));
    assert_eq!(asker.asked(), 1);
    assert_eq!(call(&gate, "mv", "/b").await, Ok("answer"));
}

#[tokio::test]
async fn without_an_asker_undecided_calls_are_denied_with_a_hint() {
    let policy = Policy { user: rules(&[], &["mcp__fs__rm"], &[]), ..Policy::default() };
    let gate = gate(&policy, PermissionGateOptions::default());
    assert_eq!(
        call(&gate, "mv", "/").await,
        denied(
            "no rule allows the tool 'mv' of 'fs', and this run cannot ask: \
             use --allow mcp__fs__mv or add a rule to the config"
        )
    );
    assert_eq!(
        call(&gate, "rm", "/").await,
        denied(
            "rule 'mcp__fs__rm' (user) requires a confirmation for the tool 'rm' of 'fs', \
             but this run cannot ask: use --allow mcp__fs__rm"
        )
    );
    assert_eq!(
        call(&gate, "it's \u{1b}[2J", "/").await,
        denied(
            "no rule allows the tool 'it's \\u{1b}[2J' of 'fs', and this run cannot ask: \
             use --allow 'mcp__fs__it'\\''s \\u{1b}[2J' or add a rule to the config"
        )
    );
    // The suggested rule works.
    gate.set_permissions(permissions(&Policy {
        session: rules(&[], &[], &["mcp__fs__rm"]),
        ..policy
    }));
    assert_eq!(call(&gate, "rm", "/").await, Ok("rule"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_deadline_does_not_count() {
    let asker = ScriptedAsker::answering_when_released(&[Some(Answer::Always)]);
    let deadline = Duration::from_secs(7);
    let options = PermissionGateOptions {
        asker: asker.as_asker(),
        deadline,
        ..PermissionGateOptions::default()
    };
    let gate = gate(&Policy::default(), options);
    assert_eq!(
        call(&gate, "rm", "/").await,
        denied("the tool 'rm' of 'fs' is not allowed: no answer within 7s")
    );
    // The next call is asked for again.
    asker.permits.add_permits(1);
    assert_eq!(call(&gate, "rm", "/").await, Ok("answer"));
}

#[tokio::test]
async fn a_failing_asker_denies_with_its_error() {
    let asker = Arc::new(|_| async { Err(io::Error::other("the window is gone")) });
    let options = PermissionGateOptions { asker: Some(asker), ..PermissionGateOptions::default() };
    assert_eq!(
        call(&gate(&Policy::default(), options), "rm", "/").await,
        denied("the tool 'rm' of 'fs' is not allowed: cannot ask: the window is gone")
    );
}

#[tokio::test]
async fn identical_calls_share_one_question() {
    let asker = ScriptedAsker::answering_when_released(&[Some(Answer::Once)]);
    let gate = Arc::new(gate_with_asker(&asker));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            tokio::spawn({
                let gate = gate.clone();
                async move { call(&gate, "rm", "/").await }
            })
        })
        .collect();
    asker.reached.notified().await;
    // All calls have reached the gate when this task runs again.
    tokio::task::yield_now().await;
    asker.permits.add_permits(1);
    for each in calls {
        assert_eq!(each.await.expect("it does not panic"), Ok("answer"));
    }
    assert_eq!(asker.asked(), 1);
}

#[tokio::test]
async fn a_call_after_the_answer_is_asked_for_again() {
    let asker = ScriptedAsker::answering_when_released(&[Some(Answer::Once), None]);
    let gate = gate_with_asker(&asker);
    let mut first = Box::pin(call(&gate, "rm", "/"));
    let mut second = Box::pin(call(&gate, "rm", "/"));
    assert!((&mut first).now_or_never().is_none() && (&mut second).now_or_never().is_none());
    asker.permits.add_permits(2);
    assert_eq!(first.await, Ok("answer"));
    // The second call has not read its answer yet.
    assert!(call(&gate, "rm", "/").await.is_err());
    assert_eq!(second.await, Ok("answer"));
    assert_eq!(asker.asked(), 2);
}

#[tokio::test]
async fn an_answer_about_the_tool_decides_calls_with_other_arguments() {
    for (answer, expected) in [(Answer::Always, true), (Answer::Never, false)] {
        let asker = ScriptedAsker::answering_when_released(&[Some(answer)]);
        let gate = gate_with_asker(&asker);
        let answered = async {
            asker.reached.notified().await;
            asker.permits.add_permits(1);
        };
        let (first, second, ()) =
            tokio::join!(call(&gate, "rm", "/a"), call(&gate, "rm", "/b"), answered);
        assert_eq!((first.is_ok(), second.is_ok()), (expected, expected));
        assert_eq!(asker.asked(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_ask_once_about_a_tool() {
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Always)]);
    let gate = Arc::new(gate_with_asker(&asker));
    let calls: Vec<_> = (0..400)
        .map(|number| {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move { call(&gate, "rm", &(number % 8).to_string()).await })
        })
        .collect();
    for each in calls {
        assert!(each.await.expect("it does not panic").is_ok());
    }
    assert_eq!(asker.asked(), 1);
}

#[tokio::test]
async fn once_allows_only_the_arguments_that_were_shown() {
    let asker = ScriptedAsker::answering_at_once(&[Some(Answer::Once), None]);
    let gate = gate_with_asker(&asker);
    let (shown, other) = tokio::join!(call(&gate, "rm", "/tmp/x"), call(&gate, "rm", "/"));
    assert_eq!((shown.is_ok(), other.is_ok()), (true, false));
    assert_eq!(asker.asked(), 2);
}

#[tokio::test]
async fn a_caller_that_gives_up_leaves_the_question_to_the_others() {
    let asker = ScriptedAsker::answering_when_released(&[Some(Answer::Once)]);
    let gate = Arc::new(gate_with_asker(&asker));
    let spawn =
        |gate: Arc<PermissionGate>| tokio::spawn(async move { call(&gate, "rm", "/").await });
    let first = spawn(gate.clone());
    asker.reached.notified().await;
    let second = spawn(gate.clone());
    tokio::task::yield_now().await;
    first.abort();
    asker.reached.notified().await;
    asker.permits.add_permits(1);
    assert_eq!(second.await.expect("it does not panic"), Ok("answer"));
    assert_eq!(asker.asked(), 2);
}

#[tokio::test]
async fn a_deny_rule_added_during_the_question_counts() {
    let asker = ScriptedAsker::answering_when_released(&[Some(Answer::Always)]);
    let gate = gate_with_asker(&asker);
    let changed = async {
        asker.reached.notified().await;
        gate.set_permissions(permissions(&Policy {
            user: rules(&["mcp__fs"], &[], &[]),
            ..Policy::default()
        }));
        asker.permits.add_permits(1);
    };
    let (called, ()) = tokio::join!(call(&gate, "rm", "/"), changed);
    assert_eq!(called, denied("the tool 'rm' of 'fs' is denied by rule 'mcp__fs' (user)"));
}
