//! Records with every field set to a value that is not its default, and their way through a store.
//!
//! - `task`, `owner`: the records. Every struct is written out in full, without `..`, so that a new
//!   field does not compile until it has a value here.
//! - `checks`: nothing of them is lost, whatever happens to them.
//! - `fill`: puts all of them into a store. `snapshot`: reads all of a store as JSON.

mod checks;
mod fill;
mod owner;
mod snapshot;
mod task;

pub use self::fill::{fill, rewrite};
pub use self::owner::{bundles, flow, plan, steps, vote, worker};
pub use self::snapshot::{differences, snapshot};
pub use self::task::{queue, spec, status};

/// The checks that nothing is lost.
pub(super) const CHECKS: &[super::Check] = checks::CHECKS;
