//! Large values that many hold and few change.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value handed on as one pointer. It is copied when it is changed while somebody else has it, too.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Serialize> Serialize for Shared<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Shared<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_not_seen_by_other_clones() {
        let mut one = Shared::from(vec![1]);
        let other = one.clone();
        one.push(2);
        assert_eq!((&*one, &*other), (&vec![1, 2], &vec![1]));
        let before: *const Vec<i32> = &*one;
        one.push(3);
        assert!(std::ptr::eq(before, &*one), "a value without other clones is not copied");
    }

    #[test]
    fn it_is_written_like_the_value_itself() {
        let text = serde_json::to_string(&Shared::from("x".to_owned())).unwrap();
        assert_eq!(text, r#""x""#);
        assert_eq!(
            serde_json::from_str::<Shared<String>>(&text).unwrap(),
            Shared::from("x".to_owned())
        );
    }
}
