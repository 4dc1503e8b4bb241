//! Random sequences on the model. Its conformance checks are in `conformance`.

#[path = "subjects/model.rs"]
mod model;

use punctual_store::conformance::random;

use self::model::Model;

#[test]
fn random_sequences() {
    random::compare(256, Model::new);
}

#[test]
fn random_lists() {
    random::walk(256, Model::new);
}
