//! Plans: made, replaced, read, paused and run on request. `runs`: what becomes of them in time.

mod runs;

use std::collections::HashMap;

use punctual_core::announce;
use punctual_core::calendar::Rule;
use punctual_core::limits::{PAGE_BYTES_MAX, PAGE_EXAMINED_MAX};
use punctual_core::plan::{Order, PlanPatch, PlanState, PlanVerb};
use punctual_core::{
    Announcements, Owner, OwnerKey, OwnerKind, Plan, PlanId, QueueName, RawJson, Refusal, TaskId,
    Timestamp,
};
use punctual_store::{Changes, Keyed, OwnerChange, OwnerListing, Revision, StoredOwner};

use super::records::{Found, Records};
use super::transact::{Done, Verdict};
use super::{Engine, Failure, Key, random};
use crate::access::Scope;

/// Results read at a time: so few that a store always answers with all of them.
const RESULTS_CHUNK: usize = 15;

/// What came of a request to make a plan.
pub(crate) enum PlanAnswer {
    /// It was made.
    Made(Box<Plan>),
    /// The request was answered before, with this status, about this plan.
    Replayed {
        /// The status.
        status: u16,
        /// The plan, as it reads now; none: it is gone.
        plan: Option<Box<Plan>>,
        /// Its id.
        id: Option<TaskId>,
        /// Its station.
        station: QueueName,
    },
}

/// Which plans to list.
#[derive(Debug, Default)]
pub(crate) struct PlanFilter {
    /// Only those of this station.
    pub(crate) station: Option<QueueName>,
    /// Only those in these states; all if there are none.
    pub(crate) states: Vec<PlanState>,
    /// Only those that name no other queues than these.
    pub(crate) scope: Scope,
    /// In which order.
    pub(crate) order: PlanOrder,
}

/// The order of a list of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PlanOrder {
    /// By station and id.
    #[default]
    Name,
    /// By the time they wait for, the soonest first; those without are left out.
    Next,
}

/// A plan and the version that was read.
type Known = (Plan, Revision);

impl Engine {
    /// Makes a plan.
    pub(crate) async fn create_plan(
        &self,
        patch: PlanPatch,
        key: Option<Key>,
    ) -> Result<PlanAnswer, Failure> {
        let checked = self
            .transact(&[], |records, _| Ok(Verdict::Answer(self.checked(records, &patch, None)?)));
        let (station, order, rule) = checked.await?.answer()?;
        let given = patch.plan_id.map(|given| given.0);
        let id = given.unwrap_or_else(|| PlanId::numbered(random::bits() as u64));
        self.open_station(&station).await?;
        let owner = OwnerKey::plan(&station, &id);
        let made = self.transact(std::slice::from_ref(&owner), |records, now| {
            let before = records.plan(&id)?;
            let is_free =
                |plan: &Plan| plan.state() == PlanState::Finished && plan.station == station;
            let keyed = key.map(|key| keyed(key, &id));
            if before.is_some_and(|(plan, _)| !is_free(plan)) {
                let refused = Failure::PlanExists(id.clone());
                return match keyed {
                    Some(keyed) => Ok(Verdict::Repeat { keyed, beside: owner.clone(), refused }),
                    None => Err(refused.into()),
                };
            }
            let plan = Plan::new(id.clone(), station.clone(), order.clone(), rule.clone(), now);
            let mut change = changed(&plan, before.map(|(_, revision)| revision));
            change.drop_first = before.map_or(0, |(plan, _)| plan.results as usize);
            let changes = Changes { owners: vec![change], keyed, ..Changes::default() };
            Ok(Verdict::Write(changes, news(None, &plan, now), Box::new(plan)))
        });
        match made.await? {
            Done::Now(plan) => Ok(PlanAnswer::Made(plan)),
            Done::Before { status, items } => {
                let id = items.into_iter().next().and_then(|item| item.id);
                let known = match id.as_ref().and_then(|id| PlanId::parse(id.as_str()).ok()) {
                    Some(id) => self.find_plan(&id).await?,
                    None => None,
                };
                let plan = known.map(|(plan, _)| Box::new(plan));
                Ok(PlanAnswer::Replayed { status, plan, id, station })
            }
        }
    }

