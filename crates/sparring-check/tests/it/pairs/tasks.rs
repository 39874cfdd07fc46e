//! Tasks (2025-11-25), on the correct server with tasks for two of its tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::utilities::{error, result};
use crate::support::{Action, AlteredServer};

const V2025_11_25: Revision = Revision::V2025_11_25;

const RELATED_TASK_KEY: &str = "io.modelcontextprotocol/related-task";

/// Alters the response to a request about tasks.
pub(crate) type Alter = fn(&Value, &mut Value);

/// The tasks of a server: the params of the call, and the status.
#[derive(Default)]
struct Tasks(BTreeMap<String, (Value, String)>);

/// Returns the id of the task with this number.
pub(crate) type NewId = fn(u128) -> String;

fn long_id(number: u128) -> String {
    // Multiplication by an odd constant keeps the ids different.
    format!("{:032x}", number.wrapping_mul(0xa5b3_9d2c_71e8_4f06_8d1b_93c7_5e2a_f46d))
}

impl Tasks {
    fn create(&mut self, params: &Value, new_id: NewId) -> Value {
        let id = new_id(self.0.len() as u128 + 1);
        self.0.insert(id.clone(), (params.clone(), "working".to_owned()));
        json!({"task": self.show(&id)})
    }

    fn show(&self, id: &str) -> Value {
        let time = "2025-11-25T10:30:00Z";
        let mut task = json!({
            "taskId": id, "status": self.0[id].1, "createdAt": time, "lastUpdatedAt": time,
            "ttl": 60_000, "pollInterval": 20,
        });
        if self.0[id].1 == "failed" {
            task["statusMessage"] = json!("It failed.");
        }
        task
    }

    /// Ends a task that runs.
    fn finish(&mut self, id: &str) {
        let (params, status) = self.0.get_mut(id).unwrap();
        if status == "working" {
            let failed = params["name"] == "failing";
            *status = if failed { "failed" } else { "completed" }.to_owned();
        }
    }

    fn result(&self, id: &str) -> Value {
        let (params, _) = &self.0[id];
        let failed = params["name"] == "failing";
        let text = match failed {
            true => json!("It failed."),
            false => params["arguments"]["text"].clone(),
        };
        let mut result = json!({"content": [{"type": "text", "text": text}]});
        if failed {
            result["isError"] = json!(true);
        }
        result["_meta"] = json!({RELATED_TASK_KEY: {"taskId": id}});
        result
    }

    /// Returns the response to a request about tasks; none for other requests.
    fn respond(&mut self, request: &Value, new_id: NewId) -> Option<Value> {
        let params = &request["params"];
        let respond = |outcome: Result<Value, i64>| {
            let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
            match outcome {
                Ok(result) => response["result"] = result,
                Err(code) => response["error"] = json!({"code": code, "message": "No."}),
            }
            Some(response)
        };
        let method = request["method"].as_str()?;
        if method == "tools/call" && params.get("task").is_some() {
            return respond(match params["name"] == "echo" || params["name"] == "failing" {
                true => Ok(self.create(params, new_id)),
                false => Err(-32601),
            });
        }
        if method == "tasks/list" {
            return respond(match params.get("cursor") {
                Some(_) => Err(-32602),
                None => Ok(json!({
                    "tasks": self.0.keys().map(|id| self.show(id)).collect::<Vec<_>>(),
                })),
            });
        }
        let id = params["taskId"].as_str()?;
        if !self.0.contains_key(id) {
            return respond(Err(-32602));
        }
        match method {
            "tasks/get" => respond(Ok(self.show(id))),
            "tasks/result" => {
                self.finish(id);
                respond(Ok(self.result(id)))
            }
            "tasks/cancel" if self.0[id].1 != "working" => respond(Err(-32602)),
            "tasks/cancel" => {
                self.0.get_mut(id)?.1 = "cancelled".to_owned();
                respond(Ok(self.show(id)))
            }
            _ => None,
        }
    }
}

/// Adds tasks to the correct server, whose responses are altered.
pub(crate) fn with_tasks(server: AlteredServer, alter: Alter) -> AlteredServer {
    with_task_ids(server, alter, long_id)
}

pub(crate) fn with_task_ids(server: AlteredServer, alter: Alter, new_id: NewId) -> AlteredServer {
    let tasks: Arc<Mutex<Tasks>> = Arc::default();
    let server = server.on_result("initialize", |result| {
        let calls = json!({"tools": {"call": {}}});
        result["capabilities"]["tasks"] = json!({"list": {}, "cancel": {}, "requests": calls});
    });
    let server = server.on_result("tools/list", |result| {
        for tool in result["tools"].as_array_mut().unwrap() {
            if tool["name"] == "echo" || tool["name"] == "failing" {
                tool["execution"] = json!({"taskSupport": "optional"});
            }
        }
    });
    server.on_request(move |request| match tasks.lock().unwrap().respond(request, new_id) {
        Some(mut response) => {
            alter(request, &mut response);
            Action::json(response)
        }
        None => Action::Pass,
    })
}

fn correct(server: AlteredServer) -> AlteredServer {
    with_tasks(server, |_, _| {})
}

/// A case of a server with tasks.
macro_rules! case {
    ($rule:ident, $alter:expr) => {
        Case::lines(Rule::$rule, V2025_11_25, |server| with_tasks(server, $alter)).correct(correct)
    };
}

fn is(request: &Value, method: &str) -> bool {
    request["method"] == method
}

