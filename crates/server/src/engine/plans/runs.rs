//! Plans in time: their runs are made and watched, and plans go on when a run is gone.

use std::collections::HashSet;

use punctual_core::announce;
use punctual_core::bundle::BundlePush;
use punctual_core::plan::{Ended, Fired, Ring, Run};
use punctual_core::queue::Mode;
use punctual_core::{
    Announcements, Changes, OwnerChange, OwnerKey, OwnerKind, OwnerRef, Plan, QueueName, Revision,
    Settings, State, Stored, Timestamp,
};
use punctual_store::{OwnerListing, StoreError};
use tracing::warn;

use super::{changed, plan_of};
use crate::engine::free::free_id;
use crate::engine::records::{Found, Halt, Records};
use crate::engine::write::Draft;
use crate::engine::{Engine, Failure, Pushing};

impl Engine {
    /// Decides about a plan whose time has come.
    pub(in crate::engine) fn look_after_plan(
        &self,
        records: &Records,
        plan: &Plan,
        revision: Revision,
        now: Timestamp,
    ) -> Found<Draft> {
        match plan.ring() {
            Some(Ring::Watch(run)) => return self.watch_run(records, plan, run, revision, now),
            Some(Ring::Remove) => {
                let key = OwnerKey::plan(&plan.station, &plan.id);
                return Ok(Draft::quiet(OwnerChange::remove(key, revision)));
            }
            Some(Ring::Fire) | None => {}
        }
        let queue = records.settings(&plan.station)?;
        match self.fire(records, plan.clone(), revision, true, &queue, now) {
            Ok((changes, news, _)) => Ok(Draft::told(changes, news)),
            Err(Halt::Refused(failure)) => {
                warn!(plan = %plan.id, station = %plan.station, %failure, "a run cannot be made");
                let failed = plan.clone().cannot_fire(failure.to_string(), now);
                let mut news = Announcements::default();
                announce::plan::not_fired(plan, &failed.plan, now, &mut news);
                let key = OwnerKey::plan(&plan.station, &plan.id);
                Ok(Draft::told(Changes::of_owner(key, revision, failed.into()), news))
            }
            Err(missing @ Halt::Missing) => Err(missing),
        }
    }

    /// Pushes a run, or the plan's message into its bundle.
    pub(super) fn fire(
        &self,
        records: &Records,
        plan: Plan,
        revision: Revision,
        is_ruled: bool,
        queue: &Settings,
        now: Timestamp,
    ) -> Found<(Changes, Announcements, Plan)> {
        let before = plan.clone();
        let mut fired = plan.fire(is_ruled, queue, self.plan_exec_timeout, now);
        let mut news = Announcements::default();
        if let Some(task) = &fired.task {
            let id = free_id(records, &task.queue, &task.id, &HashSet::new(), now)?;
            if id != task.id {
                announce::refused::renamed(&task.queue, &task.id, &id, now, &mut news);
                fired = fired.renamed(id);
            }
        }
        let is_handed_out = matches!(queue.mode, Mode::Dispatch | Mode::Vote);
        if is_handed_out && self.roster.serving(&before.station).is_empty() {
            fired = fired.unserved();
        }
        announce::plan::fired(&before, &fired, now, &mut news);
        news.extend(fired.task.iter().map(|spec| announce::task::pushed(spec, now)));
        let Fired { plan, task, results, drop_results, .. } = fired;
        let key = OwnerKey::plan(&plan.station, &plan.id);
        let ended = Ended { plan: plan.clone(), results, drop_results };
        let mut changes = Changes::of_owner(key, revision, ended.into());
        changes.births.extend(task);
        if let Some(key) = plan.order.bundle_key.clone() {
            let payload = plan.order.message.clone();
            let push = BundlePush { payload, ..BundlePush::default() };
            let record = records.queue(&plan.station)?;
            let record = record.ok_or_else(|| Failure::NoQueue(plan.station.clone()))?;
            let pushing = Pushing { key, own: None, push, keyed: None };
            let (pushed, told, _) = self.push_into(records, record, &pushing, now)?;
            news.extend(told.into_vec());
            changes.owners.extend(pushed.owners);
            changes.tasks.extend(pushed.tasks);
            changes.births.extend(pushed.births);
        }
        Ok((changes, news, plan))
    }