    /// Makes a plan under an id, or gives the one there another rule, if `condition` allows it of the plan
    /// that is changed. True: it was made.
    pub(crate) async fn put_plan(
        &self,
        id: &PlanId,
        patch: &PlanPatch,
        condition: impl Fn(Option<&Plan>) -> Result<(), Refusal>,
    ) -> Result<(Plan, bool), Failure> {
        if patch.plan_id.as_ref().is_some_and(|given| given.0 != *id) {
            return Err(Failure::invalid("plan_id", "the one of the path, or none"));
        }
        // The station is made only for a request that is right.
        let checked = self.transact(&[], |records, _| {
            let before = records.plan(id)?.map(|(plan, _)| plan);
            condition(before)?;
            if before.is_none() {
                id.check_new().map_err(|invalid| Failure::Refused(invalid.into()))?;
            }
            Ok(Verdict::Answer(self.checked(records, patch, before)?.0))
        });
        let station = checked.await?.answer()?;
        self.open_station(&station).await?;
        let keys = [OwnerKey::plan(&station, id)];
        let put = self.transact(&keys, |records, now| {
            let before = records.plan(id)?;
            condition(before.map(|(plan, _)| plan))?;
            let (station, order, rule) =
                self.checked(records, patch, before.map(|(plan, _)| plan))?;
            let plan = match before {
                Some((plan, _)) => plan.clone().replace(order, rule, now),
                None => Plan::new(id.clone(), station, order, rule, now),
            };
            let change = changed(&plan, before.map(|(_, revision)| revision));
            let news = news(before.map(|(plan, _)| plan), &plan, now);
            Ok(Verdict::Write(change.into(), news, (plan, before.is_none())))
        });
        put.await?.answer()
    }

    /// Checks a request as far as that is possible before its time has come.
    fn checked(
        &self,
        records: &Records,
        patch: &PlanPatch,
        before: Option<&Plan>,
    ) -> Found<(QueueName, Order, Rule)> {
        let rule = patch.rule(before.map(|plan| &plan.rule));
        let rule = rule.map_err(|invalid| Failure::Refused(invalid.into()))?;
        let station = match (&patch.station, before) {
            (Some(station), Some(plan)) if *station != plan.station => {
                let rule = "it cannot change; delete the plan and make it anew";
                return Err(Failure::invalid("station", rule).into());
            }
            (Some(station), _) => station.clone(),
            (None, Some(plan)) => plan.station.clone(),
            (None, None) => {
                return Err(Failure::invalid("station", "name the queue of its runs").into());
            }
        };
        let none = Order::default();
        let order = patch.order(before.map_or(&none, |plan| &plan.order))?;
        if !self.auto_create && records.queue(&station)?.is_none() {
            return Err(Failure::NoQueue(station).into());
        }
        let mut named = HashMap::new();
        for name in std::iter::once(station.clone()).chain(order.callback_queues()) {
            let settings = records.settings(&name)?;
            named.insert(name, settings);
        }
        order.check_queues(&station, &|name| &named[name])?;
        order.check_reach(&self.reach)?;
        Ok((station, order, rule))
    }

    /// Makes the station of a plan, so that workers can wait there for the first run.
    async fn open_station(&self, station: &QueueName) -> Result<(), Failure> {
        match self.store.queue(station).await? {
            Some(_) => Ok(()),
            None => self.create_queue(station).await,
        }
    }

    /// Reads a plan.
    pub(crate) async fn plan(&self, id: &PlanId) -> Result<Plan, Failure> {
        Ok(self.known_plan(id).await?.0)
    }

    async fn known_plan(&self, id: &PlanId) -> Result<Known, Failure> {
        self.find_plan(id).await?.ok_or_else(|| Failure::NoPlan(id.clone()))
    }

    async fn find_plan(&self, id: &PlanId) -> Result<Option<Known>, Failure> {
        let Some(station) = self.store.station(id).await? else { return Ok(None) };
        let stored = self.store.owners(&[OwnerKey::plan(&station, id)]).await?.pop().flatten();
        Ok(stored.and_then(plan_of))
    }

