//! Answers requests besides those for turns: models, token counts, embeddings and health.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::api::WireApi;
use super::render_turn::estimate_tokens;

/// The default length of an embedding, and the largest.
const DIMENSIONS: u64 = 256;
const MAX_DIMENSIONS: u64 = 8192;

/// Renders the number of tokens of a request of this many bytes.
pub(super) fn count_tokens(api: WireApi, request_bytes: usize) -> Value {
    let tokens = estimate_tokens(request_bytes);
    match api {
        WireApi::Gemini => json!({"totalTokens": tokens}),
        _ => json!({"input_tokens": tokens}),
    }
}

/// Renders the embeddings of the inputs. Equal inputs have equal embeddings.
pub(super) fn embeddings(body: &Value) -> Result<Value, String> {
    let inputs = match &body["input"] {
        // A list of numbers is one input of tokens.
        Value::Array(items) if !items.iter().all(Value::is_number) => items.clone(),
        Value::Null => return Err("`input` is missing".to_owned()),
        one => vec![one.clone()],
    };
    let dimensions = body["dimensions"].as_u64().unwrap_or(DIMENSIONS).clamp(1, MAX_DIMENSIONS);
    let as_base64 = body["encoding_format"] == "base64";
    let embedding = |(index, input): (usize, &Value)| {
        let numbers = embedding(&input.to_string(), dimensions);
        let numbers = match as_base64 {
            true => {
                let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
                Value::from(STANDARD.encode(bytes))
            }
            false => json!(numbers),
        };
        json!({"object": "embedding", "index": index, "embedding": numbers})
    };
    let data: Vec<Value> = inputs.iter().enumerate().map(embedding).collect();
    let tokens = estimate_tokens(body["input"].to_string().len());
    Ok(json!({
        "object": "list", "data": data, "model": body["model"],
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }))
}

/// Returns a vector of length 1 that depends only on the text.
fn embedding(text: &str, dimensions: u64) -> Vec<f32> {
    let seed = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut random = fastrand::Rng::with_seed(seed);
    let numbers: Vec<f32> = (0..dimensions).map(|_| random.f32() - 0.5).collect();
    let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    numbers.into_iter().map(|it| it / length).collect()
}