    /// Looks whether somebody came for a run, and whether it is still there.
    fn watch_run(
        &self,
        records: &Records,
        plan: &Plan,
        run: &Run,
        revision: Revision,
        now: Timestamp,
    ) -> Found<Draft> {
        let key = OwnerKey::plan(&plan.station, &plan.id);
        let Some(state) = state_of(records, plan, run, now)? else {
            return Ok(lost(plan, run, revision, now));
        };
        let nobody_came = state == State::Ready && !self.is_served(&plan.station, plan.exec_time);
        let watched = plan.clone().watched(&run.task, nobody_came);
        let mut news = Announcements::default();
        announce::plan::changed(Some(plan), &watched, now, &mut news);
        let ended = Ended::from(watched);
        Ok(Draft::told(Changes::of_owner(key, revision, ended.into()), news))
    }

    /// Whether somebody asked for a queue's tasks since a run was pushed.
    fn is_served(&self, queue: &QueueName, since: Option<Timestamp>) -> bool {
        self.lines.waiting(queue) > 0
            || !self.roster.serving(queue).is_empty()
            || self.paces.asked_at(queue) >= since
    }

    /// After a queue lost all its tasks, or perhaps did before this server started: plans whose run was
    /// among them go on to their next time.
    pub(in crate::engine) async fn tell_plans(
        &self,
        station: Option<&QueueName>,
    ) -> Result<(), StoreError> {
        let mut listing = OwnerListing {
            kind: OwnerKind::Plan,
            queue: station.cloned(),
            prefix: String::new(),
            cursor: None,
            limit: 1_000,
        };
        loop {
            let page = self.store.list_owners(listing.clone()).await?;
            let mut plans: Vec<_> = page.items.into_iter().filter_map(plan_of).collect();
            plans.retain(|(plan, _)| plan.unended_runs().next().is_some());
            let drafts = self.decide_each(plans, |records, (plan, revision), now| {
                lost_runs(records, plan, *revision, now)
            });
            // A plan that has changed meanwhile has seen that the run is gone, or will.
            for written in self.writer.write(drafts.await?).await {
                written?;
            }
            if page.next.is_none() {
                return Ok(());
            }
            listing.cursor = page.next;
        }
    }
}

/// Runs of a plan that are gone: it goes on without them.
fn lost_runs(
    records: &Records,
    plan: &Plan,
    revision: Revision,
    now: Timestamp,
) -> Found<Option<Draft>> {
    let (mut after, mut news) = (plan.clone(), Announcements::default());
    for run in plan.unended_runs() {
        if state_of(records, plan, run, now)?.is_none() {
            let before = after.clone();
            after = after.lost(&run.task, now).plan;
            announce::plan::ended(&before, &after, run, None, now, &mut news);
        }
    }
    let change = || Draft::told(changed(&after, Some(revision)), news);
    Ok((after != *plan).then(change))
}

/// The state of a run; none: it is gone, and perhaps somebody else's task has its id.
fn state_of(records: &Records, plan: &Plan, run: &Run, now: Timestamp) -> Found<Option<State>> {
    let is_its = |stored: &&Stored| match &stored.task.spec.owner {
        Some(OwnerRef::Plan { id, .. }) => *id == plan.id,
        _ => false,
    };
    let task = records.task(&plan.station, &run.task)?.filter(is_its);
    Ok(task.map(|stored| stored.task.status.state_at(now)))
}

/// The run of a plan is gone: it goes on to its next time.
fn lost(plan: &Plan, run: &Run, revision: Revision, now: Timestamp) -> Draft {
    let ended = plan.clone().lost(&run.task, now);
    let mut news = Announcements::default();
    announce::plan::ended(plan, &ended.plan, run, None, now, &mut news);
    let key = OwnerKey::plan(&plan.station, &plan.id);
    Draft::told(Changes::of_owner(key, revision, ended.into()), news)
}
