//! Tasks of 2025-11-25, and authorization.

use axum::body::Body;
use axum::response::Response;
use serde_json::json;

use super::*;
use crate::pairs::authorization::protect;
use crate::pairs::tasks::{with_task_ids, with_tasks};

fn is(request: &Value, method: &str) -> bool {
    request["method"] == method
}

fn is_creation(request: &Value, response: &Value) -> bool {
    is(request, "tools/call") && response["result"]["task"].is_object()
}

fn remove(response: &mut Value, pointer: &str, key: &str) {
    if let Some(object) = response.pointer_mut(pointer).and_then(Value::as_object_mut) {
        object.remove(key);
    }
}

fn accept(response: &mut Value, result: Value) {
    if response.as_object_mut().unwrap().remove("error").is_some() {
        response["result"] = result;
    }
}

fn task(status: &str) -> Value {
    let time = "2025-11-25T10:30:00Z";
    json!({
        "taskId": "0", "status": status, "createdAt": time, "lastUpdatedAt": time, "ttl": null,
    })
}

fn refuse_at(path: &'static str, status: u16) -> impl Fn(AlteredHttp) -> AlteredHttp {
    move |server| {
        protect(server.on_request(move |parts, _| {
            let response = || Response::builder().status(status).body(Body::empty()).unwrap();
            parts.uri.path().contains(path).then(response)
        }))
    }
}

pub(super) const ALL: &[Must] = &[
    lines("a task begins as working", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is_creation(request, response) {
                response["result"]["task"]["status"] = json!("completed");
            }
        })
    }),
    lines("the id of a task is a string", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is_creation(request, response) {
                response["result"]["task"]["taskId"] = json!(7);
            }
        })
    }),
    lines("the id of a task is unique", V2025_11_25, |server| {
        with_task_ids(server, |_, _| {}, |_| "4f9aT3bQk2Lm8Zx7Rw1VuYc5".to_owned())
    }),
    lines("the id of a task cannot be guessed", V2025_11_25, |server| {
        with_task_ids(server, |_, _| {}, |number| number.to_string())
    }),
    lines("a task has its time of creation", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is_creation(request, response) {
                remove(response, "/result/task", "createdAt");
            }
        })
    }),
    lines("the times of a task follow ISO 8601", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is_creation(request, response) {
                response["result"]["task"]["lastUpdatedAt"] = json!("Tue, 25 Nov 2025");
            }
        })
    }),
    lines("tasks/get has the time to live", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/get") {
                remove(response, "/result", "ttl");
            }
        })
    }),
    lines("the status of a task is known", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/get") && response["result"]["status"] == "completed" {
                response["result"]["status"] = json!("done");
            }
        })
    }),
    lines("a call as a task gets a task", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is_creation(request, response) {
                response["result"] = json!({"content": [{"type": "text", "text": "Done."}]});
            }
        })
    }),
    lines("the result of a task names the task", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/result") {
                remove(response, "/result", "_meta");
            }
        })
    }),
    lines("the result of a task is that of its call", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/result") && response.get("result").is_some() {
                remove(response, "/result", "content");
            }
        })
    }),
    lines("an unknown task gets the error -32602", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/get")
                && let Some(error) = response.get_mut("error")
            {
                error["code"] = json!(-32603);
            }
        })
    }),
    lines("the result of an unknown task is refused", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/result") {
                accept(response, json!({"content": []}));
            }
        })
    }),
    lines("a final task cannot be cancelled", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/cancel") {
                accept(response, task("cancelled"));
            }
        })
    }),
    lines("a cancelled task is cancelled", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/cancel") && response.get("result").is_some() {
                response["result"]["status"] = json!("working");
            }
        })
    }),
    lines("a known task is listed", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/list") && response.get("result").is_some() {
                response["result"]["tasks"] = json!([]);
            }
        })
    }),
    lines("a wrong cursor of the list of tasks is refused", V2025_11_25, |server| {
        with_tasks(server, |request, response| {
            if is(request, "tasks/list") {
                accept(response, json!({"tasks": []}));
            }
        })
    }),
    lines("task metadata is ignored by a server without tasks", V2025_11_25, |server| {
        server.on_method("tools/call", |message| match message["params"].get("task") {
            Some(_) => error(message, -32602, "Unknown field: task"),
            None => Action::Pass,
        })
    }),
    lines("a tool that requires a task does not run without one", V2025_11_25, |server| {
        let server = with_tasks(server, |_, _| {});
        server.on_result("tools/list", |result| {
            for tool in result["tools"].as_array_mut().unwrap() {
                if tool["name"] == "echo" {
                    tool["execution"]["taskSupport"] = json!("required");
                }
            }
        })
    }),
    over_http("a request without a token gets the status 401", V2025_11_25, |server| {
        protect(server.on_request(|parts, _| {
            let is_refused =
                parts.uri.path() == "/mcp" && !parts.headers.contains_key("authorization");
            let response = || Response::builder().status(403).body(Body::empty()).unwrap();
            is_refused.then(response)
        }))
    }),
    over_http("a wrong token is refused", V2025_06_18, |server| {
        protect(server.pass(|parts, _| parts.headers.contains_key("authorization")))
    }),
    over_http("a token in the query is not accepted", V2026_07_28, |server| {
        protect(
            server
                .pass(|parts, _| parts.uri.query().is_some_and(|it| it.contains("access_token="))),
        )
    }),
    over_http("protected-resource metadata is published", V2025_11_25, |server| {
        refuse_at("oauth-protected-resource", 404)(server)
    }),
    over_http("protected-resource metadata names an authorization server", V2026_07_28, |server| {
        protect(server.on_request(|parts, _| {
            let body = json!({"resource": format!("http://{}/mcp", parts.headers["host"].to_str().unwrap())});
            let response = || {
                let builder = Response::builder().header("content-type", "application/json");
                builder.body(Body::from(body.to_string())).unwrap()
            };
            parts.uri.path().contains("oauth-protected-resource").then(response)
        }))
    }),
];
