//! Shards and the keys they begin with. All other keys are made in Lua, from the same prefix.
//!
//! Outside a Cluster there is one shard. In a Cluster there are as many as were chosen when the store
//! was made, each with a hash tag of its own, picked so that the shards spread evenly over the slots.

use punctual_core::QueueName;

use crate::port::{PLACE_BITS, StoreError, place_hash};

/// Slots of a Cluster.
const SLOTS: usize = 16_384;

/// Most characters of a prefix.
const PREFIX_CHARS_MAX: usize = 200;

/// Refuses a prefix that could be taken for something else: for a hash tag, or for a pattern.
pub(super) fn check_prefix(prefix: &str) -> Result<(), StoreError> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || "._:@~-".contains(c);
    if prefix.chars().all(is_fine) && prefix.len() <= PREFIX_CHARS_MAX {
        return Ok(());
    }
    Err(StoreError::Open(format!(
        "prefix: at most {PREFIX_CHARS_MAX} characters of A-Z a-z 0-9 . _ : @ ~ -"
    )))
}

/// The shards of a store.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    /// Per shard, what all its keys begin with.
    prefixes: Vec<String>,
    is_cluster: bool,
}

impl Keys {
    /// The one shard of a store outside a Cluster. The prefix may be empty.
    pub(super) fn single(prefix: &str) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}:") };
        Self { prefixes: vec![prefix], is_cluster: false }
    }

    /// The shards of a store in a Cluster.
    pub(super) fn cluster(prefix: &str, shards: usize) -> Self {
        let prefixes = (0..shards).map(|number| {
            let tag = tag(number, shards);
            if prefix.is_empty() { format!("{{{tag}}}:") } else { format!("{prefix}:{{{tag}}}:") }
        });
        Self { prefixes: prefixes.collect(), is_cluster: true }
    }

    /// How many shards there are.
    pub(super) fn shards(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether they lie in a Cluster.
    pub(super) fn is_cluster(&self) -> bool {
        self.is_cluster
    }

    /// The hash of a shard, the one key that every script is given.
    pub(super) fn shard(&self, shard: usize) -> String {
        format!("{}shard", self.prefixes[shard])
    }

    /// A key of a shard that never exists. While a slot of a Cluster moves, neither of its servers has all
    /// of its keys; a request that also names this key is refused by both (`TRYAGAIN`).
    pub(super) fn absent(&self, shard: usize) -> Option<String> {
        self.is_cluster.then(|| format!("{}none", self.prefixes[shard]))
    }

    /// The channel on which a shard says that something happened.
    pub(super) fn channel(&self, shard: usize) -> String {
        format!("{}action:push", self.prefixes[shard])
    }

    /// The shard with what is of all of them: events, what the servers know of each other, how far a clock was
    /// moved.
    pub(super) const FIRST_SHARD: usize = 0;

    /// The stream of events.
    pub(super) fn events(&self) -> String {
        format!("{}events", self.prefixes[Self::FIRST_SHARD])
    }

    /// The shard a queue lives in with all its tasks.
    pub(super) fn shard_of(&self, queue: &QueueName) -> usize {
        self.shard_of_name(queue.as_str())
    }

    /// The shard that a name falls to.
    pub(super) fn shard_of_name(&self, name: &str) -> usize {
        if self.shards() == 1 {
            return 0;
        }
        self.shard_of_hash(place_hash(name))
    }

    fn shard_of_hash(&self, hash: u64) -> usize {
        usize::try_from(hash % self.shards() as u64).unwrap_or(0)
    }

    /// The shard that a receipt belongs to by its fingerprint; none: that cannot be told.
    pub(super) fn shard_of_receipt(&self, fingerprint: u64) -> Option<usize> {
        // The last bits of a hash decide only among so many that share them out evenly.
        let is_told = (1_usize << PLACE_BITS).is_multiple_of(self.shards());
        is_told.then(|| self.shard_of_hash(fingerprint & ((1 << PLACE_BITS) - 1)))
    }

    /// The shard of a channel.
    pub(super) fn shard_of_channel(&self, channel: &[u8]) -> Option<usize> {
        (0..self.shards()).find(|shard| self.channel(*shard).as_bytes() == channel)
    }
}

