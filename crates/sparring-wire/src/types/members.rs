//! Views as JSON objects: each member by its name, and what a view does not name in its
//! `rest`.
//!
//! `serde` could derive this, `rest` by `flatten`; that takes a build several seconds.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeMap;

use super::Rest;

/// Says which members a view has, and of what name. One that is not there is an error;
/// `or default` makes it the default of its type, and with `or nothing` that is not
/// written either.
macro_rules! members {
    ($view:ident { $($field:ident: $name:literal $(or $absent:ident)?),* $(, ..$rest:ident)? $(,)? }) => {
        impl $view {
            fn of_members(mut members: $crate::types::Rest) -> serde_json::Result<Self> {
                Ok($view {
                    $($field: members!(@read members $name $($absent)?),)*
                    $($rest: members,)?
                })
            }

            pub(crate) fn write_members<M>(&self, map: &mut M) -> Result<(), M::Error>
            where
                M: serde::ser::SerializeMap,
            {
                $(members!(@write map $name (self.$field) $($absent)?);)*
                $($crate::types::members::write_all(map, &self.$rest)?;)?
                Ok(())
            }
        }

        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $crate::types::Rest::deserialize(from)
                    .and_then(|members| $view::of_members(members).map_err(serde::de::Error::custom))
            }
        }

        impl serde::Serialize for $view {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                let mut map = to.serialize_map(None)?;
                self.write_members(&mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }
    };
    (@read $members:ident $name:literal) => {
        $crate::types::members::required(&mut $members, $name)?
    };
    (@read $members:ident $name:literal $absent:ident) => {
        $crate::types::members::optional(&mut $members, $name)?
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

/// Takes out a member that must be there.
pub(crate) fn required<T: DeserializeOwned>(
    members: &mut Rest,
    name: &'static str,
) -> serde_json::Result<T> {
    match members.shift_remove(name) {
        Some(value) => T::deserialize(value),
        None => Err(serde_json::Error::missing_field(name)),
    }
}

/// Takes out a member that need not be there.
pub(crate) fn optional<T: DeserializeOwned + Default>(
    members: &mut Rest,
    name: &str,
) -> serde_json::Result<T> {
    members.shift_remove(name).map_or_else(|| Ok(T::default()), T::deserialize)
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes members as they are.
pub(crate) fn write_all<M: SerializeMap>(map: &mut M, members: &Rest) -> Result<(), M::Error> {
    members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}
