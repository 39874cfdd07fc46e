//! Reads a struct from a JSON object only.
//!
//! A derived `Deserialize` takes an array as well, its items in the order of the fields.
//! A struct with a flattened `rest` does not, so only structs without one need this.

use serde::de::{Deserializer, Visitor};

/// Implements both traits of serde for structs that derive them with
/// `#[serde(remote = "Self")]`.
macro_rules! object_only {
    ($($view:ident),*) => {$(
        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $view::deserialize($crate::types::object::ObjectOnly(from))
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

/// A deserializer that gives a map and nothing else.
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

    /// Reads an object, and refuses its values as an array, from a text and from a tree.
    fn refuses_an_array<T: DeserializeOwned + Serialize>(object: &str) {
        let tree: serde_json::Value = serde_json::from_str(object).unwrap();
        let read: T = serde_json::from_str(object).unwrap();
        assert_eq!(json!(read), tree);
        let items: Vec<_> = tree.as_object().unwrap().values().collect();
        for array in [json!(items), json!([])] {
            let from_text = serde_json::from_str::<T>(&array.to_string()).map(drop);
            let from_tree = serde_json::from_value::<T>(array.clone()).map(drop);
            for refused in [from_text, from_tree] {
                let refused = refused.expect_err(object).to_string();
                assert!(refused.contains("invalid type: sequence"), "{array}: {refused}");
            }
        }
    }

    #[test]
    fn an_array_is_no_object() {
        refuses_an_array::<Tool>(r#"{"name":"n","inputSchema":{}}"#);
        refuses_an_array::<CallToolResult>(r#"{"content":[]}"#);
        refuses_an_array::<Resource>(r#"{"uri":"a:b","name":"n"}"#);
        refuses_an_array::<ResourceTemplate>(r#"{"uriTemplate":"a:{b}","name":"n"}"#);
        refuses_an_array::<ResourceContents>(r#"{"uri":"a:b"}"#);
        refuses_an_array::<ReadResourceResult>(r#"{"contents":[]}"#);
        refuses_an_array::<Prompt>(r#"{"name":"n"}"#);
        refuses_an_array::<PromptArgument>(r#"{"name":"n","required":true}"#);
        refuses_an_array::<GetPromptResult>(r#"{"messages":[]}"#);
        refuses_an_array::<PromptMessage>(r#"{"role":"user","content":{}}"#);
        refuses_an_array::<Completion>(r#"{"values":["v"],"total":1,"hasMore":false}"#);
        refuses_an_array::<Implementation>(r#"{"name":"n","version":"1"}"#);
        refuses_an_array::<ServerCapabilities>(r#"{"tools":{}}"#);
        refuses_an_array::<ErrorObject>(r#"{"code":1,"message":"m"}"#);
    }

    #[test]
    fn an_array_is_no_object_inside_another_type_either() {
        let prompt = json!({"name": "n", "arguments": [["a", true]]});
        assert!(serde_json::from_value::<Prompt>(prompt).is_err());
        let got = json!({"messages": [["user", {"type": "text", "text": "t"}]]});
        assert!(serde_json::from_value::<GetPromptResult>(got).is_err());
        let read = json!({"contents": [["a:b"]]});
        assert!(serde_json::from_value::<ReadResourceResult>(read).is_err());
    }

    /// Refuses an object that has one of its members twice.
    fn refuses_a_duplicate<T: DeserializeOwned>(object: &str, member: &str) {
        let refused = serde_json::from_str::<T>(object).map(drop).expect_err(object).to_string();
        assert!(refused.contains(&format!("duplicate field `{member}`")), "{refused}");
    }

    #[test]
    fn a_member_that_a_type_names_stands_there_once() {
        refuses_a_duplicate::<Tool>(r#"{"name":"a","name":"b"}"#, "name");
        refuses_a_duplicate::<Tool>(
            r#"{"name":"a","inputSchema":{},"inputSchema":{}}"#,
            "inputSchema",
        );
        refuses_a_duplicate::<CallToolResult>(r#"{"isError":true,"isError":false}"#, "isError");
        refuses_a_duplicate::<Resource>(r#"{"uri":"a:b","uri":"a:c"}"#, "uri");
        refuses_a_duplicate::<Prompt>(r#"{"name":"n","arguments":[],"arguments":[]}"#, "arguments");
        refuses_a_duplicate::<PromptMessage>(r#"{"role":"user","role":"x"}"#, "role");
        refuses_a_duplicate::<Completion>(r#"{"values":[],"values":[]}"#, "values");
        refuses_a_duplicate::<Implementation>(r#"{"name":"a","name":"a"}"#, "name");
        refuses_a_duplicate::<ErrorObject>(r#"{"code":1,"code":1,"message":"m"}"#, "code");
        let nested = r#"{"contents":[{"uri":"a:b","text":"a","text":"b"}]}"#;
        refuses_a_duplicate::<ReadResourceResult>(nested, "text");
    }

    /// The checker reports these, since it sees the bytes.
    #[test]
    fn of_a_duplicate_that_no_type_names_the_last_stays() {
        let text = r#"{"name":"n","title":"a","icons":[],"title":"b"}"#;
        let tool: Tool = serde_json::from_str(text).unwrap();
        assert_eq!(json!(tool.rest), json!({"title": "b", "icons": []}));
    }
}
