package dev.punctual;

import dev.punctual.api.ApiException;
import dev.punctual.api.Call;
import dev.punctual.api.Json;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Transport;
import dev.punctual.api.Types.Result;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Brings the outcomes of one queue's tasks to the server.
 *
 * <p>Commits ride on the next take. While a take is open, or there is none, they go in a batch: one request is under way per
 * queue, and all that comes meanwhile goes together in the next.
 */
final class Settler {
    static final double PAUSE_MAX_S = 5;

    private enum Verb { COMMIT, FAIL, RELEASE }

    /** A job and its outcome, as JSON. */
    record Settled(Job job, String item) {}

    private final Client client;
    private final String queue;
    private final Consumer<String> warn;
    private final Executor pool;
    private final Map<Verb, List<Settled>> waiting = new EnumMap<>(Verb.class);
    /** A take is about to leave and will carry the commits. */
    private boolean hasCarrier;
    private boolean isSending;
    /** Requests under way. */
    private int busy;

    Settler(Client client, String queue, Consumer<String> warn, Executor pool) {
        this.client = client;
        this.queue = queue;
        this.warn = warn;
        this.pool = pool;
        for (Verb verb : Verb.values()) {
            waiting.put(verb, new ArrayList<>());
        }
    }

    /** Takes over an outcome, until the server has it or refuses it for good. */
    void add(Job job, Job.Outcome end) {
        CompletableFuture<Void> carrying = job.carrying();
        if (carrying != null && end.kind() != Job.Kind.DONE) {
            // A checkpoint must not come after the outcome: it would be lost.
            alone(() -> {
                carrying.join();
                settle(job, end);
            });
        } else {
            settle(job, end);
        }
    }

