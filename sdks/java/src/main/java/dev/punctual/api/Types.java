// Written by sdks/generate from /openapi.json: change nothing here by hand.

package dev.punctual.api;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The types of requests and answers. A field that was not set is left out of a request; one that was set to null
 * is sent as null.
 */
public final class Types {
    private Types() {}

    /** What becomes of a bundle that was scheduled but never got. */
    public enum Abandoned implements JsonObject.Text {
        FAIL("fail"),
        DROP("drop"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Abandoned(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Abandoned of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** What whoever asks may do. */
    public static final class Access extends JsonObject {
        public Access() {}

        public Access(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Access also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Whether the server has no tokens, so that everybody may do everything. */
        public boolean open() {
            return read("open", Boolean.class::cast, false);
        }

        /** Whether the server has no tokens, so that everybody may do everything. */
        public Access open(Boolean value) {
            set("open", value);
            return this;
        }

        /** The queues they hold for, `*` at the end for any ending; null: for all. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues they hold for, `*` at the end for any ending; null: for all. */
        public Access queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** The rights. */
        public List<Right> rights() {
            return read("rights", it -> asList(it, it1 -> Right.of((String) it1)));
        }

        /** The rights. */
        public Access rights(List<Right> value) {
            set("rights", value);
            return this;
        }
    }

    /** A token, without what it is. */
    public static final class AccessToken extends JsonObject {
        public AccessToken() {}

        public AccessToken(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessToken also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public AccessToken createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        public Instant expires() {
            return read("expires", JsonObject::asTime);
        }

        public AccessToken expires(Instant value) {
            set("expires", value);
            return this;
        }

        public Instant lastUsed() {
            return read("last_used", JsonObject::asTime);
        }

        public AccessToken lastUsed(Instant value) {
            set("last_used", value);
            return this;
        }

        /** The limits that hold; null: none. */
        public AccessTokenLimitsRead limits() {
            return read("limits", it -> new AccessTokenLimitsRead(asMembers(it)));
        }

        /** The limits that hold; null: none. */
        public AccessToken limits(AccessTokenLimitsRead value) {
            set("limits", value);
            return this;
        }

        /** What it is called. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** What it is called. */
        public AccessToken name(String value) {
            set("name", value);
            return this;
        }

        /** The queues it is good for, `*` at the end for any ending; null: all. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues it is good for, `*` at the end for any ending; null: all. */
        public AccessToken queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** Those of them that it was refused. */
        public long refusals() {
            return read("refusals", JsonObject::asLong, 0L);
        }

        /** Those of them that it was refused. */
        public AccessToken refusals(Long value) {
            set("refusals", value);
            return this;
        }

        public AccessToken refusals(int value) {
            set("refusals", value);
            return this;
        }

        /** Requests that carried it. */
        public long requests() {
            return read("requests", JsonObject::asLong, 0L);
        }

        /** Requests that carried it. */
        public AccessToken requests(Long value) {
            set("requests", value);
            return this;
        }

        public AccessToken requests(int value) {
            set("requests", value);
            return this;
        }

        /** What it may do. */
        public List<Right> rights() {
            return read("rights", it -> asList(it, it1 -> Right.of((String) it1)));
        }

        /** What it may do. */
        public AccessToken rights(List<Right> value) {
            set("rights", value);
            return this;
        }
    }

    /**
     * What a token may take of each server at most; over it: 429 `limited`. A token limited to queues has 100
     * queues, 1,000 connections, 100 streams and a quarter of the bytes unless told otherwise.
     */
    public static final class AccessTokenLimits extends JsonObject {
        public AccessTokenLimits() {}

        public AccessTokenLimits(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessTokenLimits also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Bytes of its requests that are worked on. */
        public Long bytesInFlight() {
            return read("bytes_in_flight", JsonObject::asLong);
        }

        /** Bytes of its requests that are worked on. */
        public AccessTokenLimits bytesInFlight(Long value) {
            set("bytes_in_flight", value);
            return this;
        }

        public AccessTokenLimits bytesInFlight(int value) {
            set("bytes_in_flight", value);
            return this;
        }

        /** Connections whose last request carried it. */
        public Long connections() {
            return read("connections", JsonObject::asLong);
        }

        /** Connections whose last request carried it. */
        public AccessTokenLimits connections(Long value) {
            set("connections", value);
            return this;
        }

        public AccessTokenLimits connections(int value) {
            set("connections", value);
            return this;
        }

        /** Queues that exist and that its requests made, over all servers. */
        public Long queues() {
            return read("queues", JsonObject::asLong);
        }

        /** Queues that exist and that its requests made, over all servers. */
        public AccessTokenLimits queues(Long value) {
            set("queues", value);
            return this;
        }

        public AccessTokenLimits queues(int value) {
            set("queues", value);
            return this;
        }

        public AccessTokenRequests requests() {
            return read("requests", it -> new AccessTokenRequests(asMembers(it)));
        }

        public AccessTokenLimits requests(AccessTokenRequests value) {
            set("requests", value);
            return this;
        }

        /** Open streams of events. */
        public Long streams() {
            return read("streams", JsonObject::asLong);
        }

        /** Open streams of events. */
        public AccessTokenLimits streams(Long value) {
            set("streams", value);
            return this;
        }

        public AccessTokenLimits streams(int value) {
            set("streams", value);
            return this;
        }
    }

    /** The limits of a token. */
    public static final class AccessTokenLimitsRead extends JsonObject {
        public AccessTokenLimitsRead() {}

        public AccessTokenLimitsRead(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessTokenLimitsRead also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Bytes of its requests that are worked on. */
        public Long bytesInFlight() {
            return read("bytes_in_flight", JsonObject::asLong);
        }

        /** Bytes of its requests that are worked on. */
        public AccessTokenLimitsRead bytesInFlight(Long value) {
            set("bytes_in_flight", value);
            return this;
        }

        public AccessTokenLimitsRead bytesInFlight(int value) {
            set("bytes_in_flight", value);
            return this;
        }

        /** Connections whose last request carried it. */
        public Long connections() {
            return read("connections", JsonObject::asLong);
        }

        /** Connections whose last request carried it. */
        public AccessTokenLimitsRead connections(Long value) {
            set("connections", value);
            return this;
        }

        public AccessTokenLimitsRead connections(int value) {
            set("connections", value);
            return this;
        }

        /** Queues that exist and that its requests made. */
        public Long queues() {
            return read("queues", JsonObject::asLong);
        }

        /** Queues that exist and that its requests made. */
        public AccessTokenLimitsRead queues(Long value) {
            set("queues", value);
            return this;
        }

        public AccessTokenLimitsRead queues(int value) {
            set("queues", value);
            return this;
        }

        public AccessTokenRequestsRead requests() {
            return read("requests", it -> new AccessTokenRequestsRead(asMembers(it)));
        }

        public AccessTokenLimitsRead requests(AccessTokenRequestsRead value) {
            set("requests", value);
            return this;
        }

        /** Open streams of events. */
        public Long streams() {
            return read("streams", JsonObject::asLong);
        }

        /** Open streams of events. */
        public AccessTokenLimitsRead streams(Long value) {
            set("streams", value);
            return this;
        }

        public AccessTokenLimitsRead streams(int value) {
            set("streams", value);
            return this;
        }
    }

    /** So many requests in a time. */
    public static final class AccessTokenRequests extends JsonObject {
        public AccessTokenRequests() {}

        public AccessTokenRequests(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessTokenRequests also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Requests at most, also at once. */
        public long limit() {
            return read("limit", JsonObject::asLong, 0L);
        }

        /** Requests at most, also at once. */
        public AccessTokenRequests limit(Long value) {
            set("limit", value);
            return this;
        }

        public AccessTokenRequests limit(int value) {
            set("limit", value);
            return this;
        }

        /** In this time. */
        public Object per() {
            return read("per", it -> it);
        }

        /** In this time. */
        public AccessTokenRequests per(Object value) {
            set("per", value);
            return this;
        }
    }

    /** So many requests in so many seconds. */
    public static final class AccessTokenRequestsRead extends JsonObject {
        public AccessTokenRequestsRead() {}

        public AccessTokenRequestsRead(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessTokenRequestsRead also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Requests. */
        public long limit() {
            return read("limit", JsonObject::asLong, 0L);
        }

        /** Requests. */
        public AccessTokenRequestsRead limit(Long value) {
            set("limit", value);
            return this;
        }

        public AccessTokenRequestsRead limit(int value) {
            set("limit", value);
            return this;
        }

        /** Seconds. */
        public double per() {
            return read("per", JsonObject::asDouble, 0.0);
        }

        /** Seconds. */
        public AccessTokenRequestsRead per(Double value) {
            set("per", value);
            return this;
        }
    }

    /** What a holder leaves behind when it stops on request. */
    public static final class Acknowledgement extends JsonObject {
        public Acknowledgement() {}

        public Acknowledgement(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Acknowledgement also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What its next holder needs to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder needs to go on. */
        public Acknowledgement checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        /** What went wrong, at most 4 KiB. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong, at most 4 KiB. */
        public Acknowledgement error(String value) {
            set("error", value);
            return this;
        }

        /** What it came to so far. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to so far. */
        public Acknowledgement result(Object value) {
            set("result", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Acknowledgement token(String value) {
            set("token", value);
            return this;
        }
    }

    /** Queues in which something happened. */
    public static final class AllQueueStats extends JsonObject {
        public AllQueueStats() {}

        public AllQueueStats(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AllQueueStats also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The queues, by name; at most 2000. */
        public List<QueueStats> items() {
            return read("items", it -> asList(it, it1 -> new QueueStats(asMembers(it1))));
        }

        /** The queues, by name; at most 2000. */
        public AllQueueStats items(List<QueueStats> value) {
            set("items", value);
            return this;
        }
    }

    /** Whom to give a task. */
    public static final class Assign extends JsonObject {
        public Assign() {}

        public Assign(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Assign also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** A registered worker that serves the queue. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** A registered worker that serves the queue. */
        public Assign worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** One attempt. */
    public static final class Attempt extends JsonObject {
        public Attempt() {}

        public Attempt(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Attempt also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** When it began. */
        public Instant at() {
            return read("at", JsonObject::asTime);
        }

        /** When it began. */
        public Attempt at(Instant value) {
            set("at", value);
            return this;
        }

        /** When it ended. */
        public Instant endedAt() {
            return read("ended_at", JsonObject::asTime);
        }

        /** When it ended. */
        public Attempt endedAt(Instant value) {
            set("ended_at", value);
            return this;
        }

        /** What went wrong, shortened. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong, shortened. */
        public Attempt error(String value) {
            set("error", value);
            return this;
        }

        public Exchange http() {
            return read("http", it -> new Exchange(asMembers(it)));
        }

        public Attempt http(Exchange value) {
            set("http", value);
            return this;
        }

        /** How it ended. */
        public Outcome outcome() {
            return read("outcome", it -> Outcome.of((String) it));
        }

        /** How it ended. */
        public Attempt outcome(Outcome value) {
            set("outcome", value);
            return this;
        }

        /** The HTTP status that was answered. */
        public Long status() {
            return read("status", JsonObject::asLong);
        }

        /** The HTTP status that was answered. */
        public Attempt status(Long value) {
            set("status", value);
            return this;
        }

        public Attempt status(int value) {
            set("status", value);
            return this;
        }

        /** Who made it. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Who made it. */
        public Attempt worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** Something that was done, or tried. */
    public static final class Audited extends JsonObject {
        public Audited() {}

        public Audited(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Audited also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What was done. */
        public String action() {
            return read("action", String::valueOf);
        }

        /** What was done. */
        public Audited action(String value) {
            set("action", value);
            return this;
        }

        /** When. */
        public Instant at() {
            return read("at", JsonObject::asTime);
        }

        /** When. */
        public Audited at(Instant value) {
            set("at", value);
            return this;
        }

        /** The address the request came from. */
        public String from() {
            return read("from", String::valueOf);
        }

        /** The address the request came from. */
        public Audited from(String value) {
            set("from", value);
            return this;
        }

        /** The HTTP status it was answered with. */
        public long status() {
            return read("status", JsonObject::asLong, 0L);
        }

        /** The HTTP status it was answered with. */
        public Audited status(Long value) {
            set("status", value);
            return this;
        }

        public Audited status(int value) {
            set("status", value);
            return this;
        }

        /** To which queue or task; of a refused token, what was asked for. */
        public String target() {
            return read("target", String::valueOf);
        }

        /** To which queue or task; of a refused token, what was asked for. */
        public Audited target(String value) {
            set("target", value);
            return this;
        }

        /**
         * Who: the first 8 digits of the token's hash, and its name if it has one; `open` where there are no
         * tokens, `unknown` for none of the server's.
         */
        public String who() {
            return read("who", String::valueOf);
        }

        /**
         * Who: the first 8 digits of the token's hash, and its name if it has one; `open` where there are no
         * tokens, `unknown` for none of the server's.
         */
        public Audited who(String value) {
            set("who", value);
            return this;
        }
    }

    /** Many items, each answered by itself. */
    public static final class CommitItemBatch extends JsonObject {
        public CommitItemBatch() {}

        public CommitItemBatch(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public CommitItemBatch also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<CommitItem> tasks() {
            return read("tasks", it -> asList(it, it1 -> new CommitItem(asMembers(it1))));
        }

        public CommitItemBatch tasks(List<CommitItem> value) {
            set("tasks", value);
            return this;
        }
    }

    /** Many items, each answered by itself. */
    public static final class ExtendItemBatch extends JsonObject {
        public ExtendItemBatch() {}

        public ExtendItemBatch(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public ExtendItemBatch also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<ExtendItem> tasks() {
            return read("tasks", it -> asList(it, it1 -> new ExtendItem(asMembers(it1))));
        }

        public ExtendItemBatch tasks(List<ExtendItem> value) {
            set("tasks", value);
            return this;
        }
    }

    /** Many items, each answered by itself. */
    public static final class FailItemBatch extends JsonObject {
        public FailItemBatch() {}

        public FailItemBatch(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FailItemBatch also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<FailItem> tasks() {
            return read("tasks", it -> asList(it, it1 -> new FailItem(asMembers(it1))));
        }

        public FailItemBatch tasks(List<FailItem> value) {
            set("tasks", value);
            return this;
        }
    }

    /** Many items, each answered by itself. */
    public static final class NewTaskBatch extends JsonObject {
        public NewTaskBatch() {}

        public NewTaskBatch(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewTaskBatch also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<NewTask> tasks() {
            return read("tasks", it -> asList(it, it1 -> new NewTask(asMembers(it1))));
        }

        public NewTaskBatch tasks(List<NewTask> value) {
            set("tasks", value);
            return this;
        }
    }

    /** Many items, each answered by itself. */
    public static final class ReleaseItemBatch extends JsonObject {
        public ReleaseItemBatch() {}

        public ReleaseItemBatch(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public ReleaseItemBatch also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<ReleaseItem> tasks() {
            return read("tasks", it -> asList(it, it1 -> new ReleaseItem(asMembers(it1))));
        }

        public ReleaseItemBatch tasks(List<ReleaseItem> value) {
            set("tasks", value);
            return this;
        }
    }

    /** One verb for many tasks. */
    public static final class Bulk extends JsonObject {
        public Bulk() {}

        public Bulk(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Bulk also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The `next` of the call before. */
        public String cursor() {
            return read("cursor", String::valueOf);
        }

        /** The `next` of the call before. */
        public Bulk cursor(String value) {
            set("cursor", value);
            return this;
        }

        /** Count those that match and change nothing. */
        public Boolean dryRun() {
            return read("dry_run", Boolean.class::cast);
        }

        /** Count those that match and change nothing. */
        public Bulk dryRun(Boolean value) {
            set("dry_run", value);
            return this;
        }

        /** Which tasks; `{}` for all of them. */
        public Filter filter() {
            return read("filter", it -> new Filter(asMembers(it)));
        }

        /** Which tasks; `{}` for all of them. */
        public Bulk filter(Filter value) {
            set("filter", value);
            return this;
        }

        /** What to do with them. */
        public BulkVerb verb() {
            return read("verb", it -> BulkVerb.of((String) it));
        }

        /** What to do with them. */
        public Bulk verb(BulkVerb value) {
            set("verb", value);
            return this;
        }
    }

    /** A verb for many tasks. */
    public enum BulkVerb implements JsonObject.Text {
        CANCEL("cancel"),
        PAUSE("pause"),
        RESUME("resume"),
        RETRY("retry"),
        RESET("reset"),
        CLEAN("clean"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        BulkVerb(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static BulkVerb of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** What one call has done. */
    public static final class Bulked extends JsonObject {
        public Bulked() {}

        public Bulked(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Bulked also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks that are other than before. */
        public long changed() {
            return read("changed", JsonObject::asLong, 0L);
        }

        /** Tasks that are other than before. */
        public Bulked changed(Long value) {
            set("changed", value);
            return this;
        }

        public Bulked changed(int value) {
            set("changed", value);
            return this;
        }

        /** Tasks that match. */
        public long matched() {
            return read("matched", JsonObject::asLong, 0L);
        }

        /** Tasks that match. */
        public Bulked matched(Long value) {
            set("matched", value);
            return this;
        }

        public Bulked matched(int value) {
            set("matched", value);
            return this;
        }

        /** The cursor of the next call; null: this was the last. */
        public String next() {
            return read("next", String::valueOf);
        }

        /** The cursor of the next call; null: this was the last. */
        public Bulked next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A bundle. */
    public static final class Bundle extends JsonObject {
        public Bundle() {}

        public Bundle(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Bundle also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How often its delivery was tried. */
        public long attempt() {
            return read("attempt", JsonObject::asLong, 0L);
        }

        /** How often its delivery was tried. */
        public Bundle attempt(Long value) {
            set("attempt", value);
            return this;
        }

        public Bundle attempt(int value) {
            set("attempt", value);
            return this;
        }

        /** When its first payload was pushed. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When its first payload was pushed. */
        public Bundle createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        /** The strings kept with it; only where one bundle is read. */
        public List<String> data() {
            return read("data", it -> asList(it, String::valueOf));
        }

        /** The strings kept with it; only where one bundle is read. */
        public Bundle data(List<String> value) {
            set("data", value);
            return this;
        }

        /** What went wrong last. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong last. */
        public Bundle error(String value) {
            set("error", value);
            return this;
        }

        /** The last 20 attempts to deliver it, oldest first; only where one bundle is read. */
        public List<Attempt> history() {
            return read("history", it -> asList(it, it1 -> new Attempt(asMembers(it1))));
        }

        /** The last 20 attempts to deliver it, oldest first; only where one bundle is read. */
        public Bundle history(List<Attempt> value) {
            set("history", value);
            return this;
        }

        /** Its key. */
        public String key() {
            return read("key", String::valueOf);
        }

        /** Its key. */
        public Bundle key(String value) {
            set("key", value);
            return this;
        }

        public Instant lockedUntil() {
            return read("locked_until", JsonObject::asTime);
        }

        public Bundle lockedUntil(Instant value) {
            set("locked_until", value);
            return this;
        }

        /** With which method, if it has a URL of its own. */
        public String method() {
            return read("method", String::valueOf);
        }

        /** With which method, if it has a URL of its own. */
        public Bundle method(String value) {
            set("method", value);
            return this;
        }

        /** When it is due. */
        public Instant ontime() {
            return read("ontime", JsonObject::asTime);
        }

        /** When it is due. */
        public Bundle ontime(Instant value) {
            set("ontime", value);
            return this;
        }

        /** Its queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** Its queue. */
        public Bundle queue(String value) {
            set("queue", value);
            return this;
        }

        /** How many payloads are in it. */
        public long size() {
            return read("size", JsonObject::asLong, 0L);
        }

        /** How many payloads are in it. */
        public Bundle size(Long value) {
            set("size", value);
            return this;
        }

        public Bundle size(int value) {
            set("size", value);
            return this;
        }

        /** `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`. */
        public String state() {
            return read("state", String::valueOf);
        }

        /** `waiting`, `started` (a worker was told of it), `locked`, `delivering` or `failed`. */
        public Bundle state(String value) {
            set("state", value);
            return this;
        }

        /** The task that delivers it; null: workers take it. */
        public String task() {
            return read("task", String::valueOf);
        }

        /** The task that delivers it; null: workers take it. */
        public Bundle task(String value) {
            set("task", value);
            return this;
        }

        /** Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read. */
        public List<Object> tasks() {
            return read("tasks", it -> asList(it, it1 -> it1));
        }

        /** Its first payloads, at most 10,000 and 16 MiB; only where one bundle is read. */
        public Bundle tasks(List<Object> value) {
            set("tasks", value);
            return this;
        }

        /** Where it is delivered, if that is not its queue's URL. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** Where it is delivered, if that is not its queue's URL. */
        public Bundle url(String value) {
            set("url", value);
            return this;
        }
    }

    /** What a worker is done with. */
    public static final class BundleComplete extends JsonObject {
        public BundleComplete() {}

        public BundleComplete(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleComplete also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many payloads, from the first on; all that were got if left out. */
        public Long number() {
            return read("number", JsonObject::asLong);
        }

        /** How many payloads, from the first on; all that were got if left out. */
        public BundleComplete number(Long value) {
            set("number", value);
            return this;
        }

        public BundleComplete number(int value) {
            set("number", value);
            return this;
        }

        /** The value the bundle was got with. */
        public String random() {
            return read("random", String::valueOf);
        }

        /** The value the bundle was got with. */
        public BundleComplete random(String value) {
            set("random", value);
            return this;
        }
    }

    /** What is left of a bundle. */
    public static final class BundleCompleted extends JsonObject {
        public BundleCompleted() {}

        public BundleCompleted(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleCompleted also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many payloads; 0: the bundle is gone. */
        public long left() {
            return read("left", JsonObject::asLong, 0L);
        }

        /** How many payloads; 0: the bundle is gone. */
        public BundleCompleted left(Long value) {
            set("left", value);
            return this;
        }

        public BundleCompleted left(int value) {
            set("left", value);
            return this;
        }
    }

    /** Strings kept with a bundle. */
    public static final class BundleData extends JsonObject {
        public BundleData() {}

        public BundleData(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleData also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Strings to add. */
        public List<String> add() {
            return read("add", it -> asList(it, String::valueOf));
        }

        /** Strings to add. */
        public BundleData add(List<String> value) {
            set("add", value);
            return this;
        }

        /** Strings to take away, after that. */
        public List<String> remove() {
            return read("remove", it -> asList(it, String::valueOf));
        }

        /** Strings to take away, after that. */
        public BundleData remove(List<String> value) {
            set("remove", value);
            return this;
        }
    }

    /** What a worker gets, and for how long. */
    public static final class BundleGet extends JsonObject {
        public BundleGet() {}

        public BundleGet(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleGet also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many payloads at most; all if left out. */
        public Long number() {
            return read("number", JsonObject::asLong);
        }

        /** How many payloads at most; all if left out. */
        public BundleGet number(Long value) {
            set("number", value);
            return this;
        }

        public BundleGet number(int value) {
            set("number", value);
            return this;
        }

        /** The caller's own value, at most 255 bytes: whoever shows it has the lock. */
        public String random() {
            return read("random", String::valueOf);
        }

        /** The caller's own value, at most 255 bytes: whoever shows it has the lock. */
        public BundleGet random(String value) {
            set("random", value);
            return this;
        }

        public Object timeout() {
            return read("timeout", it -> it);
        }

        public BundleGet timeout(Object value) {
            set("timeout", value);
            return this;
        }
    }

    /** Payloads of a bundle. */
    public static final class BundleGot extends JsonObject {
        public BundleGot() {}

        public BundleGot(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleGot also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The strings kept with the bundle. */
        public List<String> data() {
            return read("data", it -> asList(it, String::valueOf));
        }

        /** The strings kept with the bundle. */
        public BundleGot data(List<String> value) {
            set("data", value);
            return this;
        }

        /** Until when the bundle is locked. */
        public Instant lockedUntil() {
            return read("locked_until", JsonObject::asTime);
        }

        /** Until when the bundle is locked. */
        public BundleGot lockedUntil(Instant value) {
            set("locked_until", value);
            return this;
        }

        /** The payloads, in the order they were pushed; at most 10,000 and 16 MiB. */
        public List<Object> tasks() {
            return read("tasks", it -> asList(it, it1 -> it1));
        }

        /** The payloads, in the order they were pushed; at most 10,000 and 16 MiB. */
        public BundleGot tasks(List<Object> value) {
            set("tasks", value);
            return this;
        }
    }

    /** Something to push into a bundle. */
    public static final class BundlePush extends JsonObject {
        public BundlePush() {}

        public BundlePush(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundlePush also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Strings to keep with the bundle, each once. */
        public List<String> data() {
            return read("data", it -> asList(it, String::valueOf));
        }

        /** Strings to keep with the bundle, each once. */
        public BundlePush data(List<String> value) {
            set("data", value);
            return this;
        }

        public Object maxWait() {
            return read("max_wait", it -> it);
        }

        public BundlePush maxWait(Object value) {
            set("max_wait", value);
            return this;
        }

        public Object ontime() {
            return read("ontime", it -> it);
        }

        public BundlePush ontime(Object value) {
            set("ontime", value);
            return this;
        }

        /** `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays. */
        public String overwrite() {
            return read("overwrite", String::valueOf);
        }

        /** `always`: the due time of a bundle that exists moves to `ontime`; `once`: it stays. */
        public BundlePush overwrite(String value) {
            set("overwrite", value);
            return this;
        }

        /** The payload. */
        public Object task() {
            return read("task", it -> it);
        }

        /** The payload. */
        public BundlePush task(Object value) {
            set("task", value);
            return this;
        }
    }

    /** What a push is answered with. */
    public static final class BundlePushed extends JsonObject {
        public BundlePushed() {}

        public BundlePushed(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundlePushed also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The bundle's key, if it is gone by now. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The bundle's key, if it is gone by now. */
        public BundlePushed id(String value) {
            set("id", value);
            return this;
        }

        /** The bundle's key; only where it was not in the request. */
        public String key() {
            return read("key", String::valueOf);
        }

        /** The bundle's key; only where it was not in the request. */
        public BundlePushed key(String value) {
            set("key", value);
            return this;
        }

        public Instant ontime() {
            return read("ontime", JsonObject::asTime);
        }

        public BundlePushed ontime(Instant value) {
            set("ontime", value);
            return this;
        }

        /** The bundle's queue, if it is gone by now. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The bundle's queue, if it is gone by now. */
        public BundlePushed queue(String value) {
            set("queue", value);
            return this;
        }

        /** How many payloads are in the bundle. */
        public long size() {
            return read("size", JsonObject::asLong, 0L);
        }

        /** How many payloads are in the bundle. */
        public BundlePushed size(Long value) {
            set("size", value);
            return this;
        }

        public BundlePushed size(int value) {
            set("size", value);
            return this;
        }
    }

    /** What a worker gives back. */
    public static final class BundleRelease extends JsonObject {
        public BundleRelease() {}

        public BundleRelease(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleRelease also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object ontime() {
            return read("ontime", it -> it);
        }

        public BundleRelease ontime(Object value) {
            set("ontime", value);
            return this;
        }

        /** The value the bundle was got with. */
        public String random() {
            return read("random", String::valueOf);
        }

        /** The value the bundle was got with. */
        public BundleRelease random(String value) {
            set("random", value);
            return this;
        }
    }

    /** When a bundle that was given back is due. */
    public static final class BundleReleased extends JsonObject {
        public BundleReleased() {}

        public BundleReleased(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleReleased also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** When it is due. */
        public Instant ontime() {
            return read("ontime", JsonObject::asTime);
        }

        /** When it is due. */
        public BundleReleased ontime(Instant value) {
            set("ontime", value);
            return this;
        }

        /** How many payloads are in it. */
        public long size() {
            return read("size", JsonObject::asLong, 0L);
        }

        /** How many payloads are in it. */
        public BundleReleased size(Long value) {
            set("size", value);
            return this;
        }

        public BundleReleased size(int value) {
            set("size", value);
            return this;
        }
    }

    /** What a worker waits for. */
    public static final class BundleSchedule extends JsonObject {
        public BundleSchedule() {}

        public BundleSchedule(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleSchedule also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object wait_() {
            return read("wait", it -> it);
        }

        public BundleSchedule wait_(Object value) {
            set("wait", value);
            return this;
        }
    }

    /** A bundle that is due. */
    public static final class BundleScheduled extends JsonObject {
        public BundleScheduled() {}

        public BundleScheduled(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundleScheduled also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Its key; null: none is due. */
        public String key() {
            return read("key", String::valueOf);
        }

        /** Its key; null: none is due. */
        public BundleScheduled key(String value) {
            set("key", value);
            return this;
        }

        public Double nextIn() {
            return read("next_in", JsonObject::asDouble);
        }

        public BundleScheduled nextIn(Double value) {
            set("next_in", value);
            return this;
        }

        /** Since when it is due; only if one is. */
        public Instant ontime() {
            return read("ontime", JsonObject::asTime);
        }

        /** Since when it is due; only if one is. */
        public BundleScheduled ontime(Instant value) {
            set("ontime", value);
            return this;
        }
    }

    /** A task to make when another ends. */
    public static final class Callback extends JsonObject {
        public Callback() {}

        public Callback(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Callback also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Http http() {
            return read("http", it -> new Http(asMembers(it)));
        }

        public Callback http(Http value) {
            set("http", value);
            return this;
        }

        /** The ends it answers to; all of them if left out. */
        public List<End> on() {
            return read("on", it -> asList(it, it1 -> End.of((String) it1)));
        }

        /** The ends it answers to; all of them if left out. */
        public Callback on(List<End> value) {
            set("on", value);
            return this;
        }

        /** Push into this queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** Push into this queue. */
        public Callback queue(String value) {
            set("queue", value);
            return this;
        }

        public NewTask task() {
            return read("task", it -> new NewTask(asMembers(it)));
        }

        public Callback task(NewTask value) {
            set("task", value);
            return this;
        }
    }

    /** The clock after it was moved. */
    public static final class Clock extends JsonObject {
        public Clock() {}

        public Clock(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Clock also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What time it is now. */
        public Instant now() {
            return read("now", JsonObject::asTime);
        }

        /** What time it is now. */
        public Clock now(Instant value) {
            set("now", value);
            return this;
        }
    }

    /** Done. */
    public static final class Commit extends JsonObject {
        public Commit() {}

        public Commit(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Commit also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What it came to. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to. */
        public Commit result(Object value) {
            set("result", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Commit token(String value) {
            set("token", value);
            return this;
        }
    }

    /** Done. */
    public static final class CommitItem extends JsonObject {
        public CommitItem() {}

        public CommitItem(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public CommitItem also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The task's id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The task's id. */
        public CommitItem id(String value) {
            set("id", value);
            return this;
        }

        /** What it came to. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to. */
        public CommitItem result(Object value) {
            set("result", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public CommitItem token(String value) {
            set("token", value);
            return this;
        }
    }

    /** The settings of a server. */
    public static final class Config extends JsonObject {
        public Config() {}

        public Config(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Config also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** One for each setting there is. */
        public List<Setting> items() {
            return read("items", it -> asList(it, it1 -> new Setting(asMembers(it1))));
        }

        /** One for each setting there is. */
        public Config items(List<Setting> value) {
            set("items", value);
            return this;
        }
    }

    /** That the holder has the task. */
    public static final class Confirm extends JsonObject {
        public Confirm() {}

        public Confirm(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Confirm also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Confirm token(String value) {
            set("token", value);
            return this;
        }
    }

    /** How the data of a notice is written. */
    public enum ContentType implements JsonObject.Text {
        FORM("form"),
        JSON("json"),
        XML("xml"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        ContentType(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static ContentType of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** The tasks of a queue, counted. */
    public static final class Counts extends JsonObject {
        public Counts() {}

        public Counts(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Counts also(String name, Object value) {
            set(name, value);
            return this;
        }

        public long assigned() {
            return read("assigned", JsonObject::asLong, 0L);
        }

        public Counts assigned(Long value) {
            set("assigned", value);
            return this;
        }

        public Counts assigned(int value) {
            set("assigned", value);
            return this;
        }

        /** Bundles. */
        public long bundles() {
            return read("bundles", JsonObject::asLong, 0L);
        }

        /** Bundles. */
        public Counts bundles(Long value) {
            set("bundles", value);
            return this;
        }

        public Counts bundles(int value) {
            set("bundles", value);
            return this;
        }

        public long cancelled() {
            return read("cancelled", JsonObject::asLong, 0L);
        }

        public Counts cancelled(Long value) {
            set("cancelled", value);
            return this;
        }

        public Counts cancelled(int value) {
            set("cancelled", value);
            return this;
        }

        public long cancelling() {
            return read("cancelling", JsonObject::asLong, 0L);
        }

        public Counts cancelling(Long value) {
            set("cancelling", value);
            return this;
        }

        public Counts cancelling(int value) {
            set("cancelling", value);
            return this;
        }

        public long done() {
            return read("done", JsonObject::asLong, 0L);
        }

        public Counts done(Long value) {
            set("done", value);
            return this;
        }

        public Counts done(int value) {
            set("done", value);
            return this;
        }

        public long failed() {
            return read("failed", JsonObject::asLong, 0L);
        }

        public Counts failed(Long value) {
            set("failed", value);
            return this;
        }

        public Counts failed(int value) {
            set("failed", value);
            return this;
        }

        public long paused() {
            return read("paused", JsonObject::asLong, 0L);
        }

        public Counts paused(Long value) {
            set("paused", value);
            return this;
        }

        public Counts paused(int value) {
            set("paused", value);
            return this;
        }

        public long pausing() {
            return read("pausing", JsonObject::asLong, 0L);
        }

        public Counts pausing(Long value) {
            set("pausing", value);
            return this;
        }

        public Counts pausing(int value) {
            set("pausing", value);
            return this;
        }

        public long ready() {
            return read("ready", JsonObject::asLong, 0L);
        }

        public Counts ready(Long value) {
            set("ready", value);
            return this;
        }

        public Counts ready(int value) {
            set("ready", value);
            return this;
        }

        public long running() {
            return read("running", JsonObject::asLong, 0L);
        }

        public Counts running(Long value) {
            set("running", value);
            return this;
        }

        public Counts running(int value) {
            set("running", value);
            return this;
        }

        /** Those somebody has. */
        public long taken() {
            return read("taken", JsonObject::asLong, 0L);
        }

        /** Those somebody has. */
        public Counts taken(Long value) {
            set("taken", value);
            return this;
        }

        public Counts taken(int value) {
            set("taken", value);
            return this;
        }

        /** Tasks that have not ended. */
        public long total() {
            return read("total", JsonObject::asLong, 0L);
        }

        /** Tasks that have not ended. */
        public Counts total(Long value) {
            set("total", value);
            return this;
        }

        public Counts total(int value) {
            set("total", value);
            return this;
        }

        /** Those nobody has: waiting, ready, paused. */
        public long untaken() {
            return read("untaken", JsonObject::asLong, 0L);
        }

        /** Those nobody has: waiting, ready, paused. */
        public Counts untaken(Long value) {
            set("untaken", value);
            return this;
        }

        public Counts untaken(int value) {
            set("untaken", value);
            return this;
        }

        public long waiting() {
            return read("waiting", JsonObject::asLong, 0L);
        }

        public Counts waiting(Long value) {
            set("waiting", value);
            return this;
        }

        public Counts waiting(int value) {
            set("waiting", value);
            return this;
        }
    }

    /** What to change about a task that nobody has taken. What is left out stays. */
    public static final class Edit extends JsonObject {
        public Edit() {}

        public Edit(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Edit also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object due() {
            return read("due", it -> it);
        }

        public Edit due(Object value) {
            set("due", value);
            return this;
        }

        public Object expires() {
            return read("expires", it -> it);
        }

        public Edit expires(Object value) {
            set("expires", value);
            return this;
        }

        /** A new payload. */
        public Object payload() {
            return read("payload", it -> it);
        }

        /** A new payload. */
        public Edit payload(Object value) {
            set("payload", value);
            return this;
        }

        /** A new priority, -100 to 100; null: 0. */
        public Long priority() {
            return read("priority", JsonObject::asLong);
        }

        /** A new priority, -100 to 100; null: 0. */
        public Edit priority(Long value) {
            set("priority", value);
            return this;
        }

        public Edit priority(int value) {
            set("priority", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public Edit retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** New labels; null: none. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** New labels; null: none. */
        public Edit tags(List<String> value) {
            set("tags", value);
            return this;
        }
    }

    /** How a task ends. */
    public enum End implements JsonObject.Text {
        DONE("done"),
        FAILED("failed"),
        CANCELLED("cancelled"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        End(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static End of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** What was sent and what came back. */
    public static final class Exchange extends JsonObject {
        public Exchange() {}

        public Exchange(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Exchange also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The address that was connected to. */
        public String address() {
            return read("address", String::valueOf);
        }

        /** The address that was connected to. */
        public Exchange address(String value) {
            set("address", value);
            return this;
        }

        /** The first 4 KiB of the answer's body, while there is room for it. */
        public String answer() {
            return read("answer", String::valueOf);
        }

        /** The first 4 KiB of the answer's body, while there is room for it. */
        public Exchange answer(String value) {
            set("answer", value);
            return this;
        }

        /** How much of the answer's body was read. */
        public long answerBytes() {
            return read("answer_bytes", JsonObject::asLong, 0L);
        }

        /** How much of the answer's body was read. */
        public Exchange answerBytes(Long value) {
            set("answer_bytes", value);
            return this;
        }

        public Exchange answerBytes(int value) {
            set("answer_bytes", value);
            return this;
        }

        public Double connect() {
            return read("connect", JsonObject::asDouble);
        }

        public Exchange connect(Double value) {
            set("connect", value);
            return this;
        }

        public Double dns() {
            return read("dns", JsonObject::asDouble);
        }

        public Exchange dns(Double value) {
            set("dns", value);
            return this;
        }

        public Double firstByte() {
            return read("first_byte", JsonObject::asDouble);
        }

        public Exchange firstByte(Double value) {
            set("first_byte", value);
            return this;
        }

        /** The method of the last request. */
        public Method method() {
            return read("method", it -> Method.of((String) it));
        }

        /** The method of the last request. */
        public Exchange method(Method value) {
            set("method", value);
            return this;
        }

        /** Redirects that were followed. */
        public long redirects() {
            return read("redirects", JsonObject::asLong, 0L);
        }

        /** Redirects that were followed. */
        public Exchange redirects(Long value) {
            set("redirects", value);
            return this;
        }

        public Exchange redirects(int value) {
            set("redirects", value);
            return this;
        }

        /** The size of the body that was sent. */
        public long sentBytes() {
            return read("sent_bytes", JsonObject::asLong, 0L);
        }

        /** The size of the body that was sent. */
        public Exchange sentBytes(Long value) {
            set("sent_bytes", value);
            return this;
        }

        public Exchange sentBytes(int value) {
            set("sent_bytes", value);
            return this;
        }

        public Double tls() {
            return read("tls", JsonObject::asDouble);
        }

        public Exchange tls(Double value) {
            set("tls", value);
            return this;
        }

        /** From the beginning to the end. */
        public double total() {
            return read("total", JsonObject::asDouble, 0.0);
        }

        /** From the beginning to the end. */
        public Exchange total(Double value) {
            set("total", value);
            return this;
        }

        /** The URL of the last request, shortened. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** The URL of the last request, shortened. */
        public Exchange url(String value) {
            set("url", value);
            return this;
        }
    }

    /** More time, and how far it is. */
    public static final class Extend extends JsonObject {
        public Extend() {}

        public Extend(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Extend also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What its next holder would need to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder would need to go on. */
        public Extend checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public Extend hold(Object value) {
            set("hold", value);
            return this;
        }

        /** A word on where it is, at most 4 KiB. */
        public String message() {
            return read("message", String::valueOf);
        }

        /** A word on where it is, at most 4 KiB. */
        public Extend message(String value) {
            set("message", value);
            return this;
        }

        /** How far it is, from 0 to 1. */
        public Double progress() {
            return read("progress", JsonObject::asDouble);
        }

        /** How far it is, from 0 to 1. */
        public Extend progress(Double value) {
            set("progress", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Extend token(String value) {
            set("token", value);
            return this;
        }
    }

    /** More time, and how far it is. */
    public static final class ExtendItem extends JsonObject {
        public ExtendItem() {}

        public ExtendItem(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public ExtendItem also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What its next holder would need to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder would need to go on. */
        public ExtendItem checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public ExtendItem hold(Object value) {
            set("hold", value);
            return this;
        }

        /** The task's id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The task's id. */
        public ExtendItem id(String value) {
            set("id", value);
            return this;
        }

        /** A word on where it is, at most 4 KiB. */
        public String message() {
            return read("message", String::valueOf);
        }

        /** A word on where it is, at most 4 KiB. */
        public ExtendItem message(String value) {
            set("message", value);
            return this;
        }

        /** How far it is, from 0 to 1. */
        public Double progress() {
            return read("progress", JsonObject::asDouble);
        }

        /** How far it is, from 0 to 1. */
        public ExtendItem progress(Double value) {
            set("progress", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public ExtendItem token(String value) {
            set("token", value);
            return this;
        }
    }

    /** What a holder hears when it extends. */
    public static final class Extended extends JsonObject {
        public Extended() {}

        public Extended(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Extended also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Whether the holder is asked to stop for good, and to say `cancelled`. */
        public boolean cancel() {
            return read("cancel", Boolean.class::cast, false);
        }

        /** Whether the holder is asked to stop for good, and to say `cancelled`. */
        public Extended cancel(Boolean value) {
            set("cancel", value);
            return this;
        }

        public Instant holdUntil() {
            return read("hold_until", JsonObject::asTime);
        }

        public Extended holdUntil(Instant value) {
            set("hold_until", value);
            return this;
        }

        /** Whether the holder is asked to set the task aside, and to say `paused`. */
        public boolean pause() {
            return read("pause", Boolean.class::cast, false);
        }

        /** Whether the holder is asked to set the task aside, and to say `paused`. */
        public Extended pause(Boolean value) {
            set("pause", value);
            return this;
        }
    }

    /** Failed. */
    public static final class Fail extends JsonObject {
        public Fail() {}

        public Fail(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Fail also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What went wrong, at most 4 KiB. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong, at most 4 KiB. */
        public Fail error(String value) {
            set("error", value);
            return this;
        }

        /** Whether trying again is no use. */
        public Boolean permanent() {
            return read("permanent", Boolean.class::cast);
        }

        /** Whether trying again is no use. */
        public Fail permanent(Boolean value) {
            set("permanent", value);
            return this;
        }

        public Object retryIn() {
            return read("retry_in", it -> it);
        }

        public Fail retryIn(Object value) {
            set("retry_in", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Fail token(String value) {
            set("token", value);
            return this;
        }
    }

    /** Failed. */
    public static final class FailItem extends JsonObject {
        public FailItem() {}

        public FailItem(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FailItem also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What went wrong, at most 4 KiB. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong, at most 4 KiB. */
        public FailItem error(String value) {
            set("error", value);
            return this;
        }

        /** The task's id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The task's id. */
        public FailItem id(String value) {
            set("id", value);
            return this;
        }

        /** Whether trying again is no use. */
        public Boolean permanent() {
            return read("permanent", Boolean.class::cast);
        }

        /** Whether trying again is no use. */
        public FailItem permanent(Boolean value) {
            set("permanent", value);
            return this;
        }

        public Object retryIn() {
            return read("retry_in", it -> it);
        }

        public FailItem retryIn(Object value) {
            set("retry_in", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public FailItem token(String value) {
            set("token", value);
            return this;
        }
    }

    /** Failed tasks of one queue that failed alike. */
    public static final class FailureGroup extends JsonObject {
        public FailureGroup() {}

        public FailureGroup(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FailureGroup also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many there are on this page. */
        public long count() {
            return read("count", JsonObject::asLong, 0L);
        }

        /** How many there are on this page. */
        public FailureGroup count(Long value) {
            set("count", value);
            return this;
        }

        public FailureGroup count(int value) {
            set("count", value);
            return this;
        }

        /** The beginning of their error, fit to find them by; null: they have none. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** The beginning of their error, fit to find them by; null: they have none. */
        public FailureGroup error(String value) {
            set("error", value);
            return this;
        }

        /** The id of that one. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The id of that one. */
        public FailureGroup id(String value) {
            set("id", value);
            return this;
        }

        public Instant lastAt() {
            return read("last_at", JsonObject::asTime);
        }

        public FailureGroup lastAt(Instant value) {
            set("last_at", value);
            return this;
        }

        /** The queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue. */
        public FailureGroup queue(String value) {
            set("queue", value);
            return this;
        }
    }

    /** Which tasks; what is left out does not restrict. */
    public static final class Filter extends JsonObject {
        public Filter() {}

        public Filter(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Filter also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Those whose error contains this. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** Those whose error contains this. */
        public Filter error(String value) {
            set("error", value);
            return this;
        }

        /** Those whose id begins so. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Those whose id begins so. */
        public Filter id(String value) {
            set("id", value);
            return this;
        }

        /** Those whose payload contains this. */
        public String q() {
            return read("q", String::valueOf);
        }

        /** Those whose payload contains this. */
        public Filter q(String value) {
            set("q", value);
            return this;
        }

        public Object since() {
            return read("since", it -> it);
        }

        public Filter since(Object value) {
            set("since", value);
            return this;
        }

        public Object state() {
            return read("state", it -> it);
        }

        public Filter state(Object value) {
            set("state", value);
            return this;
        }

        /** Those with this tag. */
        public String tag() {
            return read("tag", String::valueOf);
        }

        /** Those with this tag. */
        public Filter tag(String value) {
            set("tag", value);
            return this;
        }

        /** Those that this worker holds, or held when they ended. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Those that this worker holds, or held when they ended. */
        public Filter worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** A flow with all its steps. */
    public static final class Flow extends JsonObject {
        public Flow() {}

        public Flow(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Flow also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many steps it has, and in which states. */
        public FlowCounts counts() {
            return read("counts", it -> new FlowCounts(asMembers(it)));
        }

        /** How many steps it has, and in which states. */
        public Flow counts(FlowCounts value) {
            set("counts", value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public Flow createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        public Instant finishedAt() {
            return read("finished_at", JsonObject::asTime);
        }

        public Flow finishedAt(Instant value) {
            set("finished_at", value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public Flow id(String value) {
            set("id", value);
            return this;
        }

        /** What a failed step does to the others. */
        public OnFailure onFailure() {
            return read("on_failure", it -> OnFailure.of((String) it));
        }

        /** What a failed step does to the others. */
        public Flow onFailure(OnFailure value) {
            set("on_failure", value);
            return this;
        }

        /** Where it stands. */
        public FlowState state() {
            return read("state", it -> FlowState.of((String) it));
        }

        /** Where it stands. */
        public Flow state(FlowState value) {
            set("state", value);
            return this;
        }

        /** Its steps, in the order given. */
        public List<FlowStep> steps() {
            return read("steps", it -> asList(it, it1 -> new FlowStep(asMembers(it1))));
        }

        /** Its steps, in the order given. */
        public Flow steps(List<FlowStep> value) {
            set("steps", value);
            return this;
        }
    }

    /** How many steps a flow has, and in which states. */
    public static final class FlowCounts extends JsonObject {
        public FlowCounts() {}

        public FlowCounts(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FlowCounts also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Cancelled, with the flow or because one before it failed. */
        public long cancelled() {
            return read("cancelled", JsonObject::asLong, 0L);
        }

        /** Cancelled, with the flow or because one before it failed. */
        public FlowCounts cancelled(Long value) {
            set("cancelled", value);
            return this;
        }

        public FlowCounts cancelled(int value) {
            set("cancelled", value);
            return this;
        }

        /** Done. */
        public long done() {
            return read("done", JsonObject::asLong, 0L);
        }

        /** Done. */
        public FlowCounts done(Long value) {
            set("done", value);
            return this;
        }

        public FlowCounts done(int value) {
            set("done", value);
            return this;
        }

        /** Failed. */
        public long failed() {
            return read("failed", JsonObject::asLong, 0L);
        }

        /** Failed. */
        public FlowCounts failed(Long value) {
            set("failed", value);
            return this;
        }

        public FlowCounts failed(int value) {
            set("failed", value);
            return this;
        }

        /** Tasks that have not ended. */
        public long living() {
            return read("living", JsonObject::asLong, 0L);
        }

        /** Tasks that have not ended. */
        public FlowCounts living(Long value) {
            set("living", value);
            return this;
        }

        public FlowCounts living(int value) {
            set("living", value);
            return this;
        }

        /** Not tasks yet. */
        public long pending() {
            return read("pending", JsonObject::asLong, 0L);
        }

        /** Not tasks yet. */
        public FlowCounts pending(Long value) {
            set("pending", value);
            return this;
        }

        public FlowCounts pending(int value) {
            set("pending", value);
            return this;
        }

        /** All of them. */
        public long total() {
            return read("total", JsonObject::asLong, 0L);
        }

        /** All of them. */
        public FlowCounts total(Long value) {
            set("total", value);
            return this;
        }

        public FlowCounts total(int value) {
            set("total", value);
            return this;
        }
    }

    /** Which step of which flow a task is. */
    public static final class FlowPart extends JsonObject {
        public FlowPart() {}

        public FlowPart(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FlowPart also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The flow. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The flow. */
        public FlowPart id(String value) {
            set("id", value);
            return this;
        }

        /** The step. */
        public String step() {
            return read("step", String::valueOf);
        }

        /** The step. */
        public FlowPart step(String value) {
            set("step", value);
            return this;
        }
    }

    /** Where a flow stands. */
    public enum FlowState implements JsonObject.Text {
        RUNNING("running"),
        PAUSED("paused"),
        CANCELLING("cancelling"),
        DONE("done"),
        FAILED("failed"),
        CANCELLED("cancelled"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        FlowState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static FlowState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** A step of a flow. */
    public static final class FlowStep extends JsonObject {
        public FlowStep() {}

        public FlowStep(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FlowStep also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The steps that must be done before it becomes a task. */
        public List<String> after() {
            return read("after", it -> asList(it, String::valueOf));
        }

        /** The steps that must be done before it becomes a task. */
        public FlowStep after(List<String> value) {
            set("after", value);
            return this;
        }

        /** What went wrong. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong. */
        public FlowStep error(String value) {
            set("error", value);
            return this;
        }

        /** Its name. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** Its name. */
        public FlowStep name(String value) {
            set("name", value);
            return this;
        }

        /** The queue of its task. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue of its task. */
        public FlowStep queue(String value) {
            set("queue", value);
            return this;
        }

        /** What it came to. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to. */
        public FlowStep result(Object value) {
            set("result", value);
            return this;
        }

        /** Whether it has a result that is not told here, because all of them together are over 8 MiB. */
        public Boolean resultLeftOut() {
            return read("result_left_out", Boolean.class::cast);
        }

        /** Whether it has a result that is not told here, because all of them together are over 8 MiB. */
        public FlowStep resultLeftOut(Boolean value) {
            set("result_left_out", value);
            return this;
        }

        /** `pending` until it is a task, then its task's state. */
        public String state() {
            return read("state", String::valueOf);
        }

        /** `pending` until it is a task, then its task's state. */
        public FlowStep state(String value) {
            set("state", value);
            return this;
        }

        /** The id of its task. */
        public String task() {
            return read("task", String::valueOf);
        }

        /** The id of its task. */
        public FlowStep task(String value) {
            set("task", value);
            return this;
        }

        /** Those of `after` that are not done, while it is pending. */
        public List<String> waitingFor() {
            return read("waiting_for", it -> asList(it, String::valueOf));
        }

        /** Those of `after` that are not done, while it is pending. */
        public FlowStep waitingFor(List<String> value) {
            set("waiting_for", value);
            return this;
        }
    }

    /** A flow without its steps. */
    public static final class FlowSummary extends JsonObject {
        public FlowSummary() {}

        public FlowSummary(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FlowSummary also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many steps it has, and in which states. */
        public FlowCounts counts() {
            return read("counts", it -> new FlowCounts(asMembers(it)));
        }

        /** How many steps it has, and in which states. */
        public FlowSummary counts(FlowCounts value) {
            set("counts", value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public FlowSummary createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        public Instant finishedAt() {
            return read("finished_at", JsonObject::asTime);
        }

        public FlowSummary finishedAt(Instant value) {
            set("finished_at", value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public FlowSummary id(String value) {
            set("id", value);
            return this;
        }

        /** What a failed step does to the others. */
        public OnFailure onFailure() {
            return read("on_failure", it -> OnFailure.of((String) it));
        }

        /** What a failed step does to the others. */
        public FlowSummary onFailure(OnFailure value) {
            set("on_failure", value);
            return this;
        }

        /** Where it stands. */
        public FlowState state() {
            return read("state", it -> FlowState.of((String) it));
        }

        /** Where it stands. */
        public FlowSummary state(FlowState value) {
            set("state", value);
            return this;
        }
    }

    /** What is left to say of a task that is gone. */
    public static final class Gone extends JsonObject {
        public Gone() {}

        public Gone(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Gone also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public Gone id(String value) {
            set("id", value);
            return this;
        }

        /** Its queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** Its queue. */
        public Gone queue(String value) {
            set("queue", value);
            return this;
        }

        /** Where it stood at its end, if that is known. */
        public State state() {
            return read("state", it -> State.of((String) it));
        }

        /** Where it stood at its end, if that is known. */
        public Gone state(State value) {
            set("state", value);
            return this;
        }
    }

    /** A target of deliveries, as this server sees it. */
    public static final class Host extends JsonObject {
        public Host() {}

        public Host(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Host also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks that failed since it last answered, at most 10. */
        public long failures() {
            return read("failures", JsonObject::asLong, 0L);
        }

        /** Tasks that failed since it last answered, at most 10. */
        public Host failures(Long value) {
            set("failures", value);
            return this;
        }

        public Host failures(int value) {
            set("failures", value);
            return this;
        }

        /** Its host and port. */
        public String host() {
            return read("host", String::valueOf);
        }

        /** Its host and port. */
        public Host host(String value) {
            set("host", value);
            return this;
        }

        /** Attempts under way. */
        public long inFlight() {
            return read("in_flight", JsonObject::asLong, 0L);
        }

        /** Attempts under way. */
        public Host inFlight(Long value) {
            set("in_flight", value);
            return this;
        }

        public Host inFlight(int value) {
            set("in_flight", value);
            return this;
        }

        public Instant retryAt() {
            return read("retry_at", JsonObject::asTime);
        }

        public Host retryAt(Instant value) {
            set("retry_at", value);
            return this;
        }

        /**
         * `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt at
         * a time shall show whether it is back.
         */
        public HostState state() {
            return read("state", it -> HostState.of((String) it));
        }

        /**
         * `closed`: it is given all it can take; `open`: it is down and given nothing; `probing`: one attempt at
         * a time shall show whether it is back.
         */
        public Host state(HostState value) {
            set("state", value);
            return this;
        }

        /** Queues that have more for it than it is given. */
        public long waiting() {
            return read("waiting", JsonObject::asLong, 0L);
        }

        /** Queues that have more for it than it is given. */
        public Host waiting(Long value) {
            set("waiting", value);
            return this;
        }

        public Host waiting(int value) {
            set("waiting", value);
            return this;
        }
    }

    /** The state of a target's breaker. */
    public enum HostState implements JsonObject.Text {
        CLOSED("closed"),
        OPEN("open"),
        PROBING("probing"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        HostState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static HostState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** Where and how a task is delivered. */
    public static final class Http extends JsonObject {
        public Http() {}

        public Http(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Http also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object body() {
            return read("body", it -> it);
        }

        public Http body(Object value) {
            set("body", value);
            return this;
        }

        /** The type of what is sent; `application/json` if left out, `text/plain` for a text. */
        public String contentType() {
            return read("content_type", String::valueOf);
        }

        /** The type of what is sent; `application/json` if left out, `text/plain` for a text. */
        public Http contentType(String value) {
            set("content_type", value);
            return this;
        }

        /** Whether redirects are followed; they are not if left out. */
        public Boolean followRedirects() {
            return read("follow_redirects", Boolean.class::cast);
        }

        /** Whether redirects are followed; they are not if left out. */
        public Http followRedirects(Boolean value) {
            set("follow_redirects", value);
            return this;
        }

        /**
         * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
         * `webhook-*`.
         */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /**
         * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
         * `webhook-*`.
         */
        public Http headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        public Method method() {
            return read("method", it -> Method.of((String) it));
        }

        public Http method(Method value) {
            set("method", value);
            return this;
        }

        public Success success() {
            return read("success", it -> new Success(asMembers(it)));
        }

        public Http success(Success value) {
            set("success", value);
            return this;
        }

        public Object timeout() {
            return read("timeout", it -> it);
        }

        public Http timeout(Object value) {
            set("timeout", value);
            return this;
        }

        /**
         * The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the server
         * allows them.
         */
        public String url() {
            return read("url", String::valueOf);
        }

        /**
         * The target, at most 8 KiB; the queue's if left out. Private addresses are refused unless the server
         * allows them.
         */
        public Http url(String value) {
            set("url", value);
            return this;
        }
    }

    /** What a worker says about itself. What is left out stays as it was; `null` sets it back. */
    public static final class Join extends JsonObject {
        public Join() {}

        public Join(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Join also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What it is capable of, at most 64. */
        public List<String> capabilities() {
            return read("capabilities", it -> asList(it, String::valueOf));
        }

        /** What it is capable of, at most 64. */
        public Join capabilities(List<String> value) {
            set("capabilities", value);
            return this;
        }

        /** Most tasks of dispatch queues it holds at once, 1 to 10000. */
        public Long capacity() {
            return read("capacity", JsonObject::asLong);
        }

        /** Most tasks of dispatch queues it holds at once, 1 to 10000. */
        public Join capacity(Long value) {
            set("capacity", value);
            return this;
        }

        public Join capacity(int value) {
            set("capacity", value);
            return this;
        }

        /** The queues it serves, 1 to 1000. They need not exist yet. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues it serves, 1 to 1000. They need not exist yet. */
        public Join queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** Which incarnation it is: another one takes everything from the one before. */
        public String session() {
            return read("session", String::valueOf);
        }

        /** Which incarnation it is: another one takes everything from the one before. */
        public Join session(String value) {
            set("session", value);
            return this;
        }
    }

    /** How long finished tasks stay readable. */
    public static final class Keep extends JsonObject {
        public Keep() {}

        public Keep(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Keep also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object cancelled() {
            return read("cancelled", it -> it);
        }

        public Keep cancelled(Object value) {
            set("cancelled", value);
            return this;
        }

        public Object done() {
            return read("done", it -> it);
        }

        public Keep done(Object value) {
            set("done", value);
            return this;
        }

        public Object failed() {
            return read("failed", it -> it);
        }

        public Keep failed(Object value) {
            set("failed", value);
            return this;
        }
    }

    /** How a plan's last run stands or ended. */
    public enum LastState implements JsonObject.Text {
        OK("ok"),
        RUNNING("running"),
        ERROR("error"),
        NO_WORKER("no_worker"),
        SKIPPED("skipped"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        LastState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static LastState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** That the server runs. */
    public static final class Live extends JsonObject {
        public Live() {}

        public Live(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Live also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Always true. */
        public boolean live() {
            return read("live", Boolean.class::cast, false);
        }

        /** Always true. */
        public Live live(Boolean value) {
            set("live", value);
            return this;
        }
    }

    /** A token that was made, and what it is. */
    public static final class MadeAccessToken extends JsonObject {
        public MadeAccessToken() {}

        public MadeAccessToken(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public MadeAccessToken also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public MadeAccessToken createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        public Instant expires() {
            return read("expires", JsonObject::asTime);
        }

        public MadeAccessToken expires(Instant value) {
            set("expires", value);
            return this;
        }

        public Instant lastUsed() {
            return read("last_used", JsonObject::asTime);
        }

        public MadeAccessToken lastUsed(Instant value) {
            set("last_used", value);
            return this;
        }

        /** The limits that hold; null: none. */
        public AccessTokenLimitsRead limits() {
            return read("limits", it -> new AccessTokenLimitsRead(asMembers(it)));
        }

        /** The limits that hold; null: none. */
        public MadeAccessToken limits(AccessTokenLimitsRead value) {
            set("limits", value);
            return this;
        }

        /** What it is called. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** What it is called. */
        public MadeAccessToken name(String value) {
            set("name", value);
            return this;
        }

        /** The queues it is good for, `*` at the end for any ending; null: all. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues it is good for, `*` at the end for any ending; null: all. */
        public MadeAccessToken queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** Those of them that it was refused. */
        public long refusals() {
            return read("refusals", JsonObject::asLong, 0L);
        }

        /** Those of them that it was refused. */
        public MadeAccessToken refusals(Long value) {
            set("refusals", value);
            return this;
        }

        public MadeAccessToken refusals(int value) {
            set("refusals", value);
            return this;
        }

        /** Requests that carried it. */
        public long requests() {
            return read("requests", JsonObject::asLong, 0L);
        }

        /** Requests that carried it. */
        public MadeAccessToken requests(Long value) {
            set("requests", value);
            return this;
        }

        public MadeAccessToken requests(int value) {
            set("requests", value);
            return this;
        }

        /** What it may do. */
        public List<Right> rights() {
            return read("rights", it -> asList(it, it1 -> Right.of((String) it1)));
        }

        /** What it may do. */
        public MadeAccessToken rights(List<Right> value) {
            set("rights", value);
            return this;
        }

        /** The token: send it as `Authorization: Bearer`. It is shown this once. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token: send it as `Authorization: Bearer`. It is shown this once. */
        public MadeAccessToken token(String value) {
            set("token", value);
            return this;
        }
    }

    /** A notice to be sent. `callbak_url` and `enforce_repeate_notice` are taken as well. */
    public static final class Message extends JsonObject {
        public Message() {}

        public Message(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Message also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The URL to call after a success: GET, without data, with notices of its own. */
        public String callbackUrl() {
            return read("callback_url", String::valueOf);
        }

        /** The URL to call after a success: GET, without data, with notices of its own. */
        public Message callbackUrl(String value) {
            set("callback_url", value);
            return this;
        }

        public ContentType contentType() {
            return read("content_type", it -> ContentType.of((String) it));
        }

        public Message contentType(ContentType value) {
            set("content_type", value);
            return this;
        }

        /**
         * What to send. For `form` a text like `a=1&amp;b=2` or an object, for `json` a value or a text that
         * holds one, for `xml` a well-formed text or an object that is written as XML.
         */
        public Object data() {
            return read("data", it -> it);
        }

        /**
         * What to send. For `form` a text like `a=1&amp;b=2` or an object, for `json` a value or a text that
         * holds one, for `xml` a well-formed text or an object that is written as XML.
         */
        public Message data(Object value) {
            set("data", value);
            return this;
        }

        /** Whether all notices are sent, also after one has succeeded. */
        public Boolean enforceRepeatNotice() {
            return read("enforce_repeat_notice", Boolean.class::cast);
        }

        /** Whether all notices are sent, also after one has succeeded. */
        public Message enforceRepeatNotice(Boolean value) {
            set("enforce_repeat_notice", value);
            return this;
        }

        /** Whether redirects are followed; they are not if left out. */
        public Boolean followRedirects() {
            return read("follow_redirects", Boolean.class::cast);
        }

        /** Whether redirects are followed; they are not if left out. */
        public Message followRedirects(Boolean value) {
            set("follow_redirects", value);
            return this;
        }

        /**
         * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
         * `webhook-*`.
         */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /**
         * Headers to send, at most 64 and 16 KiB. Not Host, Content-Length, Transfer-Encoding, Connection, nor
         * `webhook-*`.
         */
        public Message headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        public NoticeMethod httpMethod() {
            return read("http_method", it -> NoticeMethod.of((String) it));
        }

        public Message httpMethod(NoticeMethod value) {
            set("http_method", value);
            return this;
        }

        /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public Message id(String value) {
            set("id", value);
            return this;
        }

        /** Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats. */
        public Long maxNotices() {
            return read("max_notices", JsonObject::asLong);
        }

        /** Most notices, 1 to 1000; one more than there are waits if left out. The last wait repeats. */
        public Message maxNotices(Long value) {
            set("max_notices", value);
            return this;
        }

        public Message maxNotices(int value) {
            set("max_notices", value);
            return this;
        }

        /** The waits between notices; four of 600 s if left out. */
        public List<Object> noticeInterval() {
            return read("notice_interval", it -> asList(it, it1 -> it1));
        }

        /** The waits between notices; four of 600 s if left out. */
        public Message noticeInterval(List<Object> value) {
            set("notice_interval", value);
            return this;
        }

        /** What an answer must contain to be a success; empty: any 2xx will do. `success` if left out. */
        public String successFlag() {
            return read("success_flag", String::valueOf);
        }

        /** What an answer must contain to be a success; empty: any 2xx will do. `success` if left out. */
        public Message successFlag(String value) {
            set("success_flag", value);
            return this;
        }

        public Object timeout() {
            return read("timeout", it -> it);
        }

        public Message timeout(Object value) {
            set("timeout", value);
            return this;
        }

        /** The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** The URL to call, at most 8 KiB. Private addresses are refused unless the server allows them. */
        public Message url(String value) {
            set("url", value);
            return this;
        }
    }

    /** A method of HTTP; small letters will do. */
    public enum Method implements JsonObject.Text {
        GET("GET"),
        HEAD("HEAD"),
        POST("POST"),
        PUT("PUT"),
        PATCH("PATCH"),
        DELETE("DELETE"),
        OPTIONS("OPTIONS"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Method(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Method of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** Who carries out a queue's tasks. */
    public enum Mode implements JsonObject.Text {
        PULL("pull"),
        DISPATCH("dispatch"),
        HTTP("http"),
        VOTE("vote"),
        PUB("pub"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Mode(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Mode of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** How to move the clock: either of the two. */
    public static final class Move extends JsonObject {
        public Move() {}

        public Move(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Move also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object advance() {
            return read("advance", it -> it);
        }

        public Move advance(Object value) {
            set("advance", value);
            return this;
        }

        public Object set() {
            return read("set", it -> it);
        }

        public Move set(Object value) {
            set("set", value);
            return this;
        }
    }

    /** A token to make. */
    public static final class NewAccessToken extends JsonObject {
        public NewAccessToken() {}

        public NewAccessToken(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewAccessToken also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Instant expires() {
            return read("expires", JsonObject::asTime);
        }

        public NewAccessToken expires(Instant value) {
            set("expires", value);
            return this;
        }

        public AccessTokenLimits limits() {
            return read("limits", it -> new AccessTokenLimits(asMembers(it)));
        }

        public NewAccessToken limits(AccessTokenLimits value) {
            set("limits", value);
            return this;
        }

        /** What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : &#64; ~ - */
        public String name() {
            return read("name", String::valueOf);
        }

        /** What it is called: 1 to 200 characters of A-Z a-z 0-9 . _ : &#64; ~ - */
        public NewAccessToken name(String value) {
            set("name", value);
            return this;
        }

        /** The queues it is good for, `*` at the end for any ending; left out: all. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues it is good for, `*` at the end for any ending; left out: all. */
        public NewAccessToken queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** What it may do. No right implies another. */
        public List<Right> rights() {
            return read("rights", it -> asList(it, it1 -> Right.of((String) it1)));
        }

        /** What it may do. No right implies another. */
        public NewAccessToken rights(List<Right> value) {
            set("rights", value);
            return this;
        }
    }

    /** A flow as it is made. */
    public static final class NewFlow extends JsonObject {
        public NewFlow() {}

        public NewFlow(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewFlow also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public NewFlow id(String value) {
            set("id", value);
            return this;
        }

        public OnFailure onFailure() {
            return read("on_failure", it -> OnFailure.of((String) it));
        }

        public NewFlow onFailure(OnFailure value) {
            set("on_failure", value);
            return this;
        }

        /** Its steps, 1 to 10000. */
        public List<NewStep> steps() {
            return read("steps", it -> asList(it, it1 -> new NewStep(asMembers(it1))));
        }

        /** Its steps, 1 to 10000. */
        public NewFlow steps(List<NewStep> value) {
            set("steps", value);
            return this;
        }
    }

    /** A plan as it is made or changed. */
    public static final class NewPlan extends JsonObject {
        public NewPlan() {}

        public NewPlan(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewPlan also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The bundle of the queue to push into instead of making tasks. */
        public String bundleKey() {
            return read("bundle_key", String::valueOf);
        }

        /** The bundle of the queue to push into instead of making tasks. */
        public NewPlan bundleKey(String value) {
            set("bundle_key", value);
            return this;
        }

        public Callback callback() {
            return read("callback", it -> new Callback(asMembers(it)));
        }

        public NewPlan callback(Callback value) {
            set("callback", value);
            return this;
        }

        /** Who made it. */
        public String caller() {
            return read("caller", String::valueOf);
        }

        /** Who made it. */
        public NewPlan caller(String value) {
            set("caller", value);
            return this;
        }

        /** The pattern of a rule of type cron: five fields, or six with seconds first. */
        public String cron() {
            return read("cron", String::valueOf);
        }

        /** The pattern of a rule of type cron: five fields, or six with seconds first. */
        public NewPlan cron(String value) {
            set("cron", value);
            return this;
        }

        /** What it is for. */
        public String description() {
            return read("description", String::valueOf);
        }

        /** What it is for. */
        public NewPlan description(String value) {
            set("description", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public NewPlan hold(Object value) {
            set("hold", value);
            return this;
        }

        public Http http() {
            return read("http", it -> new Http(asMembers(it)));
        }

        public NewPlan http(Http value) {
            set("http", value);
            return this;
        }

        /** How many results are kept. */
        public Long keepResults() {
            return read("keep_results", JsonObject::asLong);
        }

        /** How many results are kept. */
        public NewPlan keepResults(Long value) {
            set("keep_results", value);
            return this;
        }

        public NewPlan keepResults(int value) {
            set("keep_results", value);
            return this;
        }

        /** Their limit of attempts; -1 for none. */
        public Long maxAttempts() {
            return read("max_attempts", JsonObject::asLong);
        }

        /** Their limit of attempts; -1 for none. */
        public NewPlan maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public NewPlan maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        /** The payload of its runs. */
        public Object message() {
            return read("message", it -> it);
        }

        /** The payload of its runs. */
        public NewPlan message(Object value) {
            set("message", value);
            return this;
        }

        /** Another name of `message`. */
        public Object messages() {
            return read("messages", it -> it);
        }

        /** Another name of `message`. */
        public NewPlan messages(Object value) {
            set("messages", value);
            return this;
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Boolean noKeep() {
            return read("no_keep", Boolean.class::cast);
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public NewPlan noKeep(Boolean value) {
            set("no_keep", value);
            return this;
        }

        public Object onError() {
            return read("on_error", it -> it);
        }

        public NewPlan onError(Object value) {
            set("on_error", value);
            return this;
        }

        /**
         * Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`, or a whole number, which is written as 16
         * hex digits; generated if left out.
         */
        public Object planId() {
            return read("plan_id", it -> it);
        }

        /**
         * Its id, 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`, or a whole number, which is written as 16
         * hex digits; generated if left out.
         */
        public NewPlan planId(Object value) {
            set("plan_id", value);
            return this;
        }

        /** Another name of `repeat`. */
        public Long planRepet() {
            return read("plan_repet", JsonObject::asLong);
        }

        /** Another name of `repeat`. */
        public NewPlan planRepet(Long value) {
            set("plan_repet", value);
            return this;
        }

        public NewPlan planRepet(int value) {
            set("plan_repet", value);
            return this;
        }

        /** When it is due, from when it repeats, or at which time of day. */
        public Object planTime() {
            return read("plan_time", it -> it);
        }

        /** When it is due, from when it repeats, or at which time of day. */
        public NewPlan planTime(Object value) {
            set("plan_time", value);
            return this;
        }

        public Object planType() {
            return read("plan_type", it -> it);
        }

        public NewPlan planType(Object value) {
            set("plan_type", value);
            return this;
        }

        /** How many units lie between two runs (1 to 32767), or on which day they are. */
        public Long planValue() {
            return read("plan_value", JsonObject::asLong);
        }

        /** How many units lie between two runs (1 to 32767), or on which day they are. */
        public NewPlan planValue(Long value) {
            set("plan_value", value);
            return this;
        }

        public NewPlan planValue(int value) {
            set("plan_value", value);
            return this;
        }

        /** Their priority, -100 to 100. */
        public Long priority() {
            return read("priority", JsonObject::asLong);
        }

        /** Their priority, -100 to 100. */
        public NewPlan priority(Long value) {
            set("priority", value);
            return this;
        }

        public NewPlan priority(int value) {
            set("priority", value);
            return this;
        }

        /** The queue its runs are pushed to; required in a new plan, and the same for ever. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue its runs are pushed to; required in a new plan, and the same for ever. */
        public NewPlan queue(String value) {
            set("queue", value);
            return this;
        }

        /** How often it runs, -1 for ever; required if it repeats. */
        public Long repeat() {
            return read("repeat", JsonObject::asLong);
        }

        /** How often it runs, -1 for ever; required if it repeats. */
        public NewPlan repeat(Long value) {
            set("repeat", value);
            return this;
        }

        public NewPlan repeat(int value) {
            set("repeat", value);
            return this;
        }

        /** The caller's own id for it. */
        public String requestId() {
            return read("request_id", String::valueOf);
        }

        /** The caller's own id for it. */
        public NewPlan requestId(String value) {
            set("request_id", value);
            return this;
        }

        /** Capabilities their worker must have; for queues of mode dispatch. */
        public List<String> requires() {
            return read("requires", it -> asList(it, String::valueOf));
        }

        /** Capabilities their worker must have; for queues of mode dispatch. */
        public NewPlan requires(List<String> value) {
            set("requires", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public NewPlan retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** Another name of `queue`. */
        public String station() {
            return read("station", String::valueOf);
        }

        /** Another name of `queue`. */
        public NewPlan station(String value) {
            set("station", value);
            return this;
        }

        /** Their labels. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** Their labels. */
        public NewPlan tags(List<String> value) {
            set("tags", value);
            return this;
        }

        /** The IANA zone of its local times. */
        public String timezone() {
            return read("timezone", String::valueOf);
        }

        /** The IANA zone of its local times. */
        public NewPlan timezone(String value) {
            set("timezone", value);
            return this;
        }
    }

    /** A step of a flow: a name, what it waits for, and the fields of its task. */
    public static final class NewStep extends JsonObject {
        public NewStep() {}

        public NewStep(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewStep also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The names of the steps that must be done before it becomes a task. */
        public List<String> after() {
            return read("after", it -> asList(it, String::valueOf));
        }

        /** The names of the steps that must be done before it becomes a task. */
        public NewStep after(List<String> value) {
            set("after", value);
            return this;
        }

        public Callback callback() {
            return read("callback", it -> new Callback(asMembers(it)));
        }

        public NewStep callback(Callback value) {
            set("callback", value);
            return this;
        }

        public Object delay() {
            return read("delay", it -> it);
        }

        public NewStep delay(Object value) {
            set("delay", value);
            return this;
        }

        public Object due() {
            return read("due", it -> it);
        }

        public NewStep due(Object value) {
            set("due", value);
            return this;
        }

        public Object expires() {
            return read("expires", it -> it);
        }

        public NewStep expires(Object value) {
            set("expires", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public NewStep hold(Object value) {
            set("hold", value);
            return this;
        }

        public Http http() {
            return read("http", it -> new Http(asMembers(it)));
        }

        public NewStep http(Http value) {
            set("http", value);
            return this;
        }

        /** Its own limit of attempts, instead of the queue's. */
        public Long maxAttempts() {
            return read("max_attempts", JsonObject::asLong);
        }

        /** Its own limit of attempts, instead of the queue's. */
        public NewStep maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public NewStep maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        public Object maxRuntime() {
            return read("max_runtime", it -> it);
        }

        public NewStep maxRuntime(Object value) {
            set("max_runtime", value);
            return this;
        }

        /** Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** Its name, unique in the flow; 1 to 90 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`. */
        public NewStep name(String value) {
            set("name", value);
            return this;
        }

        /** What is to be done. With `after` the results of those steps are added, as `inputs`. */
        public Object payload() {
            return read("payload", it -> it);
        }

        /** What is to be done. With `after` the results of those steps are added, as `inputs`. */
        public NewStep payload(Object value) {
            set("payload", value);
            return this;
        }

        /** -100 to 100, higher first. */
        public Long priority() {
            return read("priority", JsonObject::asLong);
        }

        /** -100 to 100, higher first. */
        public NewStep priority(Long value) {
            set("priority", value);
            return this;
        }

        public NewStep priority(int value) {
            set("priority", value);
            return this;
        }

        /** The queue of its task. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue of its task. */
        public NewStep queue(String value) {
            set("queue", value);
            return this;
        }

        /** Capabilities its worker must have; in queues of mode dispatch. */
        public List<String> requires() {
            return read("requires", it -> asList(it, String::valueOf));
        }

        /** Capabilities its worker must have; in queues of mode dispatch. */
        public NewStep requires(List<String> value) {
            set("requires", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public NewStep retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** Labels, at most 32 of 128 bytes. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** Labels, at most 32 of 128 bytes. */
        public NewStep tags(List<String> value) {
            set("tags", value);
            return this;
        }

        public Object uniqueFor() {
            return read("unique_for", it -> it);
        }

        public NewStep uniqueFor(Object value) {
            set("unique_for", value);
            return this;
        }
    }

    /** A task to push. */
    public static final class NewTask extends JsonObject {
        public NewTask() {}

        public NewTask(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NewTask also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Callback callback() {
            return read("callback", it -> new Callback(asMembers(it)));
        }

        public NewTask callback(Callback value) {
            set("callback", value);
            return this;
        }

        public Object delay() {
            return read("delay", it -> it);
        }

        public NewTask delay(Object value) {
            set("delay", value);
            return this;
        }

        public Object due() {
            return read("due", it -> it);
        }

        public NewTask due(Object value) {
            set("due", value);
            return this;
        }

        public Object expires() {
            return read("expires", it -> it);
        }

        public NewTask expires(Object value) {
            set("expires", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public NewTask hold(Object value) {
            set("hold", value);
            return this;
        }

        public Http http() {
            return read("http", it -> new Http(asMembers(it)));
        }

        public NewTask http(Http value) {
            set("http", value);
            return this;
        }

        /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id, 1 to 200 characters of `A-Z a-z 0-9 . _ : &#64; ~ -`; generated if left out. */
        public NewTask id(String value) {
            set("id", value);
            return this;
        }

        /** Its own limit of attempts, instead of the queue's. */
        public Long maxAttempts() {
            return read("max_attempts", JsonObject::asLong);
        }

        /** Its own limit of attempts, instead of the queue's. */
        public NewTask maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public NewTask maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        public Object maxRuntime() {
            return read("max_runtime", it -> it);
        }

        public NewTask maxRuntime(Object value) {
            set("max_runtime", value);
            return this;
        }

        /** What is to be done. */
        public Object payload() {
            return read("payload", it -> it);
        }

        /** What is to be done. */
        public NewTask payload(Object value) {
            set("payload", value);
            return this;
        }

        /** -100 to 100, higher first. */
        public Long priority() {
            return read("priority", JsonObject::asLong);
        }

        /** -100 to 100, higher first. */
        public NewTask priority(Long value) {
            set("priority", value);
            return this;
        }

        public NewTask priority(int value) {
            set("priority", value);
            return this;
        }

        /** Capabilities its worker must have; in queues of mode dispatch. */
        public List<String> requires() {
            return read("requires", it -> asList(it, String::valueOf));
        }

        /** Capabilities its worker must have; in queues of mode dispatch. */
        public NewTask requires(List<String> value) {
            set("requires", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public NewTask retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** Labels, at most 32 of 128 bytes. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** Labels, at most 32 of 128 bytes. */
        public NewTask tags(List<String> value) {
            set("tags", value);
            return this;
        }

        public Object uniqueFor() {
            return read("unique_for", it -> it);
        }

        public NewTask uniqueFor(Object value) {
            set("unique_for", value);
            return this;
        }
    }

    /** A server. */
    public static final class Node extends JsonObject {
        public Node() {}

        public Node(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Node also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Where it listens. */
        public String address() {
            return read("address", String::valueOf);
        }

        /** Where it listens. */
        public Node address(String value) {
            set("address", value);
            return this;
        }

        /** Its name, new with every start. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its name, new with every start. */
        public Node id(String value) {
            set("id", value);
            return this;
        }

        /** When it was last heard of: every ten seconds, if it is well. */
        public Instant seenAt() {
            return read("seen_at", JsonObject::asTime);
        }

        /** When it was last heard of: every ten seconds, if it is well. */
        public Node seenAt(Instant value) {
            set("seen_at", value);
            return this;
        }

        /** When it began to serve. */
        public Instant startedAt() {
            return read("started_at", JsonObject::asTime);
        }

        /** When it began to serve. */
        public Node startedAt(Instant value) {
            set("started_at", value);
            return this;
        }

        /** Whether it is the one that answers. */
        public boolean this_() {
            return read("this", Boolean.class::cast, false);
        }

        /** Whether it is the one that answers. */
        public Node this_(Boolean value) {
            set("this", value);
            return this;
        }

        /** Its version. */
        public String version() {
            return read("version", String::valueOf);
        }

        /** Its version. */
        public Node version(String value) {
            set("version", value);
            return this;
        }
    }

    /** A notice: the message, and what has become of it. */
    public static final class Notice extends JsonObject {
        public Notice() {}

        public Notice(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Notice also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The URL that is called after a success. */
        public String callbackUrl() {
            return read("callback_url", String::valueOf);
        }

        /** The URL that is called after a success. */
        public Notice callbackUrl(String value) {
            set("callback_url", value);
            return this;
        }

        /** How the data is written. */
        public ContentType contentType() {
            return read("content_type", it -> ContentType.of((String) it));
        }

        /** How the data is written. */
        public Notice contentType(ContentType value) {
            set("content_type", value);
            return this;
        }

        /** When it was taken. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was taken. */
        public Notice createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        /** What is sent, as it was given. */
        public Object data() {
            return read("data", it -> it);
        }

        /** What is sent, as it was given. */
        public Notice data(Object value) {
            set("data", value);
            return this;
        }

        /** Whether all notices are sent, also after one has succeeded. */
        public boolean enforceRepeatNotice() {
            return read("enforce_repeat_notice", Boolean.class::cast, false);
        }

        /** Whether all notices are sent, also after one has succeeded. */
        public Notice enforceRepeatNotice(Boolean value) {
            set("enforce_repeat_notice", value);
            return this;
        }

        /** What went wrong last. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong last. */
        public Notice error(String value) {
            set("error", value);
            return this;
        }

        public Instant finishedAt() {
            return read("finished_at", JsonObject::asTime);
        }

        public Notice finishedAt(Instant value) {
            set("finished_at", value);
            return this;
        }

        /** Whether redirects are followed. */
        public boolean followRedirects() {
            return read("follow_redirects", Boolean.class::cast, false);
        }

        /** Whether redirects are followed. */
        public Notice followRedirects(Boolean value) {
            set("follow_redirects", value);
            return this;
        }

        /** Headers that are sent; values of secret ones read as `***`. */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /** Headers that are sent; values of secret ones read as `***`. */
        public Notice headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        /** The last 20 notices, oldest first. */
        public List<SentNotice> history() {
            return read("history", it -> asList(it, it1 -> new SentNotice(asMembers(it1))));
        }

        /** The last 20 notices, oldest first. */
        public Notice history(List<SentNotice> value) {
            set("history", value);
            return this;
        }

        /** How. */
        public NoticeMethod httpMethod() {
            return read("http_method", it -> NoticeMethod.of((String) it));
        }

        /** How. */
        public Notice httpMethod(NoticeMethod value) {
            set("http_method", value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public Notice id(String value) {
            set("id", value);
            return this;
        }

        /** Most notices. */
        public Long maxNotices() {
            return read("max_notices", JsonObject::asLong);
        }

        /** Most notices. */
        public Notice maxNotices(Long value) {
            set("max_notices", value);
            return this;
        }

        public Notice maxNotices(int value) {
            set("max_notices", value);
            return this;
        }

        /** Notices that were sent. */
        public long noticeCount() {
            return read("notice_count", JsonObject::asLong, 0L);
        }

        /** Notices that were sent. */
        public Notice noticeCount(Long value) {
            set("notice_count", value);
            return this;
        }

        public Notice noticeCount(int value) {
            set("notice_count", value);
            return this;
        }

        /** The same as it was understood: names and values of a form, a JSON value, an XML text. */
        public Object noticeData() {
            return read("notice_data", it -> it);
        }

        /** The same as it was understood: names and values of a form, a JSON value, an XML text. */
        public Notice noticeData(Object value) {
            set("notice_data", value);
            return this;
        }

        /** The waits that are left between notices. */
        public List<Double> noticeInterval() {
            return read("notice_interval", it -> asList(it, JsonObject::asDouble));
        }

        /** The waits that are left between notices. */
        public Notice noticeInterval(List<Double> value) {
            set("notice_interval", value);
            return this;
        }

        public Instant noticeTime() {
            return read("notice_time", JsonObject::asTime);
        }

        public Notice noticeTime(Instant value) {
            set("notice_time", value);
            return this;
        }

        /** Where it stands. */
        public NoticeState state() {
            return read("state", it -> NoticeState.of((String) it));
        }

        /** Where it stands. */
        public Notice state(NoticeState value) {
            set("state", value);
            return this;
        }

        /** What an answer must contain to be a success; empty: nothing. */
        public String successFlag() {
            return read("success_flag", String::valueOf);
        }

        /** What an answer must contain to be a success; empty: nothing. */
        public Notice successFlag(String value) {
            set("success_flag", value);
            return this;
        }

        /** The number of the first notice that succeeded; 0: none did. */
        public long successId() {
            return read("success_id", JsonObject::asLong, 0L);
        }

        /** The number of the first notice that succeeded; 0: none did. */
        public Notice successId(Long value) {
            set("success_id", value);
            return this;
        }

        public Notice successId(int value) {
            set("success_id", value);
            return this;
        }

        /** The time one notice may take. */
        public double timeout() {
            return read("timeout", JsonObject::asDouble, 0.0);
        }

        /** The time one notice may take. */
        public Notice timeout(Double value) {
            set("timeout", value);
            return this;
        }

        /** The URL that is called. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** The URL that is called. */
        public Notice url(String value) {
            set("url", value);
            return this;
        }
    }

    /** How a notice calls its URL. */
    public enum NoticeMethod implements JsonObject.Text {
        POST("post"),
        GET("get"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        NoticeMethod(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static NoticeMethod of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** Where a notice stands. */
    public enum NoticeState implements JsonObject.Text {
        WAITING("waiting"),
        DELIVERING("delivering"),
        SUCCEEDED("succeeded"),
        EXHAUSTED("exhausted"),
        CANCELLED("cancelled"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        NoticeState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static NoticeState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** The policies without a number. */
    public enum OnErrorWord implements JsonObject.Text {
        STOP("stop"),
        CONTINUE("continue"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        OnErrorWord(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static OnErrorWord of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** What a failed step does to the others. */
    public enum OnFailure implements JsonObject.Text {
        STOP("stop"),
        CONTINUE("continue"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        OnFailure(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static OnFailure of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** The order among ready tasks of one priority. */
    public enum Order implements JsonObject.Text {
        FIFO("fifo"),
        RANDOM("random"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Order(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Order of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** What a worker is told. */
    public static final class Orders extends JsonObject {
        public Orders() {}

        public Orders(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Orders also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks it was given and has not confirmed, each with its token. They repeat until it does. */
        public List<Task> assignments() {
            return read("assignments", it -> asList(it, it1 -> new Task(asMembers(it1))));
        }

        /** Tasks it was given and has not confirmed, each with its token. They repeat until it does. */
        public Orders assignments(List<Task> value) {
            set("assignments", value);
            return this;
        }

        /** Tasks it holds and is asked to stop for good. */
        public List<TaskName> cancel() {
            return read("cancel", it -> asList(it, it1 -> new TaskName(asMembers(it1))));
        }

        /** Tasks it holds and is asked to stop for good. */
        public Orders cancel(List<TaskName> value) {
            set("cancel", value);
            return this;
        }

        /** Tasks it holds and is asked to set aside. */
        public List<TaskName> pause() {
            return read("pause", it -> asList(it, it1 -> new TaskName(asMembers(it1))));
        }

        /** Tasks it holds and is asked to set aside. */
        public Orders pause(List<TaskName> value) {
            set("pause", value);
            return this;
        }
    }

    /** How an attempt ended. */
    public enum Outcome implements JsonObject.Text {
        DONE("done"),
        FAILED("failed"),
        RELEASED("released"),
        UNCONFIRMED("unconfirmed"),
        LOST("lost"),
        CANCELLED("cancelled"),
        PAUSED("paused"),
        FREED("freed"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Outcome(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Outcome of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** A page of a list. */
    public static final class AccessTokenPage extends JsonObject {
        public AccessTokenPage() {}

        public AccessTokenPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AccessTokenPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<AccessToken> items() {
            return read("items", it -> asList(it, it1 -> new AccessToken(asMembers(it1))));
        }

        public AccessTokenPage items(List<AccessToken> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public AccessTokenPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class AuditedPage extends JsonObject {
        public AuditedPage() {}

        public AuditedPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public AuditedPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Audited> items() {
            return read("items", it -> asList(it, it1 -> new Audited(asMembers(it1))));
        }

        public AuditedPage items(List<Audited> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public AuditedPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class BundlePage extends JsonObject {
        public BundlePage() {}

        public BundlePage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public BundlePage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Bundle> items() {
            return read("items", it -> asList(it, it1 -> new Bundle(asMembers(it1))));
        }

        public BundlePage items(List<Bundle> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public BundlePage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class FailureGroupPage extends JsonObject {
        public FailureGroupPage() {}

        public FailureGroupPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FailureGroupPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<FailureGroup> items() {
            return read("items", it -> asList(it, it1 -> new FailureGroup(asMembers(it1))));
        }

        public FailureGroupPage items(List<FailureGroup> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public FailureGroupPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class FlowSummaryPage extends JsonObject {
        public FlowSummaryPage() {}

        public FlowSummaryPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public FlowSummaryPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<FlowSummary> items() {
            return read("items", it -> asList(it, it1 -> new FlowSummary(asMembers(it1))));
        }

        public FlowSummaryPage items(List<FlowSummary> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public FlowSummaryPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class HostPage extends JsonObject {
        public HostPage() {}

        public HostPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public HostPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Host> items() {
            return read("items", it -> asList(it, it1 -> new Host(asMembers(it1))));
        }

        public HostPage items(List<Host> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public HostPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class NoticePage extends JsonObject {
        public NoticePage() {}

        public NoticePage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public NoticePage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Notice> items() {
            return read("items", it -> asList(it, it1 -> new Notice(asMembers(it1))));
        }

        public NoticePage items(List<Notice> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public NoticePage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class PlanPage extends JsonObject {
        public PlanPage() {}

        public PlanPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public PlanPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Plan> items() {
            return read("items", it -> asList(it, it1 -> new Plan(asMembers(it1))));
        }

        public PlanPage items(List<Plan> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public PlanPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class PlanResultPage extends JsonObject {
        public PlanResultPage() {}

        public PlanResultPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public PlanResultPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<PlanResult> items() {
            return read("items", it -> asList(it, it1 -> new PlanResult(asMembers(it1))));
        }

        public PlanResultPage items(List<PlanResult> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public PlanResultPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class QueuePage extends JsonObject {
        public QueuePage() {}

        public QueuePage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public QueuePage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Queue> items() {
            return read("items", it -> asList(it, it1 -> new Queue(asMembers(it1))));
        }

        public QueuePage items(List<Queue> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public QueuePage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class TaskPage extends JsonObject {
        public TaskPage() {}

        public TaskPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public TaskPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Task> items() {
            return read("items", it -> asList(it, it1 -> new Task(asMembers(it1))));
        }

        public TaskPage items(List<Task> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public TaskPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class TimePage extends JsonObject {
        public TimePage() {}

        public TimePage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public TimePage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Instant> items() {
            return read("items", it -> asList(it, JsonObject::asTime));
        }

        public TimePage items(List<Instant> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public TimePage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A page of a list. */
    public static final class WorkerPage extends JsonObject {
        public WorkerPage() {}

        public WorkerPage(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public WorkerPage also(String name, Object value) {
            set(name, value);
            return this;
        }

        public List<Worker> items() {
            return read("items", it -> asList(it, it1 -> new Worker(asMembers(it1))));
        }

        public WorkerPage items(List<Worker> value) {
            set("items", value);
            return this;
        }

        public String next() {
            return read("next", String::valueOf);
        }

        public WorkerPage next(String value) {
            set("next", value);
            return this;
        }
    }

    /** A plan: all it was given, and how it stands. */
    public static final class Plan extends JsonObject {
        public Plan() {}

        public Plan(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Plan also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The pattern of a rule of type cron. */
        public String cron() {
            return read("cron", String::valueOf);
        }

        /** The pattern of a rule of type cron. */
        public Plan cron(String value) {
            set("cron", value);
            return this;
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Boolean noKeep() {
            return read("no_keep", Boolean.class::cast);
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Plan noKeep(Boolean value) {
            set("no_keep", value);
            return this;
        }

        /** Another name of `repeat`. */
        public Long planRepet() {
            return read("plan_repet", JsonObject::asLong);
        }

        /** Another name of `repeat`. */
        public Plan planRepet(Long value) {
            set("plan_repet", value);
            return this;
        }

        public Plan planRepet(int value) {
            set("plan_repet", value);
            return this;
        }

        /** When it is due, from when it repeats, or at which time of day; 0: not given. */
        public Object planTime() {
            return read("plan_time", it -> it);
        }

        /** When it is due, from when it repeats, or at which time of day; 0: not given. */
        public Plan planTime(Object value) {
            set("plan_time", value);
            return this;
        }

        /** What kind of rule it is. */
        public PlanType planType() {
            return read("plan_type", it -> PlanType.of((String) it));
        }

        /** What kind of rule it is. */
        public Plan planType(PlanType value) {
            set("plan_type", value);
            return this;
        }

        /** How many units lie between two runs, or on which day they are. */
        public Long planValue() {
            return read("plan_value", JsonObject::asLong);
        }

        /** How many units lie between two runs, or on which day they are. */
        public Plan planValue(Long value) {
            set("plan_value", value);
            return this;
        }

        public Plan planValue(int value) {
            set("plan_value", value);
            return this;
        }

        /** How often it runs; -1 for ever. */
        public Long repeat() {
            return read("repeat", JsonObject::asLong);
        }

        /** How often it runs; -1 for ever. */
        public Plan repeat(Long value) {
            set("repeat", value);
            return this;
        }

        public Plan repeat(int value) {
            set("repeat", value);
            return this;
        }

        /** The zone of its local times. */
        public String timezone() {
            return read("timezone", String::valueOf);
        }

        /** The zone of its local times. */
        public Plan timezone(String value) {
            set("timezone", value);
            return this;
        }

        /** The bundle of the station that it pushes into instead. */
        public String bundleKey() {
            return read("bundle_key", String::valueOf);
        }

        /** The bundle of the station that it pushes into instead. */
        public Plan bundleKey(String value) {
            set("bundle_key", value);
            return this;
        }

        public Callback callback() {
            return read("callback", it -> new Callback(asMembers(it)));
        }

        public Plan callback(Callback value) {
            set("callback", value);
            return this;
        }

        /** Who made it. */
        public String caller() {
            return read("caller", String::valueOf);
        }

        /** Who made it. */
        public Plan caller(String value) {
            set("caller", value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public Plan createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        /** What it is for. */
        public String description() {
            return read("description", String::valueOf);
        }

        /** What it is for. */
        public Plan description(String value) {
            set("description", value);
            return this;
        }

        /** What went wrong last. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong last. */
        public Plan error(String value) {
            set("error", value);
            return this;
        }

        public Instant execTime() {
            return read("exec_time", JsonObject::asTime);
        }

        public Plan execTime(Instant value) {
            set("exec_time", value);
            return this;
        }

        /** Runs that failed in a row. */
        public long failures() {
            return read("failures", JsonObject::asLong, 0L);
        }

        /** Runs that failed in a row. */
        public Plan failures(Long value) {
            set("failures", value);
            return this;
        }

        public Plan failures(int value) {
            set("failures", value);
            return this;
        }

        public Instant finishedAt() {
            return read("finished_at", JsonObject::asTime);
        }

        public Plan finishedAt(Instant value) {
            set("finished_at", value);
            return this;
        }

        public Double hold() {
            return read("hold", JsonObject::asDouble);
        }

        public Plan hold(Double value) {
            set("hold", value);
            return this;
        }

        public TaskHttp http() {
            return read("http", it -> new TaskHttp(asMembers(it)));
        }

        public Plan http(TaskHttp value) {
            set("http", value);
            return this;
        }

        /** How many results are kept. */
        public long keepResults() {
            return read("keep_results", JsonObject::asLong, 0L);
        }

        /** How many results are kept. */
        public Plan keepResults(Long value) {
            set("keep_results", value);
            return this;
        }

        public Plan keepResults(int value) {
            set("keep_results", value);
            return this;
        }

        public LastState lastState() {
            return read("last_state", it -> LastState.of((String) it));
        }

        public Plan lastState(LastState value) {
            set("last_state", value);
            return this;
        }

        /** Their limit of attempts; -1 for none. */
        public Long maxAttempts() {
            return read("max_attempts", JsonObject::asLong);
        }

        /** Their limit of attempts; -1 for none. */
        public Plan maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public Plan maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        /** The payload of its runs. */
        public Object message() {
            return read("message", it -> it);
        }

        /** The payload of its runs. */
        public Plan message(Object value) {
            set("message", value);
            return this;
        }

        public Instant nextAt() {
            return read("next_at", JsonObject::asTime);
        }

        public Plan nextAt(Instant value) {
            set("next_at", value);
            return this;
        }

        /** What a run that fails for good makes of it. */
        public Object onError() {
            return read("on_error", it -> it);
        }

        /** What a run that fails for good makes of it. */
        public Plan onError(Object value) {
            set("on_error", value);
            return this;
        }

        /** Its id. */
        public String planId() {
            return read("plan_id", String::valueOf);
        }

        /** Its id. */
        public Plan planId(String value) {
            set("plan_id", value);
            return this;
        }

        /** Their priority. */
        public long priority() {
            return read("priority", JsonObject::asLong, 0L);
        }

        /** Their priority. */
        public Plan priority(Long value) {
            set("priority", value);
            return this;
        }

        public Plan priority(int value) {
            set("priority", value);
            return this;
        }

        /** The queue its runs are pushed to. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue its runs are pushed to. */
        public Plan queue(String value) {
            set("queue", value);
            return this;
        }

        /** Runs that were done, and those that failed while the plan went on. */
        public long realRepet() {
            return read("real_repet", JsonObject::asLong, 0L);
        }

        /** Runs that were done, and those that failed while the plan went on. */
        public Plan realRepet(Long value) {
            set("real_repet", value);
            return this;
        }

        public Plan realRepet(int value) {
            set("real_repet", value);
            return this;
        }

        /** The caller's own id for it. */
        public String requestId() {
            return read("request_id", String::valueOf);
        }

        /** The caller's own id for it. */
        public Plan requestId(String value) {
            set("request_id", value);
            return this;
        }

        /** Capabilities their worker must have. */
        public List<String> requires() {
            return read("requires", it -> asList(it, String::valueOf));
        }

        /** Capabilities their worker must have. */
        public Plan requires(List<String> value) {
            set("requires", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public Plan retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** Occurrences that were skipped. */
        public long skipped() {
            return read("skipped", JsonObject::asLong, 0L);
        }

        /** Occurrences that were skipped. */
        public Plan skipped(Long value) {
            set("skipped", value);
            return this;
        }

        public Plan skipped(int value) {
            set("skipped", value);
            return this;
        }

        /** Where it stands. */
        public PlanState state() {
            return read("state", it -> PlanState.of((String) it));
        }

        /** Where it stands. */
        public Plan state(PlanState value) {
            set("state", value);
            return this;
        }

        /** Another name of `queue`. */
        public String station() {
            return read("station", String::valueOf);
        }

        /** Another name of `queue`. */
        public Plan station(String value) {
            set("station", value);
            return this;
        }

        /** Their labels. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** Their labels. */
        public Plan tags(List<String> value) {
            set("tags", value);
            return this;
        }

        /** The task of its run that has not ended. */
        public String task() {
            return read("task", String::valueOf);
        }

        /** The task of its run that has not ended. */
        public Plan task(String value) {
            set("task", value);
            return this;
        }
    }

    /** What is kept of a run. */
    public static final class PlanResult extends JsonObject {
        public PlanResult() {}

        public PlanResult(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public PlanResult also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** When it ended. */
        public Instant at() {
            return read("at", JsonObject::asTime);
        }

        /** When it ended. */
        public PlanResult at(Instant value) {
            set("at", value);
            return this;
        }

        /** What went wrong. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong. */
        public PlanResult error(String value) {
            set("error", value);
            return this;
        }

        /** The time it was due. */
        public Instant planTime() {
            return read("plan_time", JsonObject::asTime);
        }

        /** The time it was due. */
        public PlanResult planTime(Instant value) {
            set("plan_time", value);
            return this;
        }

        /** What it came to. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to. */
        public PlanResult result(Object value) {
            set("result", value);
            return this;
        }

        /** Which run: its number, or a text like `3.1` for one besides the rule. */
        public Object run() {
            return read("run", it -> it);
        }

        /** Which run: its number, or a text like `3.1` for one besides the rule. */
        public PlanResult run(Object value) {
            set("run", value);
            return this;
        }

        /** Who made it. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Who made it. */
        public PlanResult worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** Where a plan stands. */
    public enum PlanState implements JsonObject.Text {
        SCHEDULED("scheduled"),
        RUNNING("running"),
        PAUSED("paused"),
        ERROR("error"),
        FINISHED("finished"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        PlanState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static PlanState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** The kind of a rule. */
    public enum PlanType implements JsonObject.Text {
        NONE("none"),
        TIME("time"),
        SECOND("second"),
        MINUTE("minute"),
        HOUR("hour"),
        DAY("day"),
        WEEK("week"),
        MONTH("month"),
        CRON("cron"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        PlanType(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static PlanType of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** How to hear what is new. */
    public static final class Poll extends JsonObject {
        public Poll() {}

        public Poll(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Poll also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Which incarnation asks; one that has been followed by another is refused. */
        public String session() {
            return read("session", String::valueOf);
        }

        /** Which incarnation asks; one that has been followed by another is refused. */
        public Poll session(String value) {
            set("session", value);
            return this;
        }

        public Object wait_() {
            return read("wait", it -> it);
        }

        public Poll wait_(Object value) {
            set("wait", value);
            return this;
        }
    }

    /** A rule, and how many of its times are wanted. */
    public static final class Preview extends JsonObject {
        public Preview() {}

        public Preview(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Preview also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The pattern of a rule of type cron. */
        public String cron() {
            return read("cron", String::valueOf);
        }

        /** The pattern of a rule of type cron. */
        public Preview cron(String value) {
            set("cron", value);
            return this;
        }

        /** How many times at most, 1 to 1000. */
        public Long n() {
            return read("n", JsonObject::asLong);
        }

        /** How many times at most, 1 to 1000. */
        public Preview n(Long value) {
            set("n", value);
            return this;
        }

        public Preview n(int value) {
            set("n", value);
            return this;
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Boolean noKeep() {
            return read("no_keep", Boolean.class::cast);
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Preview noKeep(Boolean value) {
            set("no_keep", value);
            return this;
        }

        /** Another name of `repeat`. */
        public Long planRepet() {
            return read("plan_repet", JsonObject::asLong);
        }

        /** Another name of `repeat`. */
        public Preview planRepet(Long value) {
            set("plan_repet", value);
            return this;
        }

        public Preview planRepet(int value) {
            set("plan_repet", value);
            return this;
        }

        /** When it is due, from when it repeats, or at which time of day. */
        public Object planTime() {
            return read("plan_time", it -> it);
        }

        /** When it is due, from when it repeats, or at which time of day. */
        public Preview planTime(Object value) {
            set("plan_time", value);
            return this;
        }

        /** What kind of rule it is. */
        public Object planType() {
            return read("plan_type", it -> it);
        }

        /** What kind of rule it is. */
        public Preview planType(Object value) {
            set("plan_type", value);
            return this;
        }

        /** How many units lie between two runs (1 to 32767), or on which day they are. */
        public Long planValue() {
            return read("plan_value", JsonObject::asLong);
        }

        /** How many units lie between two runs (1 to 32767), or on which day they are. */
        public Preview planValue(Long value) {
            set("plan_value", value);
            return this;
        }

        public Preview planValue(int value) {
            set("plan_value", value);
            return this;
        }

        /** How often it runs, -1 for ever; required if it repeats. */
        public Long repeat() {
            return read("repeat", JsonObject::asLong);
        }

        /** How often it runs, -1 for ever; required if it repeats. */
        public Preview repeat(Long value) {
            set("repeat", value);
            return this;
        }

        public Preview repeat(int value) {
            set("repeat", value);
            return this;
        }

        /** The IANA zone of its local times. */
        public String timezone() {
            return read("timezone", String::valueOf);
        }

        /** The IANA zone of its local times. */
        public Preview timezone(String value) {
            set("timezone", value);
            return this;
        }
    }

    /** What a client is told when a request was refused. */
    public static final class Problem extends JsonObject {
        public Problem() {}

        public Problem(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Problem also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** A stable word for programs. */
        public String code() {
            return read("code", String::valueOf);
        }

        /** A stable word for programs. */
        public Problem code(String value) {
            set("code", value);
            return this;
        }

        /** What is wrong with this request, and what to do about it. */
        public String detail() {
            return read("detail", String::valueOf);
        }

        /** What is wrong with this request, and what to do about it. */
        public Problem detail(String value) {
            set("detail", value);
            return this;
        }

        /** With status 503: whether the request may have taken effect all the same. */
        public String effect() {
            return read("effect", String::valueOf);
        }

        /** With status 503: whether the request may have taken effect all the same. */
        public Problem effect(String value) {
            set("effect", value);
            return this;
        }

        /** The HTTP status. */
        public long status() {
            return read("status", JsonObject::asLong, 0L);
        }

        /** The HTTP status. */
        public Problem status(Long value) {
            set("status", value);
            return this;
        }

        public Problem status(int value) {
            set("status", value);
            return this;
        }

        /** What the code means, in a few words. */
        public String title() {
            return read("title", String::valueOf);
        }

        /** What the code means, in a few words. */
        public Problem title(String value) {
            set("title", value);
            return this;
        }

        /** A URI for the kind of problem: `urn:punctual:` and the code. */
        public String type() {
            return read("type", String::valueOf);
        }

        /** A URI for the kind of problem: `urn:punctual:` and the code. */
        public Problem type(String value) {
            set("type", value);
            return this;
        }
    }

    /** A queue. */
    public static final class Queue extends JsonObject {
        public Queue() {}

        public Queue(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Queue also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Double abandonAfter() {
            return read("abandon_after", JsonObject::asDouble);
        }

        public Queue abandonAfter(Double value) {
            set("abandon_after", value);
            return this;
        }

        /** What becomes of it then. */
        public Abandoned abandoned() {
            return read("abandoned", it -> Abandoned.of((String) it));
        }

        /** What becomes of it then. */
        public Queue abandoned(Abandoned value) {
            set("abandoned", value);
            return this;
        }

        /** Most tasks held at once; null: unlimited. */
        public Long concurrency() {
            return read("concurrency", JsonObject::asLong);
        }

        /** Most tasks held at once; null: unlimited. */
        public Queue concurrency(Long value) {
            set("concurrency", value);
            return this;
        }

        public Queue concurrency(int value) {
            set("concurrency", value);
            return this;
        }

        /** How long a worker has to confirm. */
        public double confirmWithin() {
            return read("confirm_within", JsonObject::asDouble, 0.0);
        }

        /** How long a worker has to confirm. */
        public Queue confirmWithin(Double value) {
            set("confirm_within", value);
            return this;
        }

        /** What it holds. */
        public Counts counts() {
            return read("counts", it -> new Counts(asMembers(it)));
        }

        /** What it holds. */
        public Queue counts(Counts value) {
            set("counts", value);
            return this;
        }

        /** When it was made. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was made. */
        public Queue createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        /** Headers sent to that target; secret values read as `***`. */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /** Headers sent to that target; secret values read as `***`. */
        public Queue headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        /** How long a taken task is held before it counts as lost. */
        public double hold() {
            return read("hold", JsonObject::asDouble, 0.0);
        }

        /** How long a taken task is held before it counts as lost. */
        public Queue hold(Double value) {
            set("hold", value);
            return this;
        }

        /** How long finished tasks stay readable. */
        public Keep keep() {
            return read("keep", it -> new Keep(asMembers(it)));
        }

        /** How long finished tasks stay readable. */
        public Queue keep(Keep value) {
            set("keep", value);
            return this;
        }

        /** Most live tasks; null: unlimited. */
        public Long max() {
            return read("max", JsonObject::asLong);
        }

        /** Most live tasks; null: unlimited. */
        public Queue max(Long value) {
            set("max", value);
            return this;
        }

        public Queue max(int value) {
            set("max", value);
            return this;
        }

        /** Takes before a task is failed; -1 for no limit. */
        public long maxAttempts() {
            return read("max_attempts", JsonObject::asLong, 0L);
        }

        /** Takes before a task is failed; -1 for no limit. */
        public Queue maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public Queue maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        public Double maxRuntime() {
            return read("max_runtime", JsonObject::asDouble);
        }

        public Queue maxRuntime(Double value) {
            set("max_runtime", value);
            return this;
        }

        /** Who carries out its tasks. */
        public Mode mode() {
            return read("mode", it -> Mode.of((String) it));
        }

        /** Who carries out its tasks. */
        public Queue mode(Mode value) {
            set("mode", value);
            return this;
        }

        /** Its name. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** Its name. */
        public Queue name(String value) {
            set("name", value);
            return this;
        }

        public Double oldestReadyAge() {
            return read("oldest_ready_age", JsonObject::asDouble);
        }

        public Queue oldestReadyAge(Double value) {
            set("oldest_ready_age", value);
            return this;
        }

        /** The order among ready tasks of one priority. */
        public Order order() {
            return read("order", it -> Order.of((String) it));
        }

        /** The order among ready tasks of one priority. */
        public Queue order(Order value) {
            set("order", value);
            return this;
        }

        /** Whether nothing is handed out. */
        public boolean paused() {
            return read("paused", Boolean.class::cast, false);
        }

        /** Whether nothing is handed out. */
        public Queue paused(Boolean value) {
            set("paused", value);
            return this;
        }

        public Rate rate() {
            return read("rate", it -> new Rate(asMembers(it)));
        }

        public Queue rate(Rate value) {
            set("rate", value);
            return this;
        }

        /** When to try again. */
        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        /** When to try again. */
        public Queue retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** `***` if there is one. */
        public String secret() {
            return read("secret", String::valueOf);
        }

        /** `***` if there is one. */
        public Queue secret(String value) {
            set("secret", value);
            return this;
        }

        /** A label to tell queues apart. */
        public String tag() {
            return read("tag", String::valueOf);
        }

        /** A label to tell queues apart. */
        public Queue tag(String value) {
            set("tag", value);
            return this;
        }

        /** The time one delivery may take. */
        public double timeout() {
            return read("timeout", JsonObject::asDouble, 0.0);
        }

        /** The time one delivery may take. */
        public Queue timeout(Double value) {
            set("timeout", value);
            return this;
        }

        /** Target of tasks that name none. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** Target of tasks that name none. */
        public Queue url(String value) {
            set("url", value);
            return this;
        }
    }

    /** How much happened in a queue in each minute of the last hour; the last number is of the one under way. */
    public static final class QueueStats extends JsonObject {
        public QueueStats() {}

        public QueueStats(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public QueueStats also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks that ended well, per step. */
        public List<Long> done() {
            return read("done", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that ended well, per step. */
        public QueueStats done(List<Long> value) {
            set("done", value);
            return this;
        }

        /** Tasks that ended badly, per step. */
        public List<Long> failed() {
            return read("failed", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that ended badly, per step. */
        public QueueStats failed(List<Long> value) {
            set("failed", value);
            return this;
        }

        /** Tasks that came in, per step. */
        public List<Long> pushed() {
            return read("pushed", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that came in, per step. */
        public QueueStats pushed(List<Long> value) {
            set("pushed", value);
            return this;
        }

        /** The queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** The queue. */
        public QueueStats queue(String value) {
            set("queue", value);
            return this;
        }

        /** The length of a step, in seconds. */
        public long step() {
            return read("step", JsonObject::asLong, 0L);
        }

        /** The length of a step, in seconds. */
        public QueueStats step(Long value) {
            set("step", value);
            return this;
        }

        public QueueStats step(int value) {
            set("step", value);
            return this;
        }
    }

    /** A token bucket: bursts of `limit`, refilled evenly over `per`. */
    public static final class Rate extends JsonObject {
        public Rate() {}

        public Rate(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Rate also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks handed out at most. */
        public long limit() {
            return read("limit", JsonObject::asLong, 0L);
        }

        /** Tasks handed out at most. */
        public Rate limit(Long value) {
            set("limit", value);
            return this;
        }

        public Rate limit(int value) {
            set("limit", value);
            return this;
        }

        /** In this time. */
        public Object per() {
            return read("per", it -> it);
        }

        /** In this time. */
        public Rate per(Object value) {
            set("per", value);
            return this;
        }
    }

    /** That the server can do its work. */
    public static final class Ready extends JsonObject {
        public Ready() {}

        public Ready(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Ready also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What an acknowledgement is worth. */
        public String durability() {
            return read("durability", String::valueOf);
        }

        /** What an acknowledgement is worth. */
        public Ready durability(String value) {
            set("durability", value);
            return this;
        }

        /** Always true; if not ready, the answer is 503. */
        public boolean ready() {
            return read("ready", Boolean.class::cast, false);
        }

        /** Always true; if not ready, the answer is 503. */
        public Ready ready(Boolean value) {
            set("ready", value);
            return this;
        }

        /** The kind of store. */
        public String store() {
            return read("store", String::valueOf);
        }

        /** The kind of store. */
        public Ready store(String value) {
            set("store", value);
            return this;
        }
    }

    /** Why a task is not running now. */
    public enum Reason implements JsonObject.Text {
        NOT_DUE("not_due"),
        RETRY_WAIT("retry_wait"),
        PAUSED("paused"),
        QUEUE_PAUSED("queue_paused"),
        CONCURRENCY("concurrency"),
        RATE("rate"),
        NO_TAKER("no_taker"),
        NO_WORKER("no_worker"),
        NO_CAPABLE_WORKER("no_capable_worker"),
        WORKERS_BUSY("workers_busy"),
        TARGET_BUSY("target_busy"),
        DELIVERIES_BUSY("deliveries_busy"),
        TARGET_DOWN("target_down"),
        IN_LINE("in_line"),
        UNCONFIRMED("unconfirmed"),
        RUNNING("running"),
        PAUSING("pausing"),
        CANCELLING("cancelling"),
        FINISHED("finished"),
        WAITING_FOR_STEPS("waiting_for_steps"),
        FLOW_PAUSED("flow_paused"),
        FLOW_STOPPED("flow_stopped"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Reason of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** Given back. */
    public static final class Release extends JsonObject {
        public Release() {}

        public Release(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Release also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What its next holder needs to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder needs to go on. */
        public Release checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        public Object delay() {
            return read("delay", it -> it);
        }

        public Release delay(Object value) {
            set("delay", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public Release token(String value) {
            set("token", value);
            return this;
        }
    }

    /** Given back. */
    public static final class ReleaseItem extends JsonObject {
        public ReleaseItem() {}

        public ReleaseItem(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public ReleaseItem also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What its next holder needs to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder needs to go on. */
        public ReleaseItem checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        public Object delay() {
            return read("delay", it -> it);
        }

        public ReleaseItem delay(Object value) {
            set("delay", value);
            return this;
        }

        /** The task's id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The task's id. */
        public ReleaseItem id(String value) {
            set("id", value);
            return this;
        }

        /** The token the take answered. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The token the take answered. */
        public ReleaseItem token(String value) {
            set("token", value);
            return this;
        }
    }

    /** The answer to one item of a batch. */
    public static final class Result extends JsonObject {
        public Result() {}

        public Result(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Result also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Of an extend: whether the holder is asked to stop for good. */
        public Boolean cancel() {
            return read("cancel", Boolean.class::cast);
        }

        /** Of an extend: whether the holder is asked to stop for good. */
        public Result cancel(Boolean value) {
            set("cancel", value);
            return this;
        }

        /** Why it was not, for programs. */
        public String code() {
            return read("code", String::valueOf);
        }

        /** Why it was not, for programs. */
        public Result code(String value) {
            set("code", value);
            return this;
        }

        /** Why it was not, for people. */
        public String detail() {
            return read("detail", String::valueOf);
        }

        /** Why it was not, for people. */
        public Result detail(String value) {
            set("detail", value);
            return this;
        }

        /** Of an extend: when the hold ends now. */
        public Instant holdUntil() {
            return read("hold_until", JsonObject::asTime);
        }

        /** Of an extend: when the hold ends now. */
        public Result holdUntil(Instant value) {
            set("hold_until", value);
            return this;
        }

        /** The task's id, if the item has one; one that is malformed as it was sent. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** The task's id, if the item has one; one that is malformed as it was sent. */
        public Result id(String value) {
            set("id", value);
            return this;
        }

        /** Whether it was carried out. */
        public boolean ok() {
            return read("ok", Boolean.class::cast, false);
        }

        /** Whether it was carried out. */
        public Result ok(Boolean value) {
            set("ok", value);
            return this;
        }

        /** Of an extend: whether the holder is asked to set the task aside. */
        public Boolean pause() {
            return read("pause", Boolean.class::cast);
        }

        /** Of an extend: whether the holder is asked to set the task aside. */
        public Result pause(Boolean value) {
            set("pause", value);
            return this;
        }
    }

    /** The answers of a batch. */
    public static final class Results extends JsonObject {
        public Results() {}

        public Results(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Results also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** One per item, in the order of the request. */
        public List<Result> results() {
            return read("results", it -> asList(it, it1 -> new Result(asMembers(it1))));
        }

        /** One per item, in the order of the request. */
        public Results results(List<Result> value) {
            set("results", value);
            return this;
        }
    }

    /** When to try again: either `intervals`, or the rest. */
    public static final class Retry extends JsonObject {
        public Retry() {}

        public Retry(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Retry also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** By how much each wait is longer than the one before, 1 to 1000. */
        public Double factor() {
            return read("factor", JsonObject::asDouble);
        }

        /** By how much each wait is longer than the one before, 1 to 1000. */
        public Retry factor(Double value) {
            set("factor", value);
            return this;
        }

        public Object first() {
            return read("first", it -> it);
        }

        public Retry first(Object value) {
            set("first", value);
            return this;
        }

        /** One wait after another; the last repeats. */
        public List<Object> intervals() {
            return read("intervals", it -> asList(it, it1 -> it1));
        }

        /** One wait after another; the last repeats. */
        public Retry intervals(List<Object> value) {
            set("intervals", value);
            return this;
        }

        /** Each wait is up to this share shorter or longer, at random, 0 to 1. */
        public Double jitter() {
            return read("jitter", JsonObject::asDouble);
        }

        /** Each wait is up to this share shorter or longer, at random, 0 to 1. */
        public Retry jitter(Double value) {
            set("jitter", value);
            return this;
        }

        public Object max() {
            return read("max", it -> it);
        }

        public Retry max(Object value) {
            set("max", value);
            return this;
        }
    }

    /** How to try again. */
    public static final class RetryNow extends JsonObject {
        public RetryNow() {}

        public RetryNow(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public RetryNow also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Also if it is running: its holder's token goes stale. */
        public Boolean force() {
            return read("force", Boolean.class::cast);
        }

        /** Also if it is running: its holder's token goes stale. */
        public RetryNow force(Boolean value) {
            set("force", value);
            return this;
        }
    }

    /** What a token may be good for. */
    public enum Right implements JsonObject.Text {
        READ("read"),
        PRODUCE("produce"),
        CONSUME("consume"),
        ADMIN("admin"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Right(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Right of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** A plan's rule. */
    public static final class RuleView extends JsonObject {
        public RuleView() {}

        public RuleView(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public RuleView also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The pattern of a rule of type cron. */
        public String cron() {
            return read("cron", String::valueOf);
        }

        /** The pattern of a rule of type cron. */
        public RuleView cron(String value) {
            set("cron", value);
            return this;
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public Boolean noKeep() {
            return read("no_keep", Boolean.class::cast);
        }

        /** Whether occurrences that are past are kept instead of skipped. */
        public RuleView noKeep(Boolean value) {
            set("no_keep", value);
            return this;
        }

        /** Another name of `repeat`. */
        public Long planRepet() {
            return read("plan_repet", JsonObject::asLong);
        }

        /** Another name of `repeat`. */
        public RuleView planRepet(Long value) {
            set("plan_repet", value);
            return this;
        }

        public RuleView planRepet(int value) {
            set("plan_repet", value);
            return this;
        }

        /** When it is due, from when it repeats, or at which time of day; 0: not given. */
        public Object planTime() {
            return read("plan_time", it -> it);
        }

        /** When it is due, from when it repeats, or at which time of day; 0: not given. */
        public RuleView planTime(Object value) {
            set("plan_time", value);
            return this;
        }

        /** What kind of rule it is. */
        public PlanType planType() {
            return read("plan_type", it -> PlanType.of((String) it));
        }

        /** What kind of rule it is. */
        public RuleView planType(PlanType value) {
            set("plan_type", value);
            return this;
        }

        /** How many units lie between two runs, or on which day they are. */
        public Long planValue() {
            return read("plan_value", JsonObject::asLong);
        }

        /** How many units lie between two runs, or on which day they are. */
        public RuleView planValue(Long value) {
            set("plan_value", value);
            return this;
        }

        public RuleView planValue(int value) {
            set("plan_value", value);
            return this;
        }

        /** How often it runs; -1 for ever. */
        public Long repeat() {
            return read("repeat", JsonObject::asLong);
        }

        /** How often it runs; -1 for ever. */
        public RuleView repeat(Long value) {
            set("repeat", value);
            return this;
        }

        public RuleView repeat(int value) {
            set("repeat", value);
            return this;
        }

        /** The zone of its local times. */
        public String timezone() {
            return read("timezone", String::valueOf);
        }

        /** The zone of its local times. */
        public RuleView timezone(String value) {
            set("timezone", value);
            return this;
        }
    }

    /** How many workers a queue has and needs. */
    public static final class Scale extends JsonObject {
        public Scale() {}

        public Scale(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Scale also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks that are ready and wait for a worker. */
        public long backlog() {
            return read("backlog", JsonObject::asLong, 0L);
        }

        /** Tasks that are ready and wait for a worker. */
        public Scale backlog(Long value) {
            set("backlog", value);
            return this;
        }

        public Scale backlog(int value) {
            set("backlog", value);
            return this;
        }

        /**
         * Workers it takes to keep up with what arrives and to work off the backlog within a minute, by the
         * rates of about the last minute. 1 until a task has been worked on; 0 if idle.
         */
        public long desiredWorkers() {
            return read("desired_workers", JsonObject::asLong, 0L);
        }

        /**
         * Workers it takes to keep up with what arrives and to work off the backlog within a minute, by the
         * rates of about the last minute. 1 until a task has been worked on; 0 if idle.
         */
        public Scale desiredWorkers(Long value) {
            set("desired_workers", value);
            return this;
        }

        public Scale desiredWorkers(int value) {
            set("desired_workers", value);
            return this;
        }

        /**
         * Workers that took, waited or reported within the last 90 seconds; if none has given its name, tasks
         * held and takers waiting.
         */
        public long workers() {
            return read("workers", JsonObject::asLong, 0L);
        }

        /**
         * Workers that took, waited or reported within the last 90 seconds; if none has given its name, tasks
         * held and takers waiting.
         */
        public Scale workers(Long value) {
            set("workers", value);
            return this;
        }

        public Scale workers(int value) {
            set("workers", value);
            return this;
        }
    }

    /** A notice that was sent. */
    public static final class SentNotice extends JsonObject {
        public SentNotice() {}

        public SentNotice(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public SentNotice also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The first 4 KiB of the answer. */
        public String answer() {
            return read("answer", String::valueOf);
        }

        /** The first 4 KiB of the answer. */
        public SentNotice answer(String value) {
            set("answer", value);
            return this;
        }

        /** When. */
        public Instant at() {
            return read("at", JsonObject::asTime);
        }

        /** When. */
        public SentNotice at(Instant value) {
            set("at", value);
            return this;
        }

        /** When that came to an end. */
        public Instant endedAt() {
            return read("ended_at", JsonObject::asTime);
        }

        /** When that came to an end. */
        public SentNotice endedAt(Instant value) {
            set("ended_at", value);
            return this;
        }

        /** What went wrong; null for a success. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong; null for a success. */
        public SentNotice error(String value) {
            set("error", value);
            return this;
        }

        public Exchange http() {
            return read("http", it -> new Exchange(asMembers(it)));
        }

        public SentNotice http(Exchange value) {
            set("http", value);
            return this;
        }

        /** The HTTP status that was answered. */
        public Long status() {
            return read("status", JsonObject::asLong);
        }

        /** The HTTP status that was answered. */
        public SentNotice status(Long value) {
            set("status", value);
            return this;
        }

        public SentNotice status(int value) {
            set("status", value);
            return this;
        }
    }

    /** A setting that holds. */
    public static final class Setting extends JsonObject {
        public Setting() {}

        public Setting(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Setting also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Its name, as in the file of settings. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** Its name, as in the file of settings. */
        public Setting name(String value) {
            set("name", value);
            return this;
        }

        /** Where it comes from. */
        public Source source() {
            return read("source", it -> Source.of((String) it));
        }

        /** Where it comes from. */
        public Setting source(Source value) {
            set("source", value);
            return this;
        }

        /** Its value; null: none. What is secret is `"***"`. */
        public Object value() {
            return read("value", it -> it);
        }

        /** Its value; null: none. What is secret is `"***"`. */
        public Setting value(Object value) {
            set("value", value);
            return this;
        }
    }

    /** What can be set about a queue. What is left out stays, `null` sets it back. */
    public static final class Settings extends JsonObject {
        public Settings() {}

        public Settings(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Settings also(String name, Object value) {
            set(name, value);
            return this;
        }

        public Object abandonAfter() {
            return read("abandon_after", it -> it);
        }

        public Settings abandonAfter(Object value) {
            set("abandon_after", value);
            return this;
        }

        public Abandoned abandoned() {
            return read("abandoned", it -> Abandoned.of((String) it));
        }

        public Settings abandoned(Abandoned value) {
            set("abandoned", value);
            return this;
        }

        /** Most tasks held at once; unlimited. */
        public Long concurrency() {
            return read("concurrency", JsonObject::asLong);
        }

        /** Most tasks held at once; unlimited. */
        public Settings concurrency(Long value) {
            set("concurrency", value);
            return this;
        }

        public Settings concurrency(int value) {
            set("concurrency", value);
            return this;
        }

        public Object confirmWithin() {
            return read("confirm_within", it -> it);
        }

        public Settings confirmWithin(Object value) {
            set("confirm_within", value);
            return this;
        }

        /** Headers sent to that target. */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /** Headers sent to that target. */
        public Settings headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public Settings hold(Object value) {
            set("hold", value);
            return this;
        }

        public Keep keep() {
            return read("keep", it -> new Keep(asMembers(it)));
        }

        public Settings keep(Keep value) {
            set("keep", value);
            return this;
        }

        /** Most live tasks; unlimited. */
        public Long max() {
            return read("max", JsonObject::asLong);
        }

        /** Most live tasks; unlimited. */
        public Settings max(Long value) {
            set("max", value);
            return this;
        }

        public Settings max(int value) {
            set("max", value);
            return this;
        }

        /** Takes before a task is failed, -1 for no limit; 5. */
        public Long maxAttempts() {
            return read("max_attempts", JsonObject::asLong);
        }

        /** Takes before a task is failed, -1 for no limit; 5. */
        public Settings maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public Settings maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        public Object maxRuntime() {
            return read("max_runtime", it -> it);
        }

        public Settings maxRuntime(Object value) {
            set("max_runtime", value);
            return this;
        }

        public Mode mode() {
            return read("mode", it -> Mode.of((String) it));
        }

        public Settings mode(Mode value) {
            set("mode", value);
            return this;
        }

        public Order order() {
            return read("order", it -> Order.of((String) it));
        }

        public Settings order(Order value) {
            set("order", value);
            return this;
        }

        public Rate rate() {
            return read("rate", it -> new Rate(asMembers(it)));
        }

        public Settings rate(Rate value) {
            set("rate", value);
            return this;
        }

        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        public Settings retry(Retry value) {
            set("retry", value);
            return this;
        }

        public Object secret() {
            return read("secret", it -> it);
        }

        public Settings secret(Object value) {
            set("secret", value);
            return this;
        }

        /** A label to tell queues apart. */
        public String tag() {
            return read("tag", String::valueOf);
        }

        /** A label to tell queues apart. */
        public Settings tag(String value) {
            set("tag", value);
            return this;
        }

        public Object timeout() {
            return read("timeout", it -> it);
        }

        public Settings timeout(Object value) {
            set("timeout", value);
            return this;
        }

        /** Target of tasks that name none. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** Target of tasks that name none. */
        public Settings url(String value) {
            set("url", value);
            return this;
        }
    }

    /** How many occurrences to pass over. */
    public static final class Skip extends JsonObject {
        public Skip() {}

        public Skip(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Skip also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many, 1 to 1000. */
        public Long n() {
            return read("n", JsonObject::asLong);
        }

        /** How many, 1 to 1000. */
        public Skip n(Long value) {
            set("n", value);
            return this;
        }

        public Skip n(int value) {
            set("n", value);
            return this;
        }
    }

    /** Where a setting comes from. */
    public enum Source implements JsonObject.Text {
        DEFAULT("default"),
        FILE("file"),
        ENVIRONMENT("environment"),
        FLAG("flag"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        Source(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static Source of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** Where a task stands. */
    public enum State implements JsonObject.Text {
        WAITING("waiting"),
        READY("ready"),
        ASSIGNED("assigned"),
        RUNNING("running"),
        PAUSING("pausing"),
        CANCELLING("cancelling"),
        PAUSED("paused"),
        DONE("done"),
        FAILED("failed"),
        CANCELLED("cancelled"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        State(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static State of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }

    /** How much happened in each ten seconds of the last hour; the last number is of those under way. */
    public static final class Stats extends JsonObject {
        public Stats() {}

        public Stats(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Stats also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks that ended well, per step. */
        public List<Long> done() {
            return read("done", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that ended well, per step. */
        public Stats done(List<Long> value) {
            set("done", value);
            return this;
        }

        /** Tasks that ended badly, per step. */
        public List<Long> failed() {
            return read("failed", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that ended badly, per step. */
        public Stats failed(List<Long> value) {
            set("failed", value);
            return this;
        }

        /** When the first step began. */
        public String from() {
            return read("from", String::valueOf);
        }

        /** When the first step began. */
        public Stats from(String value) {
            set("from", value);
            return this;
        }

        /** Tasks that came in, per step. */
        public List<Long> pushed() {
            return read("pushed", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that came in, per step. */
        public Stats pushed(List<Long> value) {
            set("pushed", value);
            return this;
        }

        /** The length of a step, in seconds. */
        public long step() {
            return read("step", JsonObject::asLong, 0L);
        }

        /** The length of a step, in seconds. */
        public Stats step(Long value) {
            set("step", value);
            return this;
        }

        public Stats step(int value) {
            set("step", value);
            return this;
        }

        /** Tasks that were handed out, per step. */
        public List<Long> taken() {
            return read("taken", it -> asList(it, JsonObject::asLong));
        }

        /** Tasks that were handed out, per step. */
        public Stats taken(List<Long> value) {
            set("taken", value);
            return this;
        }
    }

    /** The policy with a number. */
    public static final class StopAfter extends JsonObject {
        public StopAfter() {}

        public StopAfter(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public StopAfter also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** How many runs have to fail in a row. */
        public long stopAfter() {
            return read("stop_after", JsonObject::asLong, 0L);
        }

        /** How many runs have to fail in a row. */
        public StopAfter stopAfter(Long value) {
            set("stop_after", value);
            return this;
        }

        public StopAfter stopAfter(int value) {
            set("stop_after", value);
            return this;
        }
    }

    /** The store of a server. */
    public static final class StoreState extends JsonObject {
        public StoreState() {}

        public StoreState(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public StoreState also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Whether it can be read and written now. */
        public boolean available() {
            return read("available", Boolean.class::cast, false);
        }

        /** Whether it can be read and written now. */
        public StoreState available(Boolean value) {
            set("available", value);
            return this;
        }

        /** About how many bytes it takes: its files, or what Redis says it uses; null if that is not known. */
        public Long bytes() {
            return read("bytes", JsonObject::asLong);
        }

        /** About how many bytes it takes: its files, or what Redis says it uses; null if that is not known. */
        public StoreState bytes(Long value) {
            set("bytes", value);
            return this;
        }

        public StoreState bytes(int value) {
            set("bytes", value);
            return this;
        }

        /** What an acknowledgement is worth. */
        public String durability() {
            return read("durability", String::valueOf);
        }

        /** What an acknowledgement is worth. */
        public StoreState durability(String value) {
            set("durability", value);
            return this;
        }

        /** Its kind. */
        public String kind() {
            return read("kind", String::valueOf);
        }

        /** Its kind. */
        public StoreState kind(String value) {
            set("kind", value);
            return this;
        }

        /** Why it cannot. */
        public String problem() {
            return read("problem", String::valueOf);
        }

        /** Why it cannot. */
        public StoreState problem(String value) {
            set("problem", value);
            return this;
        }

        /** How many queues it has; null while it cannot be read. */
        public Long queues() {
            return read("queues", JsonObject::asLong);
        }

        /** How many queues it has; null while it cannot be read. */
        public StoreState queues(Long value) {
            set("queues", value);
            return this;
        }

        public StoreState queues(int value) {
            set("queues", value);
            return this;
        }
    }

    /** What counts as success. Both must hold. */
    public static final class Success extends JsonObject {
        public Success() {}

        public Success(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Success also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** A text the answer must contain, in its first MiB. */
        public String contains() {
            return read("contains", String::valueOf);
        }

        /** A text the answer must contain, in its first MiB. */
        public Success contains(String value) {
            set("contains", value);
            return this;
        }

        public Object status() {
            return read("status", it -> it);
        }

        public Success status(Object value) {
            set("status", value);
            return this;
        }
    }

    /** The server, its store, and the servers it shares that with. */
    public static final class SystemType extends JsonObject {
        public SystemType() {}

        public SystemType(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public SystemType also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Whether that clock can be moved. */
        public boolean dev() {
            return read("dev", Boolean.class::cast, false);
        }

        /** Whether that clock can be moved. */
        public SystemType dev(Boolean value) {
            set("dev", value);
            return this;
        }

        /** The servers that share it, by when they started. One that ended without a word stays for an hour. */
        public List<Node> nodes() {
            return read("nodes", it -> asList(it, it1 -> new Node(asMembers(it1))));
        }

        /** The servers that share it, by when they started. One that ended without a word stays for an hour. */
        public SystemType nodes(List<Node> value) {
            set("nodes", value);
            return this;
        }

        /** What time it is by the store's clock. */
        public Instant now() {
            return read("now", JsonObject::asTime);
        }

        /** What time it is by the store's clock. */
        public SystemType now(Instant value) {
            set("now", value);
            return this;
        }

        /** When it began to serve. */
        public Instant startedAt() {
            return read("started_at", JsonObject::asTime);
        }

        /** When it began to serve. */
        public SystemType startedAt(Instant value) {
            set("started_at", value);
            return this;
        }

        /** The store. */
        public StoreState store() {
            return read("store", it -> new StoreState(asMembers(it)));
        }

        /** The store. */
        public SystemType store(StoreState value) {
            set("store", value);
            return this;
        }

        /** The version of this server. */
        public String version() {
            return read("version", String::valueOf);
        }

        /** The version of this server. */
        public SystemType version(String value) {
            set("version", value);
            return this;
        }
    }

    /** What a worker asks for. */
    public static final class Take extends JsonObject {
        public Take() {}

        public Take(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Take also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Tasks it is done with; these commits stand whatever becomes of the take. */
        public List<CommitItem> commit() {
            return read("commit", it -> asList(it, it1 -> new CommitItem(asMembers(it1))));
        }

        /** Tasks it is done with; these commits stand whatever becomes of the take. */
        public Take commit(List<CommitItem> value) {
            set("commit", value);
            return this;
        }

        /** Whether it will confirm what it gets. */
        public Boolean confirm() {
            return read("confirm", Boolean.class::cast);
        }

        /** Whether it will confirm what it gets. */
        public Take confirm(Boolean value) {
            set("confirm", value);
            return this;
        }

        public Object hold() {
            return read("hold", it -> it);
        }

        public Take hold(Object value) {
            set("hold", value);
            return this;
        }

        /** How many tasks at most, 1 to 1000. */
        public Long n() {
            return read("n", JsonObject::asLong);
        }

        /** How many tasks at most, 1 to 1000. */
        public Take n(Long value) {
            set("n", value);
            return this;
        }

        public Take n(int value) {
            set("n", value);
            return this;
        }

        public Object wait_() {
            return read("wait", it -> it);
        }

        public Take wait_(Object value) {
            set("wait", value);
            return this;
        }

        /** Its name. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Its name. */
        public Take worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** What a worker gets. */
    public static final class Taken extends JsonObject {
        public Taken() {}

        public Taken(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Taken also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The answers to `commit`. */
        public List<Result> committed() {
            return read("committed", it -> asList(it, it1 -> new Result(asMembers(it1))));
        }

        /** The answers to `commit`. */
        public Taken committed(List<Result> value) {
            set("committed", value);
            return this;
        }

        /** The tasks, each with its token. */
        public List<Task> tasks() {
            return read("tasks", it -> asList(it, it1 -> new Task(asMembers(it1))));
        }

        /** The tasks, each with its token. */
        public Taken tasks(List<Task> value) {
            set("tasks", value);
            return this;
        }
    }

    /** A task. */
    public static final class Task extends JsonObject {
        public Task() {}

        public Task(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Task also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Times taken. */
        public long attempt() {
            return read("attempt", JsonObject::asLong, 0L);
        }

        /** Times taken. */
        public Task attempt(Long value) {
            set("attempt", value);
            return this;
        }

        public Task attempt(int value) {
            set("attempt", value);
            return this;
        }

        /** The task to make when it ends; values of secret headers read as `***`. */
        public Callback callback() {
            return read("callback", it -> new Callback(asMembers(it)));
        }

        /** The task to make when it ends; values of secret headers read as `***`. */
        public Task callback(Callback value) {
            set("callback", value);
            return this;
        }

        /** What its next holder needs to go on. */
        public Object checkpoint() {
            return read("checkpoint", it -> it);
        }

        /** What its next holder needs to go on. */
        public Task checkpoint(Object value) {
            set("checkpoint", value);
            return this;
        }

        /** When it was pushed. */
        public Instant createdAt() {
            return read("created_at", JsonObject::asTime);
        }

        /** When it was pushed. */
        public Task createdAt(Instant value) {
            set("created_at", value);
            return this;
        }

        /** When it is due, or its next attempt is. */
        public Instant dueAt() {
            return read("due_at", JsonObject::asTime);
        }

        /** When it is due, or its next attempt is. */
        public Task dueAt(Instant value) {
            set("due_at", value);
            return this;
        }

        /** What went wrong last. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong last. */
        public Task error(String value) {
            set("error", value);
            return this;
        }

        /** The time by which it must have started; else it fails. */
        public Instant expires() {
            return read("expires", JsonObject::asTime);
        }

        /** The time by which it must have started; else it fails. */
        public Task expires(Instant value) {
            set("expires", value);
            return this;
        }

        public Instant finishedAt() {
            return read("finished_at", JsonObject::asTime);
        }

        public Task finishedAt(Instant value) {
            set("finished_at", value);
            return this;
        }

        public FlowPart flow() {
            return read("flow", it -> new FlowPart(asMembers(it)));
        }

        public Task flow(FlowPart value) {
            set("flow", value);
            return this;
        }

        /** The last 20 attempts, oldest first. */
        public List<Attempt> history() {
            return read("history", it -> asList(it, it1 -> new Attempt(asMembers(it1))));
        }

        /** The last 20 attempts, oldest first. */
        public Task history(List<Attempt> value) {
            set("history", value);
            return this;
        }

        /** Its own hold, where that is not the queue's. */
        public Double hold() {
            return read("hold", JsonObject::asDouble);
        }

        /** Its own hold, where that is not the queue's. */
        public Task hold(Double value) {
            set("hold", value);
            return this;
        }

        public Instant holdUntil() {
            return read("hold_until", JsonObject::asTime);
        }

        public Task holdUntil(Instant value) {
            set("hold_until", value);
            return this;
        }

        /** Where it is delivered, if it says so itself; values of secret headers read as `***`. */
        public TaskHttp http() {
            return read("http", it -> new TaskHttp(asMembers(it)));
        }

        /** Where it is delivered, if it says so itself; values of secret headers read as `***`. */
        public Task http(TaskHttp value) {
            set("http", value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public Task id(String value) {
            set("id", value);
            return this;
        }

        /** Takes before it is failed; -1 for no limit. */
        public long maxAttempts() {
            return read("max_attempts", JsonObject::asLong, 0L);
        }

        /** Takes before it is failed; -1 for no limit. */
        public Task maxAttempts(Long value) {
            set("max_attempts", value);
            return this;
        }

        public Task maxAttempts(int value) {
            set("max_attempts", value);
            return this;
        }

        /** The longest one attempt may hold it, if it says so itself. */
        public Double maxRuntime() {
            return read("max_runtime", JsonObject::asDouble);
        }

        /** The longest one attempt may hold it, if it says so itself. */
        public Task maxRuntime(Double value) {
            set("max_runtime", value);
            return this;
        }

        /** What its holder last said. */
        public String message() {
            return read("message", String::valueOf);
        }

        /** What its holder last said. */
        public Task message(String value) {
            set("message", value);
            return this;
        }

        /** What was pushed; not in a list that asks for less. */
        public Object payload() {
            return read("payload", it -> it);
        }

        /** What was pushed; not in a list that asks for less. */
        public Task payload(Object value) {
            set("payload", value);
            return this;
        }

        /** The first 200 characters of the payload's JSON text, in a list with `payload=preview`. */
        public String payloadPreview() {
            return read("payload_preview", String::valueOf);
        }

        /** The first 200 characters of the payload's JSON text, in a list with `payload=preview`. */
        public Task payloadPreview(String value) {
            set("payload_preview", value);
            return this;
        }

        /** The plan it is a run of. */
        public Object plan() {
            return read("plan", it -> it);
        }

        /** The plan it is a run of. */
        public Task plan(Object value) {
            set("plan", value);
            return this;
        }

        /** Higher goes first. */
        public long priority() {
            return read("priority", JsonObject::asLong, 0L);
        }

        /** Higher goes first. */
        public Task priority(Long value) {
            set("priority", value);
            return this;
        }

        public Task priority(int value) {
            set("priority", value);
            return this;
        }

        /** How far it is, from 0 to 1. */
        public Double progress() {
            return read("progress", JsonObject::asDouble);
        }

        /** How far it is, from 0 to 1. */
        public Task progress(Double value) {
            set("progress", value);
            return this;
        }

        /** Its queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** Its queue. */
        public Task queue(String value) {
            set("queue", value);
            return this;
        }

        /** Capabilities its worker must have. */
        public List<String> requires() {
            return read("requires", it -> asList(it, String::valueOf));
        }

        /** Capabilities its worker must have. */
        public Task requires(List<String> value) {
            set("requires", value);
            return this;
        }

        /** What it came to. */
        public Object result() {
            return read("result", it -> it);
        }

        /** What it came to. */
        public Task result(Object value) {
            set("result", value);
            return this;
        }

        /** Its own waits between attempts, where they are not the queue's. */
        public Retry retry() {
            return read("retry", it -> new Retry(asMembers(it)));
        }

        /** Its own waits between attempts, where they are not the queue's. */
        public Task retry(Retry value) {
            set("retry", value);
            return this;
        }

        /** Where it stands. */
        public State state() {
            return read("state", it -> State.of((String) it));
        }

        /** Where it stands. */
        public Task state(State value) {
            set("state", value);
            return this;
        }

        /** Labels. */
        public List<String> tags() {
            return read("tags", it -> asList(it, String::valueOf));
        }

        /** Labels. */
        public Task tags(List<String> value) {
            set("tags", value);
            return this;
        }

        public Instant takenAt() {
            return read("taken_at", JsonObject::asTime);
        }

        public Task takenAt(Instant value) {
            set("taken_at", value);
            return this;
        }

        /** The holder's token; only in the answer to its take. */
        public String token() {
            return read("token", String::valueOf);
        }

        /** The holder's token; only in the answer to its take. */
        public Task token(String value) {
            set("token", value);
            return this;
        }

        /** The span it was pushed in, if it belongs to a trace: carry it on. */
        public String traceparent() {
            return read("traceparent", String::valueOf);
        }

        /** The span it was pushed in, if it belongs to a trace: carry it on. */
        public Task traceparent(String value) {
            set("traceparent", value);
            return this;
        }

        /** How long its id stays reserved after its end. */
        public Double uniqueFor() {
            return read("unique_for", JsonObject::asDouble);
        }

        /** How long its id stays reserved after its end. */
        public Task uniqueFor(Double value) {
            set("unique_for", value);
            return this;
        }

        /** Its worker, while held and after the end. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Its worker, while held and after the end. */
        public Task worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** Where and how a task is delivered, as it was pushed. */
    public static final class TaskHttp extends JsonObject {
        public TaskHttp() {}

        public TaskHttp(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public TaskHttp also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What is sent instead of the payload. */
        public Object body() {
            return read("body", it -> it);
        }

        /** What is sent instead of the payload. */
        public TaskHttp body(Object value) {
            set("body", value);
            return this;
        }

        /** The type of what is sent. */
        public String contentType() {
            return read("content_type", String::valueOf);
        }

        /** The type of what is sent. */
        public TaskHttp contentType(String value) {
            set("content_type", value);
            return this;
        }

        /** Whether redirects are followed. */
        public boolean followRedirects() {
            return read("follow_redirects", Boolean.class::cast, false);
        }

        /** Whether redirects are followed. */
        public TaskHttp followRedirects(Boolean value) {
            set("follow_redirects", value);
            return this;
        }

        /** Headers it is sent with; values of secret ones read as `***`. */
        public Map<String, String> headers() {
            return read("headers", it -> asMap(it, String::valueOf));
        }

        /** Headers it is sent with; values of secret ones read as `***`. */
        public TaskHttp headers(Map<String, String> value) {
            set("headers", value);
            return this;
        }

        public Method method() {
            return read("method", it -> Method.of((String) it));
        }

        public TaskHttp method(Method value) {
            set("method", value);
            return this;
        }

        public Success success() {
            return read("success", it -> new Success(asMembers(it)));
        }

        public TaskHttp success(Success value) {
            set("success", value);
            return this;
        }

        public Double timeout() {
            return read("timeout", JsonObject::asDouble);
        }

        public TaskHttp timeout(Double value) {
            set("timeout", value);
            return this;
        }

        /** The target; null: the queue's. */
        public String url() {
            return read("url", String::valueOf);
        }

        /** The target; null: the queue's. */
        public TaskHttp url(String value) {
            set("url", value);
            return this;
        }
    }

    /** Which task. */
    public static final class TaskName extends JsonObject {
        public TaskName() {}

        public TaskName(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public TaskName also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** Its id. */
        public String id() {
            return read("id", String::valueOf);
        }

        /** Its id. */
        public TaskName id(String value) {
            set("id", value);
            return this;
        }

        /** Its queue. */
        public String queue() {
            return read("queue", String::valueOf);
        }

        /** Its queue. */
        public TaskName queue(String value) {
            set("queue", value);
            return this;
        }
    }

    /** A token, without what it is. */
    public static final class Token extends JsonObject {
        public Token() {}

        public Token(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Token also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** The first 8 hexadecimal digits of its SHA-256. */
        public String hash() {
            return read("hash", String::valueOf);
        }

        /** The first 8 hexadecimal digits of its SHA-256. */
        public Token hash(String value) {
            set("hash", value);
            return this;
        }

        /** The queues they hold for; null: for all. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues they hold for; null: for all. */
        public Token queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** Its rights. */
        public List<Right> rights() {
            return read("rights", it -> asList(it, it1 -> Right.of((String) it1)));
        }

        /** Its rights. */
        public Token rights(List<Right> value) {
            set("rights", value);
            return this;
        }
    }

    /** The tokens of a server. */
    public static final class Tokens extends JsonObject {
        public Tokens() {}

        public Tokens(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Tokens also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** In the order of the settings. */
        public List<Token> items() {
            return read("items", it -> asList(it, it1 -> new Token(asMembers(it1))));
        }

        /** In the order of the settings. */
        public Tokens items(List<Token> value) {
            set("items", value);
            return this;
        }
    }

    /** What queues hold together. */
    public static final class Totals extends JsonObject {
        public Totals() {}

        public Totals(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Totals also(String name, Object value) {
            set(name, value);
            return this;
        }

        /**
         * Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold
         * nothing.
         */
        public List<Queue> busiest() {
            return read("busiest", it -> asList(it, it1 -> new Queue(asMembers(it1))));
        }

        /**
         * Those that hold most tasks that have not ended, most first: at most 5. One that is paused may hold
         * nothing.
         */
        public Totals busiest(List<Queue> value) {
            set("busiest", value);
            return this;
        }

        /** What they hold. */
        public Counts counts() {
            return read("counts", it -> new Counts(asMembers(it)));
        }

        /** What they hold. */
        public Totals counts(Counts value) {
            set("counts", value);
            return this;
        }

        public Double oldestReadyAge() {
            return read("oldest_ready_age", JsonObject::asDouble);
        }

        public Totals oldestReadyAge(Double value) {
            set("oldest_ready_age", value);
            return this;
        }

        /** Its queue. */
        public String oldestReadyQueue() {
            return read("oldest_ready_queue", String::valueOf);
        }

        /** Its queue. */
        public Totals oldestReadyQueue(String value) {
            set("oldest_ready_queue", value);
            return this;
        }

        /** How many of them are paused. */
        public long paused() {
            return read("paused", JsonObject::asLong, 0L);
        }

        /** How many of them are paused. */
        public Totals paused(Long value) {
            set("paused", value);
            return this;
        }

        public Totals paused(int value) {
            set("paused", value);
            return this;
        }

        /** How many queues there are. */
        public long queues() {
            return read("queues", JsonObject::asLong, 0L);
        }

        /** How many queues there are. */
        public Totals queues(Long value) {
            set("queues", value);
            return this;
        }

        public Totals queues(int value) {
            set("queues", value);
            return this;
        }
    }

    /** Why a task is not running now. */
    public static final class Why extends JsonObject {
        public Why() {}

        public Why(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Why also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What went wrong last. */
        public String error() {
            return read("error", String::valueOf);
        }

        /** What went wrong last. */
        public Why error(String value) {
            set("error", value);
            return this;
        }

        /** The limit that keeps it. */
        public Long limit() {
            return read("limit", JsonObject::asLong);
        }

        /** The limit that keeps it. */
        public Why limit(Long value) {
            set("limit", value);
            return this;
        }

        public Why limit(int value) {
            set("limit", value);
            return this;
        }

        /** Ready tasks of the queue, this one among them. */
        public Long ready() {
            return read("ready", JsonObject::asLong);
        }

        /** Ready tasks of the queue, this one among them. */
        public Why ready(Long value) {
            set("ready", value);
            return this;
        }

        public Why ready(int value) {
            set("ready", value);
            return this;
        }

        /** A word for programs. */
        public Reason reason() {
            return read("reason", it -> Reason.of((String) it));
        }

        /** A word for programs. */
        public Why reason(Reason value) {
            set("reason", value);
            return this;
        }

        /** Where it stands: a task's state, or `pending` for a step of a flow that is no task yet. */
        public String state() {
            return read("state", String::valueOf);
        }

        /** Where it stands: a task's state, or `pending` for a step of a flow that is no task yet. */
        public Why state(String value) {
            set("state", value);
            return this;
        }

        /** One sentence. */
        public String text() {
            return read("text", String::valueOf);
        }

        /** One sentence. */
        public Why text(String value) {
            set("text", value);
            return this;
        }

        /** When that changes by itself. */
        public Instant until() {
            return read("until", JsonObject::asTime);
        }

        /** When that changes by itself. */
        public Why until(Instant value) {
            set("until", value);
            return this;
        }

        /** The steps of its flow that must be done first. */
        public List<String> waitingFor() {
            return read("waiting_for", it -> asList(it, String::valueOf));
        }

        /** The steps of its flow that must be done first. */
        public Why waitingFor(List<String> value) {
            set("waiting_for", value);
            return this;
        }

        /** Who has it. */
        public String worker() {
            return read("worker", String::valueOf);
        }

        /** Who has it. */
        public Why worker(String value) {
            set("worker", value);
            return this;
        }
    }

    /** A worker. */
    public static final class Worker extends JsonObject {
        public Worker() {}

        public Worker(Map<String, Object> members) {
            super(members);
        }

        /** Adds a member that this version does not know. */
        public Worker also(String name, Object value) {
            set(name, value);
            return this;
        }

        /** What it is capable of. */
        public List<String> capabilities() {
            return read("capabilities", it -> asList(it, String::valueOf));
        }

        /** What it is capable of. */
        public Worker capabilities(List<String> value) {
            set("capabilities", value);
            return this;
        }

        /** Most tasks of dispatch queues it holds at once. */
        public long capacity() {
            return read("capacity", JsonObject::asLong, 0L);
        }

        /** Most tasks of dispatch queues it holds at once. */
        public Worker capacity(Long value) {
            set("capacity", value);
            return this;
        }

        public Worker capacity(int value) {
            set("capacity", value);
            return this;
        }

        /** When this incarnation joined. */
        public Instant joinedAt() {
            return read("joined_at", JsonObject::asTime);
        }

        /** When this incarnation joined. */
        public Worker joinedAt(Instant value) {
            set("joined_at", value);
            return this;
        }

        /** When it was last heard of. */
        public Instant lastHeartbeat() {
            return read("last_heartbeat", JsonObject::asTime);
        }

        /** When it was last heard of. */
        public Worker lastHeartbeat(Instant value) {
            set("last_heartbeat", value);
            return this;
        }

        /** How many tasks of dispatch queues it holds. */
        public long load() {
            return read("load", JsonObject::asLong, 0L);
        }

        /** How many tasks of dispatch queues it holds. */
        public Worker load(Long value) {
            set("load", value);
            return this;
        }

        public Worker load(int value) {
            set("load", value);
            return this;
        }

        /** Its name. */
        public String name() {
            return read("name", String::valueOf);
        }

        /** Its name. */
        public Worker name(String value) {
            set("name", value);
            return this;
        }

        /** The queues it serves. */
        public List<String> queues() {
            return read("queues", it -> asList(it, String::valueOf));
        }

        /** The queues it serves. */
        public Worker queues(List<String> value) {
            set("queues", value);
            return this;
        }

        /** Which incarnation it is, as it says itself. */
        public String session() {
            return read("session", String::valueOf);
        }

        /** Which incarnation it is, as it says itself. */
        public Worker session(String value) {
            set("session", value);
            return this;
        }

        /** Whether it is given tasks. */
        public WorkerState state() {
            return read("state", it -> WorkerState.of((String) it));
        }

        /** Whether it is given tasks. */
        public Worker state(WorkerState value) {
            set("state", value);
            return this;
        }
    }

    /** Where a worker stands. */
    public enum WorkerState implements JsonObject.Text {
        ACTIVE("active"),
        DRAINING("draining"),
        LOST("lost"),
        /** A value that this version does not know. */
        OTHER(null);

        private final String text;

        WorkerState(String text) {
            this.text = text;
        }

        @Override
        public String text() {
            return text;
        }

        static WorkerState of(String text) {
            return JsonObject.valueOf(values(), OTHER, text);
        }
    }
}
