//! Finds the purpose of a request by its method and path.
//!
//! Clients differ in their base URLs, so `/v1` and `/v1beta` at the start of a path are optional.

use super::api::{Api, WireApi};
use crate::http_mock::HttpRequest;

/// The purpose of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// Asks for an answer.
    Turn(TurnRoute),
    /// Lists the models.
    Models,
    /// Describes one model.
    Model(String),
    /// Counts the tokens of a request.
    CountTokens,
    /// Computes embeddings.
    Embeddings,
    /// Asks if the endpoint works.
    Health,
}

/// A request for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnRoute {
    pub(super) api: WireApi,
    /// The model, if the path has one.
    pub(super) model: Option<String>,
    /// True if the path asks for a stream.
    pub(super) stream: bool,
    /// True if the stream is a list of JSON instead of events.
    pub(super) as_list: bool,
}

/// The reason why a path is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnknownRoute {
    Path,
    Method,
}

impl Route {
    /// Finds the purpose of a request to an endpoint of these APIs.
    pub(super) fn find(api: Api, request: &HttpRequest) -> Result<Route, UnknownRoute> {
        let path = unversioned(&request.path);
        let (route, method) = match path {
            "/health" => (Route::Health, "GET"),
            "/models" => (Route::Models, "GET"),
            "/embeddings" if serves(api, WireApi::ChatCompletions) => (Route::Embeddings, "POST"),
            "/messages/count_tokens" if serves(api, WireApi::Messages) => {
                (Route::CountTokens, "POST")
            }
            path => match find_turn(path, request) {
                Some(Route::Turn(turn)) if !serves(api, turn.api) => {
                    return Err(UnknownRoute::Path);
                }
                Some(Route::CountTokens) if !serves(api, WireApi::Gemini) => {
                    return Err(UnknownRoute::Path);
                }
                Some(route) => (route, "POST"),
                None => match path.strip_prefix("/models/") {
                    Some(model) if !model.is_empty() => (Route::Model(model.to_owned()), "GET"),
                    _ => return Err(UnknownRoute::Path),
                },
            },
        };
        match request.method == method {
            true => Ok(route),
            false => Err(UnknownRoute::Method),
        }
    }

    /// Returns the form in which to answer: that of the path, or else the one that the headers
    /// suggest.
    pub(super) fn wire_api(route: Option<&Route>, api: Api, request: &HttpRequest) -> WireApi {
        let has = |name: &str| request.headers.get(name).is_some();
        let likely = match route {
            Some(Route::Turn(turn)) => turn.api,
            _ if has("anthropic-version") => WireApi::Messages,
            _ if has("x-goog-api-key") || request.path.starts_with("/v1beta/") => WireApi::Gemini,
            _ => WireApi::ChatCompletions,
        };
        let served = api.wire_apis();
        if served.contains(&likely) { likely } else { served[0] }
    }
}

fn serves(api: Api, wire: WireApi) -> bool {
    api.wire_apis().contains(&wire)
}

/// Returns a path without its version.
fn unversioned(path: &str) -> &str {
    let versions = ["/v1beta/", "/v1alpha/", "/v1/"];
    let found = versions.into_iter().find(|version| path.starts_with(version));
    found.map_or(path, |version| unversioned(&path[version.len() - 1..]))
}

fn find_turn(path: &str, request: &HttpRequest) -> Option<Route> {
    let turn = |api| TurnRoute { api, model: None, stream: false, as_list: false };
    match path {
        "/chat/completions" => return Some(Route::Turn(turn(WireApi::ChatCompletions))),
        "/responses" => return Some(Route::Turn(turn(WireApi::Responses))),
        "/messages" => return Some(Route::Turn(turn(WireApi::Messages))),
        _ => {}
    }
    // Vertex AI has a project and a publisher before the model.
    let (_, rest) = path.rsplit_once("/models/")?;
    let (model, method) = rest.rsplit_once(':')?;
    let stream = match method {
        "generateContent" => false,
        "streamGenerateContent" => true,
        "countTokens" => return Some(Route::CountTokens),
        _ => return None,
    };
    let query = request.query.as_deref().unwrap_or_default();
    let is_sse =
        form_urlencoded::parse(query.as_bytes()).any(|it| it == ("alt".into(), "sse".into()));
    let model = Some(model.to_owned());
    Some(Route::Turn(TurnRoute {
        model,
        stream,
        as_list: stream && !is_sse,
        ..turn(WireApi::Gemini)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(api: Api, method: &str, target: &str) -> Result<Route, UnknownRoute> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: Some(query.to_owned()),
            headers: sparring_wire::Headers::new(),
            body: Vec::new(),
        };
        Route::find(api, &request)
    }

    #[test]
    fn finds_the_api_of_a_path_with_and_without_a_version() {
        for (path, api) in [
            ("/v1/chat/completions", WireApi::ChatCompletions),
            ("/chat/completions", WireApi::ChatCompletions),
            ("/v1/responses", WireApi::Responses),
            ("/v1/v1/messages", WireApi::Messages),
            ("/messages", WireApi::Messages),
            ("/v1beta/models/g-1:generateContent", WireApi::Gemini),
            ("/v1/projects/p/publishers/google/models/g-1:generateContent", WireApi::Gemini),
        ] {
            let Ok(Route::Turn(turn)) = find(Api::Any, "POST", path) else { panic!("{path}") };
            assert_eq!(turn.api, api, "{path}");
        }
        let Ok(Route::Turn(turn)) =
            find(Api::Any, "POST", "/v1beta/models/g:streamGenerateContent?alt=sse")
        else {
            panic!("a stream")
        };
        assert_eq!((turn.stream, turn.as_list, &*turn.model.unwrap()), (true, false, "g"));
    }

    #[test]
    fn refuses_other_paths_methods_and_apis() {
        assert_eq!(find(Api::OpenAi, "POST", "/v1/messages"), Err(UnknownRoute::Path));
        assert_eq!(find(Api::Anthropic, "POST", "/v1/responses"), Err(UnknownRoute::Path));
        assert_eq!(find(Api::Any, "GET", "/v1/messages"), Err(UnknownRoute::Method));
        assert_eq!(find(Api::Any, "POST", "/v1/nothing"), Err(UnknownRoute::Path));
        assert_eq!(find(Api::Any, "GET", "/v1/models/a/b"), Ok(Route::Model("a/b".to_owned())));
        assert_eq!(find(Api::Gemini, "POST", "/v1/embeddings"), Err(UnknownRoute::Path));
    }
}
