//! What ends of tasks make of flows: the records that are needed for it are read here, `core` decides.
//!
//! However many steps of however many flows end at once, the store is asked a few times for all of
//! them, and nothing is read of a flow but the steps after those that ended and the inputs of those that
//! start.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, StreamExt, TryStreamExt, stream};
use punctual_core::flow::{StepEnd, StepOrder};
use punctual_core::rename::IDS_MAX;
use punctual_core::{OwnerKey, QueueName, RawJson, StepName, TaskId, Timestamp, announce};
use punctual_store::StoreError;

use super::super::Engine;
use super::super::owned::Decided;
use super::scene::{Scene, name_of};

/// Most steps that are started together with an end; more are started one chunk after the other.
pub(super) const STARTS_MAX: usize = 256;
/// Most bytes of their payloads.
const START_BYTES_MAX: usize = 8 << 20;
/// Steps read at a time.
const CHUNK: usize = 256;
/// Flows worked on at a time.
const SIDE_BY_SIDE: usize = 32;

impl Engine {
    /// Reads the steps that something was decided about.
    pub(in crate::engine) async fn know_steps(
        &self,
        scenes: &mut BTreeMap<OwnerKey, Scene>,
        decided: &[(usize, Decided<'_>)],
    ) -> Result<(), StoreError> {
        let mut names: BTreeMap<&OwnerKey, BTreeSet<StepName>> = BTreeMap::new();
        let keys: Vec<_> = decided.iter().map(|(_, decided)| decided.owner_key()).collect();
        for (key, (_, decided)) in keys.iter().zip(decided) {
            if let (Some(key), Some(name)) = (key, name_of(&decided.before.task.spec)) {
                names.entry(key).or_default().insert(name.clone());
            }
        }
        let mut wanted = Vec::new();
        for (key, scene) in scenes {
            let names = names.remove(key).unwrap_or_default();
            wanted.push((scene, names.into_iter().collect()));
        }
        self.know(wanted).await
    }

    /// Reads steps of flows, all together.
    async fn know(&self, wanted: Vec<(&mut Scene, Vec<StepName>)>) -> Result<(), StoreError> {
        let keys: Vec<OwnerKey> = wanted
            .iter()
            .flat_map(|(scene, names)| names.iter().map(|name| scene.step_key(name)))
            .collect();
        let mut read = Vec::with_capacity(keys.len());
        for keys in keys.chunks(CHUNK) {
            read.extend(self.store.owners(keys).await?);
        }
        let mut read = read.into_iter();
        for (scene, names) in wanted {
            read.by_ref().take(names.len()).flatten().for_each(|stored| scene.know(stored));
        }
        Ok(())
    }

    /// Tells the steps after those that are done, and starts those that wait for nothing any more.
    pub(in crate::engine) async fn advance(
        &self,
        scenes: &mut [Scene],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.follow(scenes).await?;
        let starting: Vec<BoxFuture<'_, _>> =
            scenes.iter_mut().map(|scene| self.start_some(scene, now).boxed()).collect();
        stream::iter(starting).buffer_unordered(SIDE_BY_SIDE).try_collect().await
    }

    /// Tells the steps after those that are done.
    pub(super) async fn follow(&self, scenes: &mut [Scene]) -> Result<(), StoreError> {
        let unknown = scenes.iter_mut().map(|scene| {
            let names = scene.advance.unknown();
            (scene, names)
        });
        self.know(unknown.collect()).await?;
        scenes.iter_mut().for_each(|scene| scene.advance.follow());
        Ok(())
    }

    async fn start_some(&self, scene: &mut Scene, now: Timestamp) -> Result<(), StoreError> {
        if self.start_steps(scene, now).await? {
            scene.advance.leave_rest();
        }
        Ok(())
    }

    /// Starts what is ready. True: not all of it.
    pub(super) async fn start_steps(
        &self,
        scene: &mut Scene,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (ready, mut is_more) = scene.advance.ready(STARTS_MAX);
        if ready.is_empty() {
            return Ok(is_more);
        }
        self.find_ids(scene, &ready, now).await?;
        let mut orders = self.orders(scene, &ready).await?;
        let inputs: BTreeSet<&StepName> = orders.values().flat_map(|order| &order.after).collect();
        let inputs: Vec<StepName> = inputs.into_iter().take(CHUNK).cloned().collect();
        self.know_more(scene, inputs).await?;
        let mut bytes = 0;
        for name in ready {
            let Some(order) = orders.remove(&name) else { continue };
            if bytes > START_BYTES_MAX {
                is_more = true;
                break;
            }
            let results = self.results(scene, &order.after).await?;
            let spec = scene.advance.start(&name, order, results.as_deref(), now);
            bytes += spec.as_ref().map_or(0, |spec| spec.payload.len());
            scene.spawn.extend(spec);
        }
        if self.may_be_missed(scene.advance.flow(), &scene.spawn) {
            scene.advance.watch(now);
        }
        Ok(is_more)
    }

    /// Finds ids for the tasks of steps: the first that no other task keeps.
    async fn find_ids(
        &self,
        scene: &mut Scene,
        ready: &[StepName],
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut queues: BTreeMap<QueueName, Vec<(StepName, TaskId)>> = BTreeMap::new();
        for step in ready.iter().filter_map(|name| scene.advance.step(name)) {
            let named = (step.name.clone(), step.first_id());
            queues.entry(step.queue.clone()).or_default().push(named);
        }
        for (queue, mut named) in queues {
            // Ids of other steps are theirs.
            let first: BTreeSet<TaskId> = named.iter().map(|(_, id)| id.clone()).collect();
            for n in 1..=IDS_MAX {
                let ids: Vec<TaskId> = named.iter().map(|(_, id)| id.nth(n)).collect();
                let tasks = self.store.read(&queue, &ids).await?;
                let mut open = Vec::new();
                for (((name, id), nth), task) in named.into_iter().zip(ids).zip(tasks) {
                    let is_kept = task.is_some_and(|stored| stored.task.keeps_id(now));
                    if is_kept || (n > 1 && first.contains(&nth)) {
                        open.push((name, id));
                        continue;
                    }
                    if n > 1 {
                        let news = &mut scene.together.news;
                        announce::refused::renamed(&queue, &id, &nth, now, news);
                    }
                    scene.advance.set_task_id(&name, nth);
                }
                named = open;
                if named.is_empty() {
                    break;
                }
            }
            for (name, id) in named {
                let error = "other tasks have its id and all ids like it";
                announce::refused::not_made(&queue, &id, error, now, &mut scene.together.news);
                scene.advance.end(&name, StepEnd::not_made(error));
            }
        }
        Ok(())
    }

    /// What steps were given.
    async fn orders(
        &self,
        scene: &Scene,
        names: &[StepName],
    ) -> Result<HashMap<StepName, StepOrder>, StoreError> {
        let steps = names.iter().filter_map(|name| scene.advance.step(name));
        let mut wanted: Vec<(usize, StepName)> =
            steps.map(|step| (step.position as usize, step.name.clone())).collect();
        wanted.sort_unstable();
        let key = OwnerKey::flow(&scene.advance.flow().id);
        let mut orders = HashMap::with_capacity(wanted.len());
        // What lies side by side is read together.
        for run in wanted.chunk_by(|one, next| one.0 + 1 == next.0) {
            let mut rest = run;
            while let Some((first, _)) = rest.first() {
                let items = self.store.items(&key, *first, rest.len()).await?;
                if items.is_empty() {
                    return Err(unreadable(&key, "an order of a step is missing"));
                }
                for ((_, name), item) in rest.iter().zip(&items) {
                    let order = StepOrder::read(item)
                        .map_err(|error| unreadable(&key, &error.to_string()))?;
                    orders.insert(name.clone(), order);
                }
                rest = &rest[items.len().min(rest.len())..];
            }
        }
        Ok(orders)
    }

    /// The results of steps that are done. None: they are too large to be inputs.
    async fn results(
        &self,
        scene: &mut Scene,
        names: &[StepName],
    ) -> Result<Option<Vec<RawJson>>, StoreError> {
        let (mut results, mut bytes) = (Vec::with_capacity(names.len()), 0);
        for names in names.chunks(CHUNK) {
            self.know_more(scene, names.to_vec()).await?;
            for name in names {
                let step = scene.advance.step(name);
                let result = step.and_then(|step| step.result.clone()).unwrap_or_default();
                bytes += result.len();
                results.push(result);
            }
            if StepOrder::is_too_much(bytes) {
                return Ok(None);
            }
        }
        Ok(Some(results))
    }

    pub(super) async fn know_more(
        &self,
        scene: &mut Scene,
        mut names: Vec<StepName>,
    ) -> Result<(), StoreError> {
        names.retain(|name| scene.advance.step(name).is_none());
        self.know(vec![(scene, names)]).await
    }
}

pub(super) fn unreadable(key: &OwnerKey, reason: &str) -> StoreError {
    StoreError::Corrupt { place: key.to_string(), reason: reason.to_owned() }
}
