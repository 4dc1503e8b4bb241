//! Structs that are read from JSON objects only.
//!
//! A derived `Deserialize` also accepts a list of the fields' values in their order. In a request a list is a
//! mistake, so it is refused. A member that is `null` counts as left out.

use serde::{Deserialize, Deserializer};

/// Reads a field that need not be given; `null` says the same. In stored records it always is.
pub(crate) fn optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    if deserializer.is_human_readable() {
        Option::deserialize(deserializer)
    } else {
        T::deserialize(deserializer).map(Some)
    }
}

/// Reads a field that has a default.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    optional(deserializer).map(Option::unwrap_or_default)
}

/// Implements serde's traits for structs whose derives are marked `#[serde(remote = "Self")]`: from
/// readable formats an object is taken and nothing else, in stored records all is as derived.
macro_rules! objects_only {
    ($($name:ident),*) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<'de> serde::de::Visitor<'de> for Members {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        members: A,
                    ) -> Result<$name, A::Error> {
                        $name::deserialize(serde::de::value::MapAccessDeserializer::new(members))
                    }
                }
                if deserializer.is_human_readable() {
                    deserializer.deserialize_map(Members)
                } else {
                    $name::deserialize(deserializer)
                }
            }
        }
    )*};
    ($($name:ident),* with serialize) => {
        $crate::object::objects_only! { $($name),* }
        $(impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        })*
    };
}

pub(crate) use objects_only;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::NewFlow;
    use crate::notice::Message;
    use crate::queue::SettingsPatch;
    use crate::{NewTask, RetryPolicy};

    fn is_same<T: for<'de> Deserialize<'de> + std::fmt::Debug>(given: &str, left_out: &str) {
        let read = |json| format!("{:?}", serde_json::from_str::<T>(json).unwrap());
        assert_eq!(read(given), read(left_out), "{given}");
    }

    #[test]
    fn null_is_as_good_as_left_out() {
        let http = r#"{"http":{"url":"http://a/","headers":null,"follow_redirects":null}}"#;
        is_same::<NewTask>(http, r#"{"http":{"url":"http://a/"}}"#);
        let callback = r#"{"callback":{"queue":"q","on":null}}"#;
        is_same::<NewTask>(callback, r#"{"callback":{"queue":"q"}}"#);
        is_same::<Message>(r#"{"headers":null,"follow_redirects":null}"#, "{}");
        let flow = r#"{"steps":[{"name":"a","after":null}],"on_failure":null}"#;
        is_same::<NewFlow>(flow, r#"{"steps":[{"name":"a"}]}"#);
    }

    #[test]
    fn lists_are_no_objects() {
        for json in
            [r#"{"keep":[]}"#, r#"{"keep":["1h"]}"#, r#"{"rate":[1,1]}"#, r#"{"retry":[[1]]}"#]
        {
            let error = serde_json::from_str::<SettingsPatch>(json).unwrap_err().to_string();
            assert!(error.contains("expected an object"), "{json}: {error}");
        }
        for json in [
            "[]",
            r#"{"callback":[["done"],null,"q",null]}"#,
            r#"{"callback":{"queue":"q","task":[]}}"#,
        ] {
            let error = serde_json::from_str::<NewTask>(json).unwrap_err().to_string();
            assert!(error.contains("expected an object"), "{json}: {error}");
        }
    }

    #[test]
    fn stored_records_are_as_derived() {
        let json = r#"{"id":"a","payload":{"x":1},"callback":{"queue":"q","task":{"payload":2}}}"#;
        let new: NewTask = serde_json::from_str(json).unwrap();
        let packed = postcard::to_stdvec(&new).unwrap();
        assert_eq!(postcard::from_bytes::<NewTask>(&packed).unwrap(), new);
        let packed = postcard::to_stdvec(&RetryPolicy::default()).unwrap();
        assert_eq!(postcard::from_bytes::<RetryPolicy>(&packed).unwrap(), RetryPolicy::default());
    }
}