/// The first number whose slot lies in the shard's even share of all slots.
fn tag(number: usize, shards: usize) -> String {
    let share = |slot: usize| slot * shards / SLOTS;
    (0..)
        .map(|n: u32| n.to_string())
        .find(|tag| share(slot(tag.as_bytes())) == number)
        .unwrap_or_default()
}

/// The slot of a hash tag.
pub(super) fn slot(tag: &[u8]) -> usize {
    // CRC-16/XMODEM, as the Cluster specification says.
    let crc = tag.iter().fold(0u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    usize::from(crc) % SLOTS
}

/// A name as it stands in a key: `%` and `:` escaped, and what separates arguments.
pub(super) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '%' => out.push_str("%25"),
            ':' => out.push_str("%3A"),
            '\n' => out.push_str("%0A"),
            c => out.push(c),
        }
    }
    out
}

/// The name that stands in a key.
pub(super) fn unescaped(text: &str) -> String {
    text.replace("%3A", ":").replace("%0A", "\n").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use punctual_core::{Seed, TaskId, Verb};

    use super::*;
    use crate::port::fingerprint;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(slot(b"123456789"), 0x31c3);
        assert_eq!(slot(b"foo"), 12_182);
        assert_eq!(slot(b"user1000"), 3_443);
    }

    #[test]
    fn shards_spread_evenly_over_the_slots() {
        for shards in [1, 3, 64] {
            let mut slots: Vec<usize> =
                (0..shards).map(|number| slot(tag(number, shards).as_bytes())).collect();
            slots.sort_unstable();
            for (number, slot) in slots.into_iter().enumerate() {
                assert_eq!(slot * shards / SLOTS, number);
            }
        }
    }

    #[test]
    fn queues_spread_over_the_shards() {
        let keys = Keys::cluster("punctual", 64);
        let shards: std::collections::BTreeSet<usize> = (0..1_000)
            .map(|n| keys.shard_of(&QueueName::parse(&format!("queue-{n}")).unwrap()))
            .collect();
        assert_eq!(shards.len(), 64);
    }

    #[test]
    fn a_receipt_is_found_where_its_queue_lies() {
        let (id, token) = (TaskId::parse("t").unwrap(), Seed::new(7).token(0));
        let (even, odd) = (Keys::cluster("punctual", 64), Keys::cluster("punctual", 3));
        for n in 0..100 {
            let queue = QueueName::parse(&format!("queue-{n}")).unwrap();
            let receipt = fingerprint(&queue, &id, token, Verb::Commit);
            assert_eq!(even.shard_of_receipt(receipt), Some(even.shard_of(&queue)));
            assert_eq!(Keys::single("").shard_of_receipt(receipt), Some(0));
            assert_eq!(odd.shard_of_receipt(receipt), None);
        }
    }

    #[test]
    fn keys_are_as_documented() {
        assert_eq!(Keys::single("punctual").shard(0), "punctual:shard");
        assert_eq!(Keys::single("").channel(0), "action:push");
        let cluster = Keys::cluster("punctual", 64);
        let shard = cluster.shard(0);
        assert!(shard.starts_with("punctual:{") && shard.ends_with("}:shard"), "{shard}");
        assert_eq!(cluster.shard_of_channel(cluster.channel(7).as_bytes()), Some(7));
        assert_eq!(escaped("a:b%c"), "a%3Ab%25c");
        assert_eq!(unescaped(&escaped("a:%3A%25\n%0A")), "a:%3A%25\n%0A");
    }

    #[test]
    fn a_prefix_is_a_name_or_empty() {
        for prefix in ["", "punctual", "app:prod", "a.b_c@d~e-9"] {
            assert!(check_prefix(prefix).is_ok(), "{prefix}");
        }
        for prefix in ["{x}", "a*", "a b", "a\n", "[a]", "é", &"x".repeat(201)] {
            assert!(check_prefix(prefix).is_err(), "{prefix}");
        }
    }
}
