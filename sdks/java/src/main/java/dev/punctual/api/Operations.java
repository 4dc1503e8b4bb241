// Written by sdks/generate from /openapi.json: change nothing here by hand.

package dev.punctual.api;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Every operation of the server, a method each. */
public class Operations extends Transport {
    protected Operations(Options options) {
        super(options);
    }

    /** Whether the server runs. GET /livez */
    public Types.Live livez() {
        return new Types.Live(json(new Call("GET", "/livez")));
    }

    /** Read what is measured, for Prometheus. GET /metrics */
    public String metrics() {
        return text(new Call("GET", "/metrics"));
    }

    /** Whether the server can do its work. GET /readyz */
    public Types.Ready readyz() {
        return new Types.Ready(json(new Call("GET", "/readyz")));
    }

    /** Say what the token that was sent is good for. Any token may ask. GET /v1/access */
    public Types.Access access() {
        return new Types.Access(json(new Call("GET", "/v1/access")));
    }

    /** Copy the store into one file, as it is at this moment. Only the embedded store is copied. POST /v1/backup */
    public byte[] backUp() {
        return bytes(new Call("POST", "/v1/backup"));
    }

    /** Move the server's clock, as if it had slept; only with `serve --dev`. POST /v1/dev/clock */
    public Types.Clock moveClock(Types.Move body) {
        return new Types.Clock(json(new Call("POST", "/v1/dev/clock").body(body).once()));
    }

    /** Move the server's clock, as if it had slept; only with `serve --dev`. POST /v1/dev/clock */
    public Types.Clock moveClock() {
        return moveClock(new Types.Move());
    }

