//! What becomes of plans in time: their runs are made and watched, and go on when one is gone.

use punctual_core::announce;
use punctual_core::bundle::BundlePush;
use punctual_core::plan::{Ended, Fired, PlanState};
use punctual_core::{
    Announcements, OwnerKey, OwnerKind, Plan, QueueName, Settings, State, Timestamp,
};
use punctual_store::{Changes, OwnerListing, Revision, StoreError};
use tracing::warn;

use super::{changed, known, removed};
use crate::engine::owned::step_of;
use crate::engine::{Engine, Failure, Pushing, bundle_pushed};

impl Engine {
    /// What is to be done about a plan whose time has come.
    pub(in crate::engine) async fn look_after_plan(
        &self,
        plan: Plan,
        revision: Revision,
        queue: &Settings,
        now: Timestamp,
        news: &mut Announcements,
    ) -> Result<Changes, StoreError> {
        if plan.living.is_some() {
            return self.watch_run(plan, revision, now, news).await;
        }
        if plan.state() == PlanState::Finished {
            return Ok(Changes { owners: vec![removed(&plan, revision)], ..Changes::default() });
        }
        match self.fire(plan.clone(), revision, true, queue, now, news).await {
            Ok((step, _)) => Ok(step),
            Err(Failure::Store(failure)) => Err(failure),
            Err(failure) => {
                warn!(plan = %plan.id, station = %plan.station, %failure, "a plan cannot push and stands still");
                let stopped = plan.clone().stop(failure.to_string());
                announce::plan::stopped(&plan, &stopped, now, news);
                let change = changed(&stopped, Some(revision));
                Ok(Changes { owners: vec![change], ..Changes::default() })
            }
        }
    }

    /// Pushes a run, or the plan's message into its bundle.
    pub(super) async fn fire(
        &self,
        plan: Plan,
        revision: Revision,
        is_ruled: bool,
        queue: &Settings,
        now: Timestamp,
        news: &mut Announcements,
    ) -> Result<(Changes, Plan), Failure> {
        let before = plan.clone();
        let fired = plan.fire(is_ruled, queue, self.plan_exec_timeout, now);
        let mut told = Announcements::default();
        announce::plan::fired(&before, is_ruled, &fired, now, &mut told);
        told.extend(fired.task.iter().map(|spec| announce::task::pushed(spec, now)));
        let Fired { plan, task, results, drop_results } = fired;
        let key = OwnerKey::plan(&plan.station, &plan.id);
        let ended = Ended { plan: plan.clone(), results, drop_results };
        let mut step = step_of(key, revision, ended.into());
        step.births.extend(task);
        if let Some(key) = plan.order.bundle_key.clone() {
            let payload = plan.order.message.clone();
            let push = BundlePush { payload, ..BundlePush::default() };
            let record = self.queue(&plan.station).await?;
            let pushing = Pushing { key, own: None, push, keyed: None };
            let (pushed, _) = self.bundle_step(&record, &pushing).await?;
            told.extend(bundle_pushed(&pushed, now));
            step.owners.extend(pushed.owners);
            step.tasks.extend(pushed.tasks);
            step.births.extend(pushed.births);
        }
        news.extend(told.into_vec());
        Ok((step, plan))
    }

    /// Looks whether somebody came for a run, and whether it is still there.
    async fn watch_run(
        &self,
        plan: Plan,
        revision: Revision,
        now: Timestamp,
        news: &mut Announcements,
    ) -> Result<Changes, StoreError> {
        let key = OwnerKey::plan(&plan.station, &plan.id);
        let before = plan.clone();
        let ended = match self.living_task(&plan).await? {
            None => {
                let ended = plan.lost(now);
                announce::plan::ended(&before, &ended.plan, None, now, news);
                ended
            }
            Some(state) => {
                let nobody_came =
                    state == State::Ready && !self.is_served(&plan.station, plan.exec_time);
                let plan = plan.watched(nobody_came);
                announce::plan::changed(Some(&before), &plan, now, news);
                Ended { plan, results: Vec::new(), drop_results: 0 }
            }
        };
        Ok(step_of(key, revision, ended.into()))
    }

    /// The state of a plan's living run; none: it is gone.
    async fn living_task(&self, plan: &Plan) -> Result<Option<State>, StoreError> {
        let Some(run) = &plan.living else { return Ok(None) };
        let read = self.store.read(&plan.station, std::slice::from_ref(&run.task)).await?;
        let now = self.now();
        Ok(read.into_iter().flatten().next().map(|stored| stored.task.status.state_at(now)))
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
            for (plan, revision) in page.items.into_iter().filter_map(known) {
                if plan.living.is_some() && self.living_task(&plan).await?.is_none() {
                    let key = OwnerKey::plan(&plan.station, &plan.id);
                    let (before, now) = (plan.clone(), self.now());
                    let ended = plan.lost(now);
                    let mut news = Announcements::default();
                    announce::plan::ended(&before, &ended.plan, None, now, &mut news);
                    // Who changed it meanwhile has seen that the run is gone, or will.
                    if self.stepped(step_of(key, revision, ended.into())).await? {
                        self.events.announce(news.into_vec());
                    }
                }
            }
            if page.next.is_none() {
                return Ok(());
            }
            listing.cursor = page.next;
        }
    }
}