    /// Lists plans in the order asked for, and says where the next page begins.
    pub(crate) async fn list_plans(
        &self,
        filter: &PlanFilter,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<(Vec<Plan>, Option<String>), Failure> {
        let mut listing = OwnerListing {
            kind: OwnerKind::Plan,
            queue: filter.station.clone(),
            prefix: String::new(),
            cursor,
            limit,
        };
        let wanted = |plan: &Plan| {
            (filter.states.is_empty() || filter.states.contains(&plan.state()))
                && filter.station.as_ref().is_none_or(|station| *station == plan.station)
                && (filter.scope.is_all()
                    || plan.queues().iter().all(|queue| filter.scope.covers(queue)))
        };
        let (mut plans, mut bytes, mut examined) = (Vec::new(), 0, 0);
        loop {
            listing.limit = limit - plans.len();
            let page = match filter.order {
                PlanOrder::Name => self.store.list_owners(listing.clone()).await?,
                PlanOrder::Next => {
                    self.store.timed_plans(listing.cursor.clone(), listing.limit).await?
                }
            };
            examined += listing.limit;
            let found = page.items.into_iter().filter_map(plan_of).map(|(plan, _)| plan);
            let found: Vec<Plan> = found.filter(wanted).collect();
            bytes += found.iter().map(|plan| RawJson::of(plan).len()).sum::<usize>();
            if bytes > PAGE_BYTES_MAX && !plans.is_empty() {
                return Ok((plans, listing.cursor));
            }
            plans.extend(found);
            let is_full = plans.len() >= limit || examined >= PAGE_EXAMINED_MAX;
            if page.next.is_none() || is_full {
                return Ok((plans, page.next));
            }
            listing.cursor = page.next;
        }
    }

    /// Removes a plan. Its living run goes on, and nobody hears of its end.
    pub(crate) async fn delete_plan(&self, id: &PlanId) -> Result<(), Failure> {
        let deleted = self.transact(&[], |records, now| {
            let (plan, revision) = known(records, id)?;
            let change = OwnerChange::remove(OwnerKey::plan(&plan.station, id), revision);
            let news = announce::plan::deleted(plan, now).into();
            Ok(Verdict::Write(change.into(), news, ()))
        });
        deleted.await?.answer()
    }

    /// Does something to a plan.
    pub(crate) async fn act_on_plan(&self, id: &PlanId, verb: PlanVerb) -> Result<Plan, Failure> {
        let acted = self.transact(&[], |records, now| {
            let (before, revision) = known(records, id)?;
            let plan = before.clone().carry_out(verb, now)?;
            if verb == PlanVerb::Run {
                let queue = records.settings(&plan.station)?;
                let (changes, news, plan) =
                    self.fire(records, plan, revision, false, &queue, now)?;
                return Ok(Verdict::Write(changes, news, plan));
            }
            if plan == *before {
                return Ok(Verdict::Answer(plan));
            }
            let news = news(Some(before), &plan, now);
            Ok(Verdict::Write(changed(&plan, Some(revision)).into(), news, plan))
        });
        acted.await?.answer()
    }

    /// The results kept of a plan, the newest first: those before a place, or all. Also says before
    /// which place the next page begins.
    pub(crate) async fn plan_results(
        &self,
        id: &PlanId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<RawJson>, Option<u64>), Failure> {
        let station = self.known_plan(id).await?.0.station;
        let key = OwnerKey::plan(&station, id);
        // One that nobody changes here meanwhile, so that its results are where it says.
        let _lock = self.owner_locks.lock([&key]).await;
        let (plan, _) = self.known_plan(id).await?;
        let (kept, gone) = (plan.results as usize, plan.results_gone);
        let place = |before: u64| usize::try_from(before.saturating_sub(gone)).unwrap_or(kept);
        let mut first = before.map_or(kept, place).min(kept);
        let (mut items, mut bytes) = (Vec::new(), 0);
        while first > 0 && items.len() < limit {
            let chunk = RESULTS_CHUNK.min(first).min(limit - items.len());
            let read = self.store.items(&key, first - chunk, chunk).await?;
            if read.len() < chunk {
                // Another server has changed it meanwhile; the next page goes on from here.
                break;
            }
            for item in read.into_iter().rev() {
                bytes += item.len();
                if bytes > PAGE_BYTES_MAX && !items.is_empty() {
                    return Ok((items, Some(gone + first as u64)));
                }
                items.push(item);
                first -= 1;
            }
        }
        Ok((items, (first > 0).then_some(gone + first as u64)))
    }
}

/// The events that tell what somebody made of a plan.
fn news(before: Option<&Plan>, after: &Plan, now: Timestamp) -> Announcements {
    let mut news = Announcements::default();
    announce::plan::changed(before, after, now, &mut news);
    news
}

/// A plan that exists.
fn known<'a>(records: &'a Records, id: &PlanId) -> Found<(&'a Plan, Revision)> {
    Ok(records.plan(id)?.ok_or_else(|| Failure::NoPlan(id.clone()))?)
}

fn plan_of(stored: StoredOwner) -> Option<Known> {
    match stored.owner {
        Owner::Plan(plan) => Some((*plan, stored.revision)),
        _ => None,
    }
}

fn changed(plan: &Plan, expected: Option<Revision>) -> OwnerChange {
    OwnerChange::put(Owner::Plan(Box::new(plan.clone())), expected)
}

/// The request to make a plan, as a store remembers it.
fn keyed(key: Key, id: &PlanId) -> Keyed {
    key.keyed(TaskId::parse(id.as_str()).ok())
}