    /** Options of listFailures. One that was not set is left out. */
    public static final class ListFailuresOptions extends JsonObject {
        /** Only those of this queue. */
        public ListFailuresOptions queue(String value) {
            set("queue", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListFailuresOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** Group failed tasks by queue and error, those that failed last first. GET /v1/failures */
    public Types.FailureGroupPage listFailures(ListFailuresOptions options) {
        return new Types.FailureGroupPage(json(new Call("GET", "/v1/failures").query(options, "queue", "cursor")));
    }

    /** Group failed tasks by queue and error, those that failed last first. GET /v1/failures */
    public Types.FailureGroupPage listFailures() {
        return listFailures(new ListFailuresOptions());
    }

    /** Options of listFlows. One that was not set is left out. */
    public static final class ListFlowsOptions extends JsonObject {
        /** Only those in these states, separated by commas. */
        public ListFlowsOptions state(Types.FlowState value) {
            set("state", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListFlowsOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListFlowsOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListFlowsOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List flows by id, without their steps. GET /v1/flows */
    public Types.FlowSummaryPage listFlows(ListFlowsOptions options) {
        return new Types.FlowSummaryPage(json(new Call("GET", "/v1/flows").query(options, "state", "limit", "cursor")));
    }

    /** List flows by id, without their steps. GET /v1/flows */
    public Types.FlowSummaryPage listFlows() {
        return listFlows(new ListFlowsOptions());
    }

    /** Options of createFlow. One that was not set is left out. */
    public static final class CreateFlowOptions extends JsonObject {
        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public CreateFlowOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }

        /** The span it is made in, as W3C Trace Context says; its tasks carry it on */
        public CreateFlowOptions traceparent(String value) {
            set("traceparent", value);
            return this;
        }
    }

    /** Make a flow. POST /v1/flows */
    public Types.Flow createFlow(Types.NewFlow body, CreateFlowOptions options) {
        return new Types.Flow(json(new Call("POST", "/v1/flows").body(body).headers(options, "Idempotency-Key", "traceparent").keyed()));
    }

    /** Make a flow. POST /v1/flows */
    public Types.Flow createFlow(Types.NewFlow body) {
        return createFlow(body, new CreateFlowOptions());
    }

    /** Read a flow with all its steps. GET /v1/flows/{id} */
    public Types.Flow getFlow(String id) {
        return new Types.Flow(json(new Call("GET", "/v1/flows/{id}", id)));
    }

    /**
     * End a flow: no step is started any more, and tasks that have not ended are cancelled. POST
     * /v1/flows/{id}/cancel
     */
    public Types.Flow cancelFlow(String id) {
        return new Types.Flow(json(new Call("POST", "/v1/flows/{id}/cancel", id)));
    }

    /**
     * Set a flow aside: no step is started, tasks that nobody began are paused, running ones finish. POST
     * /v1/flows/{id}/pause
     */
    public Types.Flow pauseFlow(String id) {
        return new Types.Flow(json(new Call("POST", "/v1/flows/{id}/pause", id)));
    }

    /** Let a paused flow go on. POST /v1/flows/{id}/resume */
    public Types.Flow resumeFlow(String id) {
        return new Types.Flow(json(new Call("POST", "/v1/flows/{id}/resume", id)));
    }

    /**
     * Make the failed and cancelled steps of a flow again; those that are done stay done. POST
     * /v1/flows/{id}/retry
     */
    public Types.Flow retryFlow(String id) {
        return new Types.Flow(json(new Call("POST", "/v1/flows/{id}/retry", id)));
    }

    /**
     * List the targets of deliveries: those that something is under way for, and those known of late. GET
     * /v1/hosts
     */
    public Types.HostPage listHosts() {
        return new Types.HostPage(json(new Call("GET", "/v1/hosts")));
    }

    /** Options of listNotices. One that was not set is left out. */
    public static final class ListNoticesOptions extends JsonObject {
        /**
         * Only these states, separated by commas, listed in this order: `waiting`, `delivering`, `succeeded`,
         * `exhausted`, `cancelled`.
         */
        public ListNoticesOptions state(String value) {
            set("state", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListNoticesOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListNoticesOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListNoticesOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List notices. GET /v1/notices */
    public Types.NoticePage listNotices(ListNoticesOptions options) {
        return new Types.NoticePage(json(new Call("GET", "/v1/notices").query(options, "state", "limit", "cursor")));
    }

    /** List notices. GET /v1/notices */
    public Types.NoticePage listNotices() {
        return listNotices(new ListNoticesOptions());
    }

    /** Options of pushNotice. One that was not set is left out. */
    public static final class PushNoticeOptions extends JsonObject {
        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public PushNoticeOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }

        /** The span it is made in, as W3C Trace Context says; its tasks carry it on */
        public PushNoticeOptions traceparent(String value) {
            set("traceparent", value);
            return this;
        }
    }

    /** Send a notice. POST /v1/notices */
    public Types.Notice pushNotice(Types.Message body, PushNoticeOptions options) {
        return new Types.Notice(json(new Call("POST", "/v1/notices").body(body).headers(options, "Idempotency-Key", "traceparent").keyed()));
    }

    /** Send a notice. POST /v1/notices */
    public Types.Notice pushNotice(Types.Message body) {
        return pushNotice(body, new PushNoticeOptions());
    }

    /** Send a notice no more, also if one is under way. It reads as `cancelled` for 24 h. DELETE /v1/notices/{id} */
    public void cancelNotice(String id) {
        none(new Call("DELETE", "/v1/notices/{id}", id));
    }

    /** Read a notice. GET /v1/notices/{id} */
    public Types.Notice getNotice(String id) {
        return new Types.Notice(json(new Call("GET", "/v1/notices/{id}", id)));
    }

    /**
     * Send one more notice now: of one that is exhausted, or one that waits for its next. POST
     * /v1/notices/{id}/retry
     */
    public Types.Notice retryNotice(String id) {
        return new Types.Notice(json(new Call("POST", "/v1/notices/{id}/retry", id)));
    }

    /** Options of listPlans. One that was not set is left out. */
    public static final class ListPlansOptions extends JsonObject {
        /** Only those whose runs go to this queue. */
        public ListPlansOptions queue(String value) {
            set("queue", value);
            return this;
        }

        /** Another name of `queue`. */
        public ListPlansOptions station(String value) {
            set("station", value);
            return this;
        }

        /** Only those in these states, separated by commas. */
        public ListPlansOptions state(Types.PlanState value) {
            set("state", value);
            return this;
        }

        /**
         * `next`: by the time they wait for, the soonest first, those without left out; `name`: by station and
         * id, as if left out.
         */
        public ListPlansOptions order(String value) {
            set("order", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListPlansOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListPlansOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListPlansOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List plans, by station and id or by the time they wait for. GET /v1/plans */
    public Types.PlanPage listPlans(ListPlansOptions options) {
        return new Types.PlanPage(json(new Call("GET", "/v1/plans").query(options, "queue", "station", "state", "order", "limit", "cursor")));
    }

    /** List plans, by station and id or by the time they wait for. GET /v1/plans */
    public Types.PlanPage listPlans() {
        return listPlans(new ListPlansOptions());
    }

    /** Options of createPlan. One that was not set is left out. */
    public static final class CreatePlanOptions extends JsonObject {
        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public CreatePlanOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }
    }

    /** Make a plan. POST /v1/plans */
    public Types.Plan createPlan(Types.NewPlan body, CreatePlanOptions options) {
        return new Types.Plan(json(new Call("POST", "/v1/plans").body(body).headers(options, "Idempotency-Key").keyed()));
    }

    /** Make a plan. POST /v1/plans */
    public Types.Plan createPlan(Types.NewPlan body) {
        return createPlan(body, new CreatePlanOptions());
    }

    /** Make a plan. POST /v1/plans */
    public Types.Plan createPlan() {
        return createPlan(new Types.NewPlan());
    }

    /** Tell when a plan with such a rule would run. Nothing is stored. POST /v1/plans/preview */
    public Types.TimePage previewPlan(Types.Preview body) {
        return new Types.TimePage(json(new Call("POST", "/v1/plans/preview").body(body)));
    }

    /** Delete a plan. Its run that has not ended goes on, unheard. DELETE /v1/plans/{id} */
    public void deletePlan(String id) {
        none(new Call("DELETE", "/v1/plans/{id}", id));
    }

    /** Read a plan. GET /v1/plans/{id} */
    public Types.Plan getPlan(String id) {
        return new Types.Plan(json(new Call("GET", "/v1/plans/{id}", id)));
    }

    /** Options of putPlan. One that was not set is left out. */
    public static final class PutPlanOptions extends JsonObject {
        /** The ETag of a GET: change it only if nobody else has since */
        public PutPlanOptions ifMatch(String value) {
            set("If-Match", value);
            return this;
        }
    }

    /** Make a plan under an id, or give the one there another rule; what it has counted stays. PUT /v1/plans/{id} */
    public Types.Plan putPlan(String id, Types.NewPlan body, PutPlanOptions options) {
        return new Types.Plan(json(new Call("PUT", "/v1/plans/{id}", id).body(body).headers(options, "If-Match")));
    }

    /** Make a plan under an id, or give the one there another rule; what it has counted stays. PUT /v1/plans/{id} */
    public Types.Plan putPlan(String id, Types.NewPlan body) {
        return putPlan(id, body, new PutPlanOptions());
    }

    /** Make a plan under an id, or give the one there another rule; what it has counted stays. PUT /v1/plans/{id} */
    public Types.Plan putPlan(String id) {
        return putPlan(id, new Types.NewPlan());
    }

    /** Options of planOccurrences. One that was not set is left out. */
    public static final class PlanOccurrencesOptions extends JsonObject {
        /** How many at most, 1 to 1000. */
        public PlanOccurrencesOptions n(Long value) {
            set("n", value);
            return this;
        }

        /** How many at most, 1 to 1000. */
        public PlanOccurrencesOptions n(int value) {
            set("n", value);
            return this;
        }
    }

    /** Tell when a plan will run next, if every run ends in time. GET /v1/plans/{id}/occurrences */
    public Types.TimePage planOccurrences(String id, PlanOccurrencesOptions options) {
        return new Types.TimePage(json(new Call("GET", "/v1/plans/{id}/occurrences", id).query(options, "n")));
    }

    /** Tell when a plan will run next, if every run ends in time. GET /v1/plans/{id}/occurrences */
    public Types.TimePage planOccurrences(String id) {
        return planOccurrences(id, new PlanOccurrencesOptions());
    }

    /** Set a plan aside. Its run that has not ended goes on, and counts. POST /v1/plans/{id}/pause */
    public Types.Plan pausePlan(String id) {
        return new Types.Plan(json(new Call("POST", "/v1/plans/{id}/pause", id)));
    }

    /** Options of planResults. One that was not set is left out. */
    public static final class PlanResultsOptions extends JsonObject {
        /** Most items on the page, 1 to 1000. */
        public PlanResultsOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public PlanResultsOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public PlanResultsOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List what is kept of a plan's runs, the newest first. GET /v1/plans/{id}/results */
    public Types.PlanResultPage planResults(String id, PlanResultsOptions options) {
        return new Types.PlanResultPage(json(new Call("GET", "/v1/plans/{id}/results", id).query(options, "limit", "cursor")));
    }

    /** List what is kept of a plan's runs, the newest first. GET /v1/plans/{id}/results */
    public Types.PlanResultPage planResults(String id) {
        return planResults(id, new PlanResultsOptions());
    }

    /**
     * Let a plan go on that was paused, or that stopped because a run failed for good. POST
     * /v1/plans/{id}/resume
     */
    public Types.Plan resumePlan(String id) {
        return new Types.Plan(json(new Call("POST", "/v1/plans/{id}/resume", id)));
    }

    /** Run a plan now, besides its rule. The run is not counted. POST /v1/plans/{id}/run */
    public Types.Plan runPlan(String id) {
        return new Types.Plan(json(new Call("POST", "/v1/plans/{id}/run", id).once()));
    }

    /** Pass over the next occurrences of a plan. POST /v1/plans/{id}/skip */
    public Types.Plan skipPlan(String id, Types.Skip body) {
        return new Types.Plan(json(new Call("POST", "/v1/plans/{id}/skip", id).body(body).once()));
    }

    /** Pass over the next occurrences of a plan. POST /v1/plans/{id}/skip */
    public Types.Plan skipPlan(String id) {
        return skipPlan(id, new Types.Skip());
    }

    /** Options of listQueues. One that was not set is left out. */
    public static final class ListQueuesOptions extends JsonObject {
        /** Only those with this tag. */
        public ListQueuesOptions tag(String value) {
            set("tag", value);
            return this;
        }

        /** Only those of this mode. */
        public ListQueuesOptions mode(Types.Mode value) {
            set("mode", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListQueuesOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListQueuesOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListQueuesOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List queues, by name. GET /v1/queues */
    public Types.QueuePage listQueues(ListQueuesOptions options) {
        return new Types.QueuePage(json(new Call("GET", "/v1/queues").query(options, "tag", "mode", "limit", "cursor")));
    }

    /** List queues, by name. GET /v1/queues */
    public Types.QueuePage listQueues() {
        return listQueues(new ListQueuesOptions());
    }

    /** Delete a queue and all it holds. DELETE /v1/queues/{queue} */
    public void deleteQueue(String queue) {
        none(new Call("DELETE", "/v1/queues/{queue}", queue));
    }

    /** Read a queue: its settings, and what it holds. GET /v1/queues/{queue} */
    public Types.Queue getQueue(String queue) {
        return new Types.Queue(json(new Call("GET", "/v1/queues/{queue}", queue)));
    }

    /** Options of putQueue. One that was not set is left out. */
    public static final class PutQueueOptions extends JsonObject {
        /** The ETag of a GET: change it only if nobody else has since */
        public PutQueueOptions ifMatch(String value) {
            set("If-Match", value);
            return this;
        }
    }

    /** Create a queue, or change its settings. PUT /v1/queues/{queue} */
    public Types.Queue putQueue(String queue, Types.Settings body, PutQueueOptions options) {
        return new Types.Queue(json(new Call("PUT", "/v1/queues/{queue}", queue).body(body).headers(options, "If-Match")));
    }

    /** Create a queue, or change its settings. PUT /v1/queues/{queue} */
    public Types.Queue putQueue(String queue, Types.Settings body) {
        return putQueue(queue, body, new PutQueueOptions());
    }

    /** Create a queue, or change its settings. PUT /v1/queues/{queue} */
    public Types.Queue putQueue(String queue) {
        return putQueue(queue, new Types.Settings());
    }

    /** Options of listBundles. One that was not set is left out. */
    public static final class ListBundlesOptions extends JsonObject {
        /** Only those in this state. */
        public ListBundlesOptions state(String value) {
            set("state", value);
            return this;
        }

        /** Only those whose key begins so. */
        public ListBundlesOptions key(String value) {
            set("key", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListBundlesOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListBundlesOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListBundlesOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List bundles, by key. GET /v1/queues/{queue}/bundles */
    public Types.BundlePage listBundles(String queue, ListBundlesOptions options) {
        return new Types.BundlePage(json(new Call("GET", "/v1/queues/{queue}/bundles", queue).query(options, "state", "key", "limit", "cursor")));
    }

    /** List bundles, by key. GET /v1/queues/{queue}/bundles */
    public Types.BundlePage listBundles(String queue) {
        return listBundles(queue, new ListBundlesOptions());
    }

    /**
     * Ask for a bundle that is due. It is marked as started, and nobody else is told of it for a while. POST
     * /v1/queues/{queue}/bundles/schedule
     */
    public Types.BundleScheduled scheduleBundle(String queue, Types.BundleSchedule body) {
        return new Types.BundleScheduled(json(new Call("POST", "/v1/queues/{queue}/bundles/schedule", queue).body(body)));
    }

    /**
     * Ask for a bundle that is due. It is marked as started, and nobody else is told of it for a while. POST
     * /v1/queues/{queue}/bundles/schedule
     */
    public Types.BundleScheduled scheduleBundle(String queue) {
        return scheduleBundle(queue, new Types.BundleSchedule());
    }

    /** Remove a bundle and all that is in it. DELETE /v1/queues/{queue}/bundles/{key} */
    public void deleteBundle(String queue, String key) {
        none(new Call("DELETE", "/v1/queues/{queue}/bundles/{key}", queue, key));
    }

    /** Read a bundle and its first payloads. GET /v1/queues/{queue}/bundles/{key} */
    public Types.Bundle readBundle(String queue, String key) {
        return new Types.Bundle(json(new Call("GET", "/v1/queues/{queue}/bundles/{key}", queue, key)));
    }

    /**
     * The first payloads are done: they go, and the lock with them. POST
     * /v1/queues/{queue}/bundles/{key}/complete
     */
    public Types.BundleCompleted completeBundle(String queue, String key, Types.BundleComplete body) {
        return new Types.BundleCompleted(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/complete", queue, key).body(body)));
    }

    /** Add strings to those kept with a bundle, and take others away. POST /v1/queues/{queue}/bundles/{key}/data */
    public Types.Bundle changeData(String queue, String key, Types.BundleData body) {
        return new Types.Bundle(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/data", queue, key).body(body)));
    }

    /** Add strings to those kept with a bundle, and take others away. POST /v1/queues/{queue}/bundles/{key}/data */
    public Types.Bundle changeData(String queue, String key) {
        return changeData(queue, key, new Types.BundleData());
    }

    /** Lock a bundle and get its first payloads, due or not. POST /v1/queues/{queue}/bundles/{key}/get */
    public Types.BundleGot getBundle(String queue, String key, Types.BundleGet body) {
        return new Types.BundleGot(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/get", queue, key).body(body)));
    }

    /** Options of pushBundle. One that was not set is left out. */
    public static final class PushBundleOptions extends JsonObject {
        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public PushBundleOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }
    }

    /** Push a payload into a bundle. POST /v1/queues/{queue}/bundles/{key}/push */
    public Types.BundlePushed pushBundle(String queue, String key, Types.BundlePush body, PushBundleOptions options) {
        return new Types.BundlePushed(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/push", queue, key).body(body).headers(options, "Idempotency-Key").keyed()));
    }

    /** Push a payload into a bundle. POST /v1/queues/{queue}/bundles/{key}/push */
    public Types.BundlePushed pushBundle(String queue, String key, Types.BundlePush body) {
        return pushBundle(queue, key, body, new PushBundleOptions());
    }

    /** Give a bundle back without having dealt with it. POST /v1/queues/{queue}/bundles/{key}/release */
    public Types.BundleReleased releaseBundle(String queue, String key, Types.BundleRelease body) {
        return new Types.BundleReleased(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/release", queue, key).body(body)));
    }

    /**
     * Have a bundle dealt with now that failed, or that waits for its time or its next attempt. POST
     * /v1/queues/{queue}/bundles/{key}/retry
     */
    public Types.Bundle retryBundle(String queue, String key) {
        return new Types.Bundle(json(new Call("POST", "/v1/queues/{queue}/bundles/{key}/retry", queue, key)));
    }

    /** Say that tasks are done. POST /v1/queues/{queue}/commit */
    public Types.Results commitMany(String queue, Types.CommitItemBatch body) {
        return new Types.Results(json(new Call("POST", "/v1/queues/{queue}/commit", queue).body(body)));
    }

    /** Hold tasks longer, and report. POST /v1/queues/{queue}/extend */
    public Types.Results extendMany(String queue, Types.ExtendItemBatch body) {
        return new Types.Results(json(new Call("POST", "/v1/queues/{queue}/extend", queue).body(body)));
    }

    /** Say that attempts failed. POST /v1/queues/{queue}/fail */
    public Types.Results failMany(String queue, Types.FailItemBatch body) {
        return new Types.Results(json(new Call("POST", "/v1/queues/{queue}/fail", queue).body(body)));
    }

    /** Hand out nothing until resumed. Pushes still work. POST /v1/queues/{queue}/pause */
    public Types.Queue pauseQueue(String queue) {
        return new Types.Queue(json(new Call("POST", "/v1/queues/{queue}/pause", queue)));
    }

    /** Give tasks back; the takes do not count. POST /v1/queues/{queue}/release */
    public Types.Results releaseMany(String queue, Types.ReleaseItemBatch body) {
        return new Types.Results(json(new Call("POST", "/v1/queues/{queue}/release", queue).body(body)));
    }

    /** Drop all tasks of a queue; its settings stay. POST /v1/queues/{queue}/reset */
    public Types.Queue resetQueue(String queue) {
        return new Types.Queue(json(new Call("POST", "/v1/queues/{queue}/reset", queue)));
    }

    /** Hand out tasks again. POST /v1/queues/{queue}/resume */
    public Types.Queue resumeQueue(String queue) {
        return new Types.Queue(json(new Call("POST", "/v1/queues/{queue}/resume", queue)));
    }

    /** Say how many workers a queue has and needs, as this server has seen lately. GET /v1/queues/{queue}/scale */
    public Types.Scale scaleQueue(String queue) {
        return new Types.Scale(json(new Call("GET", "/v1/queues/{queue}/scale", queue)));
    }

    /** Take tasks. POST /v1/queues/{queue}/take */
    public Types.Taken take(String queue, Types.Take body) {
        return new Types.Taken(json(new Call("POST", "/v1/queues/{queue}/take", queue).body(body)));
    }

    /** Take tasks. POST /v1/queues/{queue}/take */
    public Types.Taken take(String queue) {
        return take(queue, new Types.Take());
    }

    /** Options of listTasks. One that was not set is left out. */
    public static final class ListTasksOptions extends JsonObject {
        /**
         * Only these states, separated by commas, listed in this order. Left out: what is held first, then what
         * is ready, waiting, paused, and what has ended.
         */
        public ListTasksOptions state(String value) {
            set("state", value);
            return this;
        }

        /** Only those with this tag. */
        public ListTasksOptions tag(String value) {
            set("tag", value);
            return this;
        }

        /** Only those whose id begins so. */
        public ListTasksOptions id(String value) {
            set("id", value);
            return this;
        }

        /** Only those that this worker holds, or held when they ended. */
        public ListTasksOptions worker(String value) {
            set("worker", value);
            return this;
        }

        /** Only those whose error contains this. */
        public ListTasksOptions error(String value) {
            set("error", value);
            return this;
        }

        /** Only those whose payload contains this. */
        public ListTasksOptions q(String value) {
            set("q", value);
            return this;
        }

        /** Only those that finished, or last failed, at this time or later. */
        public ListTasksOptions since(Object value) {
            set("since", value);
            return this;
        }

        /**
         * How much of each payload to show: all of it; `payload_preview`, the first 200 characters of its JSON
         * text; or nothing.
         */
        public ListTasksOptions payload(Object value) {
            set("payload", value);
            return this;
        }

        /** Lists finished tasks by when they ended, whatever their state, after all others. */
        public ListTasksOptions sort(String value) {
            set("sort", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListTasksOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListTasksOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListTasksOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /**
     * List tasks. `state=ready` lists them in the order in which they are handed out. GET
     * /v1/queues/{queue}/tasks
     */
    public Types.TaskPage listTasks(String queue, ListTasksOptions options) {
        return new Types.TaskPage(json(new Call("GET", "/v1/queues/{queue}/tasks", queue).query(options, "state", "tag", "id", "worker", "error", "q", "since", "payload", "sort", "limit", "cursor")));
    }

    /**
     * List tasks. `state=ready` lists them in the order in which they are handed out. GET
     * /v1/queues/{queue}/tasks
     */
    public Types.TaskPage listTasks(String queue) {
        return listTasks(queue, new ListTasksOptions());
    }

    /** Options of pushTask. One that was not set is left out. */
    public static final class PushTaskOptions extends JsonObject {
        /** How long to wait for the task's end, at most 60 seconds; not at all if left out. Not for a batch. */
        public PushTaskOptions wait_(Object value) {
            set("wait", value);
            return this;
        }

        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public PushTaskOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }

        /** The span it is pushed in, as W3C Trace Context says; what follows from the task carries it on */
        public PushTaskOptions traceparent(String value) {
            set("traceparent", value);
            return this;
        }
    }

    /** Push one task, or many. POST /v1/queues/{queue}/tasks */
    public Types.Task pushTask(String queue, Types.NewTask body, PushTaskOptions options) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks", queue).body(body).query(options, "wait").headers(options, "Idempotency-Key", "traceparent").keyed()));
    }

    /** Push one task, or many. POST /v1/queues/{queue}/tasks */
    public Types.Task pushTask(String queue, Types.NewTask body) {
        return pushTask(queue, body, new PushTaskOptions());
    }

    /** Push one task, or many. POST /v1/queues/{queue}/tasks */
    public Types.Task pushTask(String queue) {
        return pushTask(queue, new Types.NewTask());
    }

    /** Do the same to all tasks that match, at most 1000 per call. POST /v1/queues/{queue}/tasks/bulk */
    public Types.Bulked bulkTasks(String queue, Types.Bulk body) {
        return new Types.Bulked(json(new Call("POST", "/v1/queues/{queue}/tasks/bulk", queue).body(body)));
    }

    /** Remove a task, whatever its state. DELETE /v1/queues/{queue}/tasks/{id} */
    public void deleteTask(String queue, String id) {
        none(new Call("DELETE", "/v1/queues/{queue}/tasks/{id}", queue, id));
    }

    /** Options of getTask. One that was not set is left out. */
    public static final class GetTaskOptions extends JsonObject {
        /** How long to wait for its end, at most 60 seconds; not at all if left out. */
        public GetTaskOptions wait_(Object value) {
            set("wait", value);
            return this;
        }
    }

    /** Read a task, now or when it has ended. GET /v1/queues/{queue}/tasks/{id} */
    public Types.Task getTask(String queue, String id, GetTaskOptions options) {
        return new Types.Task(json(new Call("GET", "/v1/queues/{queue}/tasks/{id}", queue, id).query(options, "wait")));
    }

    /** Read a task, now or when it has ended. GET /v1/queues/{queue}/tasks/{id} */
    public Types.Task getTask(String queue, String id) {
        return getTask(queue, id, new GetTaskOptions());
    }

    /** Options of editTask. One that was not set is left out. */
    public static final class EditTaskOptions extends JsonObject {
        /** The ETag of a GET: change it only if nobody else has since */
        public EditTaskOptions ifMatch(String value) {
            set("If-Match", value);
            return this;
        }
    }

    /** Change what was pushed, while nobody has taken it. PATCH /v1/queues/{queue}/tasks/{id} */
    public Types.Task editTask(String queue, String id, Types.Edit body, EditTaskOptions options) {
        return new Types.Task(json(new Call("PATCH", "/v1/queues/{queue}/tasks/{id}", queue, id).body(body).headers(options, "If-Match")));
    }

    /** Change what was pushed, while nobody has taken it. PATCH /v1/queues/{queue}/tasks/{id} */
    public Types.Task editTask(String queue, String id, Types.Edit body) {
        return editTask(queue, id, body, new EditTaskOptions());
    }

    /** Change what was pushed, while nobody has taken it. PATCH /v1/queues/{queue}/tasks/{id} */
    public Types.Task editTask(String queue, String id) {
        return editTask(queue, id, new Types.Edit());
    }

    /**
     * Assign a ready task of a dispatch queue to a worker, which has to confirm it. POST
     * /v1/queues/{queue}/tasks/{id}/assign
     */
    public Types.Task assignTask(String queue, String id, Types.Assign body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/assign", queue, id).body(body)));
    }

    /** Cancel a task. POST /v1/queues/{queue}/tasks/{id}/cancel */
    public Types.Task cancelTask(String queue, String id) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/cancel", queue, id)));
    }

    /** Acknowledge a cancel. POST /v1/queues/{queue}/tasks/{id}/cancelled */
    public Types.Task cancelled(String queue, String id, Types.Acknowledgement body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/cancelled", queue, id).body(body)));
    }

    /** Say that a task is done. POST /v1/queues/{queue}/tasks/{id}/commit */
    public Types.Task commit(String queue, String id, Types.Commit body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/commit", queue, id).body(body)));
    }

    /**
     * Confirm an assignment: the task is `running` and its hold begins. POST
     * /v1/queues/{queue}/tasks/{id}/confirm
     */
    public Types.Task confirm(String queue, String id, Types.Confirm body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/confirm", queue, id).body(body)));
    }

    /**
     * Hold a task longer, and report. Also how a holder hears of cancel and pause. POST
     * /v1/queues/{queue}/tasks/{id}/extend
     */
    public Types.Extended extend(String queue, String id, Types.Extend body) {
        return new Types.Extended(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/extend", queue, id).body(body)));
    }

    /**
     * Say that an attempt failed: the task waits for its retry, or is `failed`. POST
     * /v1/queues/{queue}/tasks/{id}/fail
     */
    public Types.Task fail(String queue, String id, Types.Fail body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/fail", queue, id).body(body)));
    }

    /** Set a task aside. POST /v1/queues/{queue}/tasks/{id}/pause */
    public Types.Task pauseTask(String queue, String id) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/pause", queue, id)));
    }

    /** Acknowledge a pause. POST /v1/queues/{queue}/tasks/{id}/paused */
    public Types.Task paused(String queue, String id, Types.Acknowledgement body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/paused", queue, id).body(body)));
    }

    /** Give a task back; the take does not count. POST /v1/queues/{queue}/tasks/{id}/release */
    public Types.Task release(String queue, String id, Types.Release body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/release", queue, id).body(body)));
    }

    /**
     * Make a task like new: attempts, progress, checkpoint and history are cleared. POST
     * /v1/queues/{queue}/tasks/{id}/reset
     */
    public Types.Task resetTask(String queue, String id) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/reset", queue, id)));
    }

    /** Let a paused task go on, from its checkpoint. POST /v1/queues/{queue}/tasks/{id}/resume */
    public Types.Task resumeTask(String queue, String id) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/resume", queue, id)));
    }

    /** Try a task again now that has failed or waits for its retry. POST /v1/queues/{queue}/tasks/{id}/retry */
    public Types.Task retryTask(String queue, String id, Types.RetryNow body) {
        return new Types.Task(json(new Call("POST", "/v1/queues/{queue}/tasks/{id}/retry", queue, id).body(body)));
    }

    /** Try a task again now that has failed or waits for its retry. POST /v1/queues/{queue}/tasks/{id}/retry */
    public Types.Task retryTask(String queue, String id) {
        return retryTask(queue, id, new Types.RetryNow());
    }

    /** Say why a task is not running now. GET /v1/queues/{queue}/tasks/{id}/why */
    public Types.Why why(String queue, String id) {
        return new Types.Why(json(new Call("GET", "/v1/queues/{queue}/tasks/{id}/why", queue, id)));
    }

    /** Options of stats. One that was not set is left out. */
    public static final class StatsOptions extends JsonObject {
        /** Only what happened in this queue. */
        public StatsOptions queue(String value) {
            set("queue", value);
            return this;
        }
    }

    /** Count what happened in the last hour. GET /v1/stats */
    public Types.Stats stats(StatsOptions options) {
        return new Types.Stats(json(new Call("GET", "/v1/stats").query(options, "queue")));
    }

    /** Count what happened in the last hour. GET /v1/stats */
    public Types.Stats stats() {
        return stats(new StatsOptions());
    }

    /** Count what happened in the last hour in each queue, for sparklines. GET /v1/stats/queues */
    public Types.AllQueueStats queueStats() {
        return new Types.AllQueueStats(json(new Call("GET", "/v1/stats/queues")));
    }

    /** Count what all queues hold together. GET /v1/stats/totals */
    public Types.Totals totals() {
        return new Types.Totals(json(new Call("GET", "/v1/stats/totals")));
    }

    /** Read how the server, its store and the servers beside it are. GET /v1/system */
    public Types.SystemType getSystem() {
        return new Types.SystemType(json(new Call("GET", "/v1/system")));
    }

    /** Options of getAudit. One that was not set is left out. */
    public static final class GetAuditOptions extends JsonObject {
        /** Most items on the page, 1 to 1000. */
        public GetAuditOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public GetAuditOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public GetAuditOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** Read what was done to queues and to the server, the newest first. GET /v1/system/audit */
    public Types.AuditedPage getAudit(GetAuditOptions options) {
        return new Types.AuditedPage(json(new Call("GET", "/v1/system/audit").query(options, "limit", "cursor")));
    }

    /** Read what was done to queues and to the server, the newest first. GET /v1/system/audit */
    public Types.AuditedPage getAudit() {
        return getAudit(new GetAuditOptions());
    }

    /** Read the settings that hold, and where each comes from. Secrets read as `***`. GET /v1/system/config */
    public Types.Config getConfig() {
        return new Types.Config(json(new Call("GET", "/v1/system/config")));
    }

    /** List the access tokens of the settings: what each is good for, not what it is. GET /v1/system/tokens */
    public Types.Tokens getTokens() {
        return new Types.Tokens(json(new Call("GET", "/v1/system/tokens")));
    }

    /** Options of listTokens. One that was not set is left out. */
    public static final class ListTokensOptions extends JsonObject {
        /** Most items on the page, 1 to 1000. */
        public ListTokensOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListTokensOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListTokensOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List the access tokens that were made at run time, by name. GET /v1/tokens */
    public Types.AccessTokenPage listTokens(ListTokensOptions options) {
        return new Types.AccessTokenPage(json(new Call("GET", "/v1/tokens").query(options, "limit", "cursor")));
    }

    /** List the access tokens that were made at run time, by name. GET /v1/tokens */
    public Types.AccessTokenPage listTokens() {
        return listTokens(new ListTokensOptions());
    }

    /** Make an access token. POST /v1/tokens */
    public Types.MadeAccessToken createToken(Types.NewAccessToken body) {
        return new Types.MadeAccessToken(json(new Call("POST", "/v1/tokens").body(body)));
    }

    /** Revoke an access token. DELETE /v1/tokens/{name} */
    public void deleteToken(String name) {
        none(new Call("DELETE", "/v1/tokens/{name}", name));
    }

    /** Read an access token: what it is good for and how much it was used, not what it is. GET /v1/tokens/{name} */
    public Types.AccessToken getToken(String name) {
        return new Types.AccessToken(json(new Call("GET", "/v1/tokens/{name}", name)));
    }

    /** Options of listWorkers. One that was not set is left out. */
    public static final class ListWorkersOptions extends JsonObject {
        /** Only those that serve this queue. */
        public ListWorkersOptions queue(String value) {
            set("queue", value);
            return this;
        }

        /** Only those in these states, separated by commas. */
        public ListWorkersOptions state(String value) {
            set("state", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListWorkersOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListWorkersOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListWorkersOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /** List workers, by name. GET /v1/workers */
    public Types.WorkerPage listWorkers(ListWorkersOptions options) {
        return new Types.WorkerPage(json(new Call("GET", "/v1/workers").query(options, "queue", "state", "limit", "cursor")));
    }

    /** List workers, by name. GET /v1/workers */
    public Types.WorkerPage listWorkers() {
        return listWorkers(new ListWorkersOptions());
    }

    /**
     * Leave: what the worker held is ready for others at once, and those takes do not count. DELETE
     * /v1/workers/{worker}
     */
    public void deleteWorker(String worker) {
        none(new Call("DELETE", "/v1/workers/{worker}", worker));
    }

    /** Read a worker. GET /v1/workers/{worker} */
    public Types.Worker getWorker(String worker) {
        return new Types.Worker(json(new Call("GET", "/v1/workers/{worker}", worker)));
    }

    /** Join as a worker, or change what was said then. PUT /v1/workers/{worker} */
    public Types.Worker putWorker(String worker, Types.Join body) {
        return new Types.Worker(json(new Call("PUT", "/v1/workers/{worker}", worker).body(body)));
    }

    /** Join as a worker, or change what was said then. PUT /v1/workers/{worker} */
    public Types.Worker putWorker(String worker) {
        return putWorker(worker, new Types.Join());
    }

    /** Give a worker no more tasks; it finishes what it has. POST /v1/workers/{worker}/drain */
    public Types.Worker drainWorker(String worker) {
        return new Types.Worker(json(new Call("POST", "/v1/workers/{worker}/drain", worker)));
    }

    /**
     * Hear what is new: tasks to confirm, and what is to be stopped. It is also the heartbeat. POST
     * /v1/workers/{worker}/poll
     */
    public Types.Orders pollWorker(String worker, Types.Poll body) {
        return new Types.Orders(json(new Call("POST", "/v1/workers/{worker}/poll", worker).body(body)));
    }

    /**
     * Hear what is new: tasks to confirm, and what is to be stopped. It is also the heartbeat. POST
     * /v1/workers/{worker}/poll
     */
    public Types.Orders pollWorker(String worker) {
        return pollWorker(worker, new Types.Poll());
    }

    /** Options of listHoldings. One that was not set is left out. */
    public static final class ListHoldingsOptions extends JsonObject {
        /** Most items on the page, 1 to 1000. */
        public ListHoldingsOptions limit(Long value) {
            set("limit", value);
            return this;
        }

        /** Most items on the page, 1 to 1000. */
        public ListHoldingsOptions limit(int value) {
            set("limit", value);
            return this;
        }

        /** The `next` of the page before. */
        public ListHoldingsOptions cursor(String value) {
            set("cursor", value);
            return this;
        }
    }

    /**
     * List what a worker has: tasks it was given and has not settled, and those it has yet to vote on. GET
     * /v1/workers/{worker}/tasks
     */
    public Types.TaskPage listHoldings(String worker, ListHoldingsOptions options) {
        return new Types.TaskPage(json(new Call("GET", "/v1/workers/{worker}/tasks", worker).query(options, "limit", "cursor")));
    }

    /**
     * List what a worker has: tasks it was given and has not settled, and those it has yet to vote on. GET
     * /v1/workers/{worker}/tasks
     */
    public Types.TaskPage listHoldings(String worker) {
        return listHoldings(worker, new ListHoldingsOptions());
    }

    /** Options of deleteMerged. One that was not set is left out. */
    public static final class DeleteMergedOptions extends JsonObject {
        /** `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays. */
        public DeleteMergedOptions update(String value) {
            set("update", value);
            return this;
        }

        /** When it is due, in Unix seconds or RFC 3339; now if left out. */
        public DeleteMergedOptions ontime(String value) {
            set("ontime", value);
            return this;
        }

        /** It is due no later than that long after its first payload. */
        public DeleteMergedOptions maxWait(String value) {
            set("max_wait", value);
            return this;
        }
    }

    /**
     * Remove all payloads that wait under a merge key, method and service. DELETE
     * /v3/queue/{merge_key}/{method}/{service}
     */
    public void deleteMerged(String mergeKey, String method, String service, DeleteMergedOptions options) {
        none(new Call("DELETE", "/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service).query(options, "update", "ontime", "max_wait"));
    }

    /**
     * Remove all payloads that wait under a merge key, method and service. DELETE
     * /v3/queue/{merge_key}/{method}/{service}
     */
    public void deleteMerged(String mergeKey, String method, String service) {
        deleteMerged(mergeKey, method, service, new DeleteMergedOptions());
    }

    /** Options of pushMerged. One that was not set is left out. */
    public static final class PushMergedOptions extends JsonObject {
        /** `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays. */
        public PushMergedOptions update(String value) {
            set("update", value);
            return this;
        }

        /** When it is due, in Unix seconds or RFC 3339; now if left out. */
        public PushMergedOptions ontime(String value) {
            set("ontime", value);
            return this;
        }

        /** It is due no later than that long after its first payload. */
        public PushMergedOptions maxWait(String value) {
            set("max_wait", value);
            return this;
        }

        /** 1 to 255 ASCII characters; a repeat under the same key has no second effect */
        public PushMergedOptions idempotencyKey(String value) {
            set("Idempotency-Key", value);
            return this;
        }
    }

    /**
     * Push a payload that is delivered with all others under the same merge key, method and service. POST
     * /v3/queue/{merge_key}/{method}/{service}
     */
    public Types.BundlePushed pushMerged(String mergeKey, String method, String service, Object payload, PushMergedOptions options) {
        return new Types.BundlePushed(json(new Call("POST", "/v3/queue/{merge_key}/{method}/{service}", mergeKey, method, service).body(payload).query(options, "update", "ontime", "max_wait").headers(options, "Idempotency-Key").keyed()));
    }

    /**
     * Push a payload that is delivered with all others under the same merge key, method and service. POST
     * /v3/queue/{merge_key}/{method}/{service}
     */
    public Types.BundlePushed pushMerged(String mergeKey, String method, String service, Object payload) {
        return pushMerged(mergeKey, method, service, payload, new PushMergedOptions());
    }
}