fn fail(response: &mut Value, code: i64) {
    response.as_object_mut().unwrap().remove("result");
    response["error"] = json!({"code": code, "message": "No."});
}

fn succeed(response: &mut Value, result: Value) {
    response.as_object_mut().unwrap().remove("error");
    response["result"] = result;
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::TaskNotIgnored, V2025_11_25, |server| {
        server.on_method("tools/call", |request| match request["params"].get("task") {
            Some(_) => error(request, -32602),
            None => Action::Pass,
        })
    }),
    Case::lines(Rule::TaskNotIgnored, V2025_11_25, |server| {
        server.on_method("tools/call", |request| match request["params"].get("task") {
            Some(_) => result(request, Tasks::default().create(&json!({}), long_id)),
            None => Action::Pass,
        })
    })
    .also(&[Rule::Undeclared]),
    case!(TaskNotCreated, |request, response| {
        if is(request, "tools/call") && response.get("result").is_some() {
            succeed(response, json!({"content": [{"type": "text", "text": "done"}]}));
        }
    }),
    case!(TaskForbidden, |request, response| {
        if is(request, "tools/call") && response.get("error").is_some() {
            fail(response, -32602);
        }
    }),
    case!(UnknownTask, |request, response| {
        if is(request, "tasks/get") && response.get("error").is_some() {
            fail(response, -32603);
        }
    }),
    case!(UnknownTask, |request, response| {
        if is(request, "tasks/result") && response.get("error").is_some() {
            let related = json!({RELATED_TASK_KEY: request["params"]});
            succeed(response, json!({"content": [], "_meta": related}));
        }
    }),
    case!(InvalidTaskCursor, |request, response| {
        if is(request, "tasks/list") && response.get("error").is_some() {
            succeed(response, json!({"tasks": []}));
        }
    }),
    case!(FinalTaskCancelled, |request, response| {
        let is_known = request["params"]["taskId"].as_str().is_some_and(|id| id.len() == 32);
        if is(request, "tasks/cancel") && is_known && response.get("error").is_some() {
            fail(response, -32600);
        }
    }),
    case!(TaskResult, |request, response| {
        if is(request, "tasks/result") && response.get("result").is_some() {
            fail(response, -32603);
        }
    }),
    case!(TaskResult, |request, response| {
        if is(request, "tasks/result") && response.get("result").is_some() {
            response["result"]["content"][0]["text"] = json!("Another text.");
        }
    }),
    case!(TaskResult, |request, response| {
        // The result comes before the end.
        let status = &response["result"]["status"];
        if is(request, "tasks/get") && (status == "completed" || status == "failed") {
            response["result"]["status"] = json!("working");
        }
    }),
    case!(UnlistedTask, |request, response| {
        if is(request, "tasks/list") && response.get("result").is_some() {
            response["result"]["tasks"] = json!([]);
        }
    }),
    Case::lines(Rule::GuessableTask, V2025_11_25, |server| {
        let counts = |number| format!("task-of-the-correct-server-{number:06}");
        with_task_ids(server, |_, _| {}, counts)
    })
    .correct(correct),
    case!(WrongTaskStatus, |request, response| {
        if is(request, "tools/call") && response.get("result").is_some() {
            response["result"]["task"]["status"] = json!("input_required");
        }
    }),
    case!(WrongTaskStatus, |request, response| {
        if is(request, "tasks/cancel") && response.get("result").is_some() {
            response["result"]["status"] = json!("working");
        }
    }),
    Case::lines(Rule::DuplicateTask, V2025_11_25, |server| {
        with_task_ids(server, |_, _| {}, |number| long_id(number / 2 + 1))
    })
    .correct(correct)
    .also(&[Rule::WrongTaskStatus]),
    case!(MissingRelatedTask, |request, response| {
        if is(request, "tasks/result") && response.get("result").is_some() {
            response["result"].as_object_mut().unwrap().remove("_meta");
        }
    }),
    case!(SuperfluousRelatedTask, |request, response| {
        if is(request, "tasks/get") && response.get("result").is_some() {
            let id = &request["params"]["taskId"];
            response["result"]["_meta"] = json!({RELATED_TASK_KEY: {"taskId": id}});
        }
    }),
    case!(MissingStatusMessage, |request, response| {
        if is(request, "tasks/get") && response["result"]["status"] == "failed" {
            response["result"].as_object_mut().unwrap().remove("statusMessage");
        }
    }),
    Case::lines(Rule::TaskRequired, V2025_11_25, |server| {
        let server = with_tasks(server, |_, _| {});
        server.on_result("tools/list", |result| {
            result["tools"][0]["execution"] = json!({"taskSupport": "required"});
        })
    })
    .correct(correct),
    Case::lines(Rule::TaskRequired, V2025_11_25, |server| requiring_task(server, -32602))
        .correct(|server| requiring_task(server, -32601)),
];

/// Requires a task for the tool `echo`, and refuses other calls with this code.
fn requiring_task(server: AlteredServer, code: i64) -> AlteredServer {
    let server = with_tasks(server, |_, _| {}).on_result("tools/list", |result| {
        result["tools"][0]["execution"] = json!({"taskSupport": "required"});
    });
    server.on_method("tools/call", move |request| {
        let params = &request["params"];
        let is_good = params["arguments"]["text"].is_string();
        match params["name"] == "echo" && params.get("task").is_none() && is_good {
            true => error(request, code),
            false => Action::Pass,
        }
    })
}
