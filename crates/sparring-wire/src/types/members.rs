//! Views as JSON objects: each member by its name, and what a view does not name in its
//! `rest`.
//!
//! `serde` could derive this, `rest` by `flatten`; that takes a build several seconds.

use serde::ser::SerializeMap;

use super::Rest;

/// Says which members a view has, and of what name. One that is not there is an error;
/// `or default` makes it the default of its type, and with `or nothing` that is not
/// written either.
macro_rules! members {
    ($view:ident { $($field:ident: $name:literal $(or $absent:ident)?),* $(, ..$rest:ident)? $(,)? }) => {
        impl $view {
            pub(crate) fn write_members<M>(&self, map: &mut M) -> Result<(), M::Error>
            where
                M: serde::ser::SerializeMap,
            {
                $(members!(@write map $name (self.$field) $($absent)?);)*
                $($crate::types::members::write_all(map, &self.$rest)?;)?
                Ok(())
            }
        }

        #[automatically_derived]
        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Reading;

                impl<'de> serde::de::Visitor<'de> for Reading {
                    type Value = $view;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("struct ", stringify!($view)))
                    }

                    fn visit_map<A>(self, mut map: A) -> Result<$view, A::Error>
                    where
                        A: serde::de::MapAccess<'de>,
                    {
                        $(let mut $field = None;)*
                        $(let mut $rest = $crate::types::Rest::new();)?
                        while let Some(name) = map.next_key::<String>()? {
                            match &*name {
                                $($name => $field = Some(map.next_value()?),)*
                                _ => members!(@other map name $($rest)?),
                            }
                        }
                        Ok($view {
                            $($field: members!(@read $field $name $($absent)?),)*
                            $($rest,)?
                        })
                    }
                }

                from.deserialize_map(Reading)
            }
        }

        #[automatically_derived]
        impl serde::Serialize for $view {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let mut map = to.serialize_map(None)?;
                self.write_members(&mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@other $map:ident $key:ident $rest:ident) => {
        drop($rest.insert($key, $map.next_value()?))
    };
    // What nobody keeps is not looked at.
    (@other $map:ident $key:ident) => {
        $map.next_value::<serde::de::IgnoredAny>().map(drop)?
    };
    (@read $field:ident $name:literal) => {
        $field.ok_or_else(|| serde::de::Error::missing_field($name))?
    };
    (@read $field:ident $name:literal $absent:ident) => {
        $field.unwrap_or_default()
    };
    (@write $map:ident $name:literal ($field:expr) nothing) => {
        if !$crate::types::members::is_default(&$field) {
            $map.serialize_entry($name, &$field)?;
        }
    };
    (@write $map:ident $name:literal ($field:expr) $(default)?) => {
        $map.serialize_entry($name, &$field)?;
    };
}

pub(crate) use members;

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes members as they are.
pub(crate) fn write_all<M: SerializeMap>(map: &mut M, members: &Rest) -> Result<(), M::Error> {
    members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}
