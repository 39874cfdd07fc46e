//! Deserializes a struct from a JSON object only.
//!
//! A derived `Deserialize` also accepts an array with the items in the order of the
//! fields. A struct with a flattened `rest` does not, so only structs without one need
//! this.

use serde::de::{Deserializer, Visitor};

/// Implements the two traits of serde for structs that derive them with
/// `#[serde(remote = "Self")]`.
macro_rules! object_only {
    ($($view:ident),*) => {$(
        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $view::deserialize($crate::types::object_only::ObjectOnly(from))
            }
        }

        impl serde::Serialize for $view {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $view::serialize(self, to)
            }
        }
    )*};
}

pub(crate) use object_only;

/// A deserializer that accepts only a map.
pub(crate) struct ObjectOnly<D>(pub(crate) D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ObjectOnly<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use crate::ErrorObject;
    use crate::types::{
        CallToolResult, Completion, GetPromptResult, Implementation, Prompt, PromptArgument,
        PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
        ServerCapabilities, Tool,
    };

    /// Checks that an object is accepted and an array of its values is rejected, from a
    /// text and from a tree.
    fn rejects_an_array<T: DeserializeOwned + Serialize>(object: &str) {
        let tree: serde_json::Value = serde_json::from_str(object).unwrap();
        let read: T = serde_json::from_str(object).unwrap();
        assert_eq!(json!(read), tree);
        let items: Vec<_> = tree.as_object().unwrap().values().collect();
        for array in [json!(items), json!([])] {
            let from_text = serde_json::from_str::<T>(&array.to_string()).map(drop);
            let from_tree = serde_json::from_value::<T>(array.clone()).map(drop);
            for rejected in [from_text, from_tree] {
                let rejected = rejected.expect_err(object).to_string();
                assert!(rejected.contains("invalid type: sequence"), "{array}: {rejected}");
            }
        }
    }

    #[test]
    fn an_array_is_not_an_object() {
        rejects_an_array::<Tool>(r#"{"name":"n","inputSchema":{}}"#);
        rejects_an_array::<CallToolResult>(r#"{"content":[]}"#);
        rejects_an_array::<Resource>(r#"{"uri":"a:b","name":"n"}"#);
        rejects_an_array::<ResourceTemplate>(r#"{"uriTemplate":"a:{b}","name":"n"}"#);
        rejects_an_array::<ResourceContents>(r#"{"uri":"a:b"}"#);
        rejects_an_array::<ReadResourceResult>(r#"{"contents":[]}"#);
        rejects_an_array::<Prompt>(r#"{"name":"n"}"#);
        rejects_an_array::<PromptArgument>(r#"{"name":"n","required":true}"#);
        rejects_an_array::<GetPromptResult>(r#"{"messages":[]}"#);
        rejects_an_array::<PromptMessage>(r#"{"role":"user","content":{}}"#);
        rejects_an_array::<Completion>(r#"{"values":["v"],"total":1,"hasMore":false}"#);
        rejects_an_array::<Implementation>(r#"{"name":"n","version":"1"}"#);
        rejects_an_array::<ServerCapabilities>(r#"{"tools":{}}"#);
        rejects_an_array::<ErrorObject>(r#"{"code":1,"message":"m"}"#);
    }

    #[test]
    fn an_array_inside_another_type_is_not_an_object() {
        let prompt = json!({"name": "n", "arguments": [["a", true]]});
        assert!(serde_json::from_value::<Prompt>(prompt).is_err());
        let got = json!({"messages": [["user", {"type": "text", "text": "t"}]]});
        assert!(serde_json::from_value::<GetPromptResult>(got).is_err());
        let read = json!({"contents": [["a:b"]]});
        assert!(serde_json::from_value::<ReadResourceResult>(read).is_err());
    }

    /// Checks that an object with a duplicate member is rejected.
    fn rejects_a_duplicate<T: DeserializeOwned>(object: &str, member: &str) {
        let rejected = serde_json::from_str::<T>(object).map(drop).expect_err(object).to_string();
        assert!(rejected.contains(&format!("duplicate field `{member}`")), "{rejected}");
    }

    #[test]
    fn a_duplicate_of_a_named_member_is_rejected() {
        rejects_a_duplicate::<Tool>(r#"{"name":"a","name":"b"}"#, "name");
        rejects_a_duplicate::<Tool>(
            r#"{"name":"a","inputSchema":{},"inputSchema":{}}"#,
            "inputSchema",
        );
        rejects_a_duplicate::<CallToolResult>(r#"{"isError":true,"isError":false}"#, "isError");
        rejects_a_duplicate::<Resource>(r#"{"uri":"a:b","uri":"a:c"}"#, "uri");
        rejects_a_duplicate::<Prompt>(r#"{"name":"n","arguments":[],"arguments":[]}"#, "arguments");
        rejects_a_duplicate::<PromptMessage>(r#"{"role":"user","role":"x"}"#, "role");
        rejects_a_duplicate::<Completion>(r#"{"values":[],"values":[]}"#, "values");
        rejects_a_duplicate::<Implementation>(r#"{"name":"a","name":"a"}"#, "name");
        rejects_a_duplicate::<ErrorObject>(r#"{"code":1,"code":1,"message":"m"}"#, "code");
        let nested = r#"{"contents":[{"uri":"a:b","text":"a","text":"b"}]}"#;
        rejects_a_duplicate::<ReadResourceResult>(nested, "text");
    }

    /// The checker reports these duplicates, because it sees the bytes.
    #[test]
    fn the_last_duplicate_of_an_unnamed_member_counts() {
        let text = r#"{"name":"n","title":"a","icons":[],"title":"b"}"#;
        let tool: Tool = serde_json::from_str(text).unwrap();
        assert_eq!(json!(tool.rest), json!({"title": "b", "icons": []}));
    }
}
