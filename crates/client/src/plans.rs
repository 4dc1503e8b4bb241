//! Requests about plans, which make tasks by a calendar rule, once or repeatedly.

use http::Method;
use punctual_core::Timestamp;
use punctual_core::plan::PlanState;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::plan::{NewPlan, Plan, PlanChanges, PlanResult};
use crate::rule::Rule;
use crate::tasks::Page;
use crate::transport::{Call, Client, path, query};

const PLANS: &str = "/v1/plans";

/// The times of a rule.
#[derive(Deserialize)]
struct Times {
    items: Vec<Timestamp>,
}

fn plan_path(id: &str) -> String {
    path(PLANS, &[id])
}

impl Client {
    /// Makes a plan.
    ///
    /// ```no_run
    /// # async fn example(client: punctual_client::Client) -> Result<(), punctual_client::Error> {
    /// use punctual_client::{NewPlan, PlanTime, Rule};
    ///
    /// let rule = Rule::monthly(0).timezone("Europe/Berlin");
    /// let plan = client.make_plan(&NewPlan::new("reports", rule, "close the month")).await?;
    /// println!("{} is due at {:?}", plan.plan_id, plan.next_at);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn make_plan(&self, plan: &NewPlan) -> Result<Plan, Error> {
        self.send(Call::post(PLANS.to_owned()).body(plan)).await
    }

    /// Makes a plan, or changes the existing one to this rule and these fields; its counters stay.
    pub async fn put_plan(&self, id: &str, plan: &NewPlan) -> Result<Plan, Error> {
        self.send(Call::new(Method::PUT, plan_path(id)).body(plan)).await
    }

    /// Changes a plan; its counters stay.
    pub async fn change_plan(&self, id: &str, changes: &PlanChanges) -> Result<Plan, Error> {
        self.send(Call::new(Method::PUT, plan_path(id)).body(changes)).await
    }

    /// Reads a plan.
    pub async fn plan(&self, id: &str) -> Result<Plan, Error> {
        self.send(Call::get(plan_path(id))).await
    }

    /// Reads a page of plans, of all queues or of one, in any state or in one of these.
    pub async fn plans(
        &self,
        queue: Option<&str>,
        states: &[PlanState],
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Plan>, Error> {
        let states: Vec<_> = states.iter().map(|state| state.name()).collect();
        let query = query(&[
            ("queue", queue.map(str::to_owned)),
            ("state", Some(states.join(",")).filter(|states| !states.is_empty())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("{PLANS}{query}"))).await
    }

    /// Reads a page of plans by their next time, the soonest first; plans without a next time are left out.
    pub async fn next_plans(
        &self,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<Plan>, Error> {
        let query = query(&[
            ("order", Some("next".to_owned())),
            ("limit", Some(limit.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ]);
        self.send(Call::get(format!("{PLANS}{query}"))).await
    }

    /// Removes a plan. A live run continues without it.
    pub async fn delete_plan(&self, id: &str) -> Result<(), Error> {
        self.send_unread(Call::new(Method::DELETE, plan_path(id))).await.map(drop)
    }

    /// Pauses a plan. A live run continues and counts.
    pub async fn pause_plan(&self, id: &str) -> Result<Plan, Error> {
        self.send(Call::post(plan_path(id) + "/pause")).await
    }

    /// Resumes a plan that was paused, or that stopped because a run finally failed.
    pub async fn resume_plan(&self, id: &str) -> Result<Plan, Error> {
        self.send(Call::post(plan_path(id) + "/resume")).await
    }

    /// Runs a plan now, besides its rule. The run is not counted.
    pub async fn run_plan(&self, id: &str) -> Result<Plan, Error> {
        self.send(Call::post(plan_path(id) + "/run")).await
    }

    /// Skips the next occurrences of a plan.
    pub async fn skip_plan(&self, id: &str, n: u32) -> Result<Plan, Error> {
        self.send(Call::post(plan_path(id) + "/skip").body(&serde_json::json!({"n": n}))).await
    }

    /// Reads a page of a plan's results, the newest first.
    pub async fn plan_results(
        &self,
        id: &str,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<PlanResult>, Error> {
        let query =
            query(&[("limit", Some(limit.to_string())), ("cursor", cursor.map(str::to_owned))]);
        self.send(Call::get(plan_path(id) + "/results" + &query)).await
    }

    /// Reads the next times of a plan, at most `n`.
    pub async fn plan_occurrences(&self, id: &str, n: u32) -> Result<Vec<Timestamp>, Error> {
        let query = query(&[("n", Some(n.to_string()))]);
        let call = Call::get(plan_path(id) + "/occurrences" + &query);
        self.send(call).await.map(|Times { items }| items)
    }

    /// Computes the times of a rule. Nothing is stored.
    pub async fn preview_plan(&self, rule: &Rule, n: u32) -> Result<Vec<Timestamp>, Error> {
        #[derive(Serialize)]
        struct Preview<'a> {
            #[serde(flatten)]
            rule: &'a Rule,
            n: u32,
        }
        let call = Call::post(format!("{PLANS}/preview")).body(&Preview { rule, n });
        self.send(call).await.map(|Times { items }| items)
    }
}