    private void settle(Job job, Job.Outcome end) {
        StopReason reason = job.stopReason();
        String checkpoint = job.unsent().checkpoint();
        Map<String, Object> item = new LinkedHashMap<>(Map.of("id", job.id, "token", job.token));
        if (reason == StopReason.LOST) {
            warn.accept("task " + job.id + " of " + job.queue + ": its hold was lost, the outcome is dropped");
        } else if (end.kind() == Job.Kind.DONE) {
            putJson(item, "result", end.result());
            put(Verb.COMMIT, job, Client.encode(item));
        } else if (end.kind() == Job.Kind.RELEASED || reason == StopReason.STOPPING) {
            put(item, "delay", end.delay());
            putJson(item, "checkpoint", checkpoint);
            put(Verb.RELEASE, job, Client.encode(item));
        } else if (reason != null) {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("token", job.token));
            put(body, "error", end.isStop() ? null : end.error());
            putJson(body, "checkpoint", checkpoint);
            alone(() -> untilKnown(job, reason.toString(), body));
        } else if (checkpoint != null) {
            Map<String, Object> body = new LinkedHashMap<>(Map.of("token", job.token));
            putJson(body, "checkpoint", checkpoint);
            alone(() -> {
                if (untilKnown(job, "extend", body)) {
                    put(Verb.FAIL, job, failItem(job, end));
                }
            });
        } else {
            put(Verb.FAIL, job, failItem(job, end));
        }
    }

    /** Says whether a take is about to leave. Without one, waiting commits go by themselves. */
    synchronized void carry(boolean isCarried) {
        hasCarrier = isCarried;
        wake();
    }

    /** Hands over what a take carries; putBack returns what the server did not answer. */
    synchronized List<Settled> takeCommits() {
        List<Settled> items = portion(Verb.COMMIT);
        carry(false);
        return items;
    }

    synchronized void putBack(List<Settled> items) {
        waiting.get(Verb.COMMIT).addAll(0, items);
        wake();
    }

    void committed(List<Settled> items, List<Result> results) {
        answered(Verb.COMMIT, items, results);
    }

    /** Waits until nothing is on its way; false if that takes longer. */
    synchronized boolean idle(double seconds) throws InterruptedException {
        double until = Transport.now() + seconds;
        while (busy > 0 && Transport.now() < until) {
            wait(Math.max((long) ((until - Transport.now()) * 1000), 1));
        }
        return busy == 0;
    }

    private synchronized void put(Verb verb, Job job, String item) {
        waiting.get(verb).add(new Settled(job, item));
        wake();
    }

    private synchronized List<Settled> portion(Verb verb) {
        List<Settled> line = waiting.get(verb);
        List<Settled> first = line.subList(0, Client.portion(line.stream().map(Settled::item).toList()));
        List<Settled> items = new ArrayList<>(first);
        first.clear();
        return items;
    }

    private synchronized void wake() {
        if (!isSending && next() != null) {
            isSending = true;
            alone(this::send);
        }
    }

    private synchronized Verb next() {
        for (Verb verb : Verb.values()) {
            if (!waiting.get(verb).isEmpty() && !(verb == Verb.COMMIT && hasCarrier)) {
                return verb;
            }
        }
        return null;
    }

    private synchronized void alone(Runnable work) {
        busy++;
        pool.execute(() -> {
            try {
                work.run();
            } finally {
                synchronized (this) {
                    busy--;
                    notifyAll();
                }
            }
        });
    }

    private void send() {
        for (int failures = 0; ; ) {
            Verb verb;
            List<Settled> items;
            synchronized (this) {
                verb = next();
                if (verb == null) {
                    isSending = false;
                    return;
                }
                items = portion(verb);
            }
            try {
                Call call = new Call("POST", "/v1/queues/{queue}/" + verb.name().toLowerCase(), queue)
                        .body(Client.batchOf(items.stream().map(Settled::item).toList()));
                answered(verb, items, client.batch(call, items.size()));
                failures = 0;
            } catch (PunctualException error) {
                if (!error.isPassing()) {
                    refused(items, error.getMessage());
                    continue;
                }
                List<Settled> held = items.stream().filter(this::isStillHeld).toList();
                synchronized (this) {
                    waiting.get(verb).addAll(0, held);
                }
                Client.pause(Transport.pauseOf(failures++, error, PAUSE_MAX_S));
            }
        }
    }

    /** An outcome is sent as long as it may count: for the length of a hold after the last heartbeat. */
    private boolean isStillHeld(Settled it) {
        if (it.job.isLate()) {
            refused(List.of(it), "the server was away for longer than the hold");
            return false;
        }
        return true;
    }

    private void answered(Verb verb, List<Settled> items, List<Result> results) {
        for (int index = 0; index < Math.min(items.size(), results.size()); index++) {
            Settled it = items.get(index);
            Result result = results.get(index);
            if (result.ok()) {
                continue;
            }
            String code = String.valueOf(result.code());
            if (code.equals("unavailable")) {
                put(verb, it.job, it.item);
            } else if (verb == Verb.COMMIT && (code.equals("too_large") || code.equals("invalid"))) {
                // The server will never take this result: the task has failed.
                put(Verb.FAIL, it.job, failItem(it.job, Job.Outcome.failed("the result was refused: " + result.detail(), null, true)));
            } else {
                refused(List.of(it), ApiException.of(result).getMessage());
            }
        }
    }

    private void refused(List<Settled> items, String reason) {
        for (Settled it : items) {
            warn.accept("task " + it.job.id + " of " + it.job.queue + " was not settled, another worker gets it: " + reason);
        }
    }

    private boolean untilKnown(Job job, String verb, Map<String, Object> body) {
        for (int failures = 0; ; failures++) {
            try {
                client.none(new Call("POST", "/v1/queues/{queue}/tasks/{id}/" + verb, job.queue, job.id).body(body));
                return true;
            } catch (PunctualException error) {
                if (!error.isPassing()) {
                    refused(List.of(new Settled(job, "")), error.getMessage());
                    return false;
                }
                if (!isStillHeld(new Settled(job, ""))) {
                    return false;
                }
                Client.pause(Transport.pauseOf(failures, error, PAUSE_MAX_S));
            }
        }
    }

    private static String failItem(Job job, Job.Outcome end) {
        Map<String, Object> item = new LinkedHashMap<>(Map.of("id", job.id, "token", job.token));
        put(item, "error", end.error());
        put(item, "retry_in", end.retryIn());
        put(item, "permanent", end.isPermanent() ? true : null);
        return Client.encode(item);
    }

    static void put(Map<String, Object> item, String name, Object value) {
        if (value != null) {
            item.put(name, value);
        }
    }

    static void putJson(Map<String, Object> item, String name, String json) {
        put(item, name, json == null ? null : new Json.Raw(json));
    }
}
