package dev.punctual;

import dev.punctual.api.ApiException;
import dev.punctual.api.Call;
import dev.punctual.api.Json;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Transport;
import dev.punctual.api.Types.Confirm;
import dev.punctual.api.Types.Join;
import dev.punctual.api.Types.Mode;
import dev.punctual.api.Types.Orders;
import dev.punctual.api.Types.State;
import dev.punctual.api.Types.Taken;
import dev.punctual.api.Types.TaskName;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * One run of a worker, from its start to its graceful end: takes tasks or is given them, hands them to handlers, keeps their
 * holds, settles them.
 *
 * <pre>
 *   pull ──┐                          ┌── handler
 *          ├──▶ Worker.accept ────────┤
 *   given ─┘                          └── Beats: extend, hear of cancel and pause
 *               Worker.finished ──▶ Settler: commits ride on the next take
 * </pre>
 */
final class Worker {
    /** How long a take or a poll waits for something to do. Well below the silence after which a worker is lost. */
    private static final double WAIT_S = 15;
    /** A request that is older than this waits for something to do; a younger one may be about to be answered. */
    private static final double ANSWER_S = 0.5;
    /** How long handlers have that were told to stop before their tasks are given back without them. */
    private static final double LAST_WORDS_S = 2;
    private static final int TAKE_MAX = 1_000;
    private static final int CAPACITY_MAX = 10_000;

    /** The handler of a queue, with its places. Guarded by the worker. */
    static final class Place {
        final String queue;
        final Punctual.Handler run;
        final int concurrency;
        final int prefetch;
        Settler settler;
        int running;
        /** Taken or assigned, and waiting for a place. */
        final Deque<Job> backlog = new ArrayDeque<>();

        Place(String queue, Punctual.Handler run, int concurrency, int prefetch) {
            this.queue = queue;
            this.run = run;
            this.concurrency = concurrency;
            this.prefetch = prefetch;
        }

        int room() {
            return concurrency + prefetch - running - backlog.size();
        }
    }

    private final Client client;
    private final String name;
    private final List<String> capabilities;
    private final double graceS;
    private final List<Place> places;
    private final Consumer<String> warn;
    private final String session = UUID.randomUUID().toString();
    private final ExecutorService pool = Executors.newCachedThreadPool(work -> Client.daemon(work, "punctual-worker"));
    private final Beats beats;
    private final LogLines lines;
    private final CompletableFuture<Void> stopping = new CompletableFuture<>();
    private final Map<String, Job> jobs = new LinkedHashMap<>();
    /** Tokens of the last tasks that are over. */
    private final Deque<String> ended = new ArrayDeque<>();
    /** Requests that wait for something to do, with the time they left at. */
    private final Map<Transport.Pending, Double> open = new HashMap<>();
    private boolean isHurrying;

    Worker(Client client, String name, List<String> capabilities, double graceS, List<Place> places, Consumer<String> warn) {
        this.client = client;
        this.name = name;
        this.capabilities = capabilities;
        this.graceS = graceS;
        this.places = places;
        this.warn = warn;
        beats = new Beats(client, this::underWay, warn, pool);
        lines = new LogLines(client, pool);
        places.forEach(it -> it.settler = new Settler(client, it.queue, warn, pool));
    }

    synchronized void stop(boolean hurry) {
        isHurrying |= hurry;
        if (stopping.complete(null)) {
            open.forEach((pending, leftAt) -> {
                double wait = Math.max(leftAt + ANSWER_S - Transport.now(), 0);
                CompletableFuture.delayedExecutor((long) (wait * 1000), TimeUnit.MILLISECONDS, pool).execute(pending::cancel);
            });
        }
        notifyAll();
    }

    /** Works until stopped. An error means that it cannot go on; a server that is away is waited for. */
    void run() throws InterruptedException {
        pool.execute(beats);
        List<CompletableFuture<Void>> loops = new ArrayList<>();
        List<Place> given = new ArrayList<>();
        PunctualException failure = null;
        try {
            for (Place place : places) {
                Mode mode = modeOf(place.queue);
                if (mode == Mode.DISPATCH || mode == Mode.VOTE) {
                    given.add(place);
                } else if (mode == Mode.PULL) {
                    loops.add(loop(() -> pull(place)));
                } else if (mode != null) {
                    warn.accept("queue " + place.queue + " has mode " + mode.text() + ": the server carries it out itself");
                }
            }
            if (!given.isEmpty()) {
                loops.add(loop(() -> beGiven(given)));
            }
            stopping.join();
        } catch (PunctualException error) {
            failure = error;
            stop(true);
        }
        for (CompletableFuture<Void> loop : loops) {
            try {
                loop.join();
            } catch (CompletionException error) {
                failure = error.getCause() instanceof PunctualException known ? known : new PunctualException("the worker broke", error);
            }
        }
        finish();
        beats.close();
        if (failure == null && !given.isEmpty()) {
            quietly(() -> client.deleteWorker(name));
        }
        pool.shutdown();
        if (failure != null) {
            throw failure;
        }
    }

    private CompletableFuture<Void> loop(Runnable work) {
        return CompletableFuture.runAsync(() -> {
            try {
                work.run();
            } catch (RuntimeException error) {
                stop(true);
                throw error;
            }
        }, pool);
    }

    /** Reads a queue's mode; makes the queue if it does not exist; null: stopped meanwhile. */
    private Mode modeOf(String queue) {
        for (int failures = 0; !stopping.isDone(); failures++) {
            try {
                return client.getQueue(queue).mode();
            } catch (PunctualException error) {
                boolean isMissing = ApiException.codeOf(error).equals("not_found");
                if (!isMissing && !error.isPassing()) {
                    throw error;
                }
                if (isMissing) {
                    quietly(() -> client.putQueue(queue));
                }
                pause(failures, error);
            }
        }
        return null;
    }

    /** Waits longer and longer while the server cannot be spoken to, but not beyond a stop. */
    private void pause(int failures, PunctualException error) {
        if (failures == 1) {
            warn.accept("the server cannot be spoken to, it is tried again: " + error.getMessage());
        }
        double until = Transport.now() + Transport.pauseOf(failures, error, Settler.PAUSE_MAX_S);
        synchronized (this) {
            try {
                while (!stopping.isDone() && Transport.now() < until) {
                    wait(Math.max((long) ((until - Transport.now()) * 1000), 1));
                }
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ignores errors of messages that the server can do without. */
    private static void quietly(Runnable work) {
        try {
            work.run();
        } catch (PunctualException error) {
            // See above.
        }
    }

    /** Takes tasks of a pull queue. */
    private void pull(Place place) {
        try {
            for (int failures = 0; ; ) {
                place.settler.carry(true);
                int room = untilRoom(place);
                if (room < 1) {
                    return;
                }
                List<Settler.Settled> commits = place.settler.takeCommits();
                Map<String, Object> told;
                try {
                    told = asked(new Call("POST", "/v1/queues/{queue}/take", place.queue).body(takeOf(room, commits)).waits(WAIT_S));
                } catch (PunctualException error) {
                    place.settler.putBack(commits);
                    if (!error.isPassing() && !ApiException.codeOf(error).equals("not_found")) {
                        throw error;
                    }
                    pause(failures++, error);
                    continue;
                }
                if (told == null) {
                    place.settler.putBack(commits);
                    return;
                }
                failures = 0;
                Taken taken = new Taken(told);
                place.settler.committed(commits, taken.committed() == null ? List.of() : taken.committed());
                taken.tasks().forEach(record -> accept(place, record));
            }
        } finally {
            place.settler.carry(false);
        }
    }

    private Map<String, Object> takeOf(int room, List<Settler.Settled> commits) {
        Map<String, Object> take = new LinkedHashMap<>();
        take.put("worker", name);
        take.put("n", Math.min(room, TAKE_MAX));
        take.put("wait", WAIT_S);
        if (!commits.isEmpty()) {
            take.put("commit", new Json.Raw("[" + String.join(",", commits.stream().map(Settler.Settled::item).toList()) + "]"));
        }
        return take;
    }

    /** The answer of a request that waits; null if a stop came first. The server releases what it could not hand over. */
    private Map<String, Object> asked(Call call) {
        Transport.Pending pending;
        synchronized (this) {
            if (stopping.isDone()) {
                return null;
            }
            pending = client.start(call);
            open.put(pending, Transport.now());
        }
        try {
            return pending.json();
        } finally {
            synchronized (this) {
                open.remove(pending);
            }
        }
    }

    /** Hears of tasks of dispatch and vote queues. */
    private void beGiven(List<Place> given) {
        Map<String, Place> served = new HashMap<>();
        given.forEach(it -> served.put(it.queue, it));
        int capacity = Math.min(given.stream().mapToInt(it -> it.concurrency).sum(), CAPACITY_MAX);
        boolean hasJoined = false;
        for (int failures = 0; !stopping.isDone(); ) {
            try {
                if (!hasJoined) {
                    client.putWorker(name, new Join().queues(List.copyOf(served.keySet()))
                            .capabilities(capabilities).capacity(capacity).session(session));
                    hasJoined = true;
                }
                Map<String, Object> told = asked(new Call("POST", "/v1/workers/{worker}/poll", name)
                        .body(Map.of("wait", WAIT_S, "session", session)).waits(WAIT_S));
                failures = 0;
                if (told != null) {
                    hear(served, new Orders(told));
                }
            } catch (PunctualException error) {
                String code = ApiException.codeOf(error);
                if (hasJoined && code.equals("not_found")) {
                    hasJoined = false; // It was silent for too long, or somebody has removed it.
                    continue;
                }
                if (code.equals("stale_token")) {
                    // Another has joined under this name, and has what this one held.
                    underWay().stream().filter(it -> served.containsKey(it.queue)).forEach(it -> it.tell(StopReason.LOST));
                }
                if (!error.isPassing()) {
                    throw error;
                }
                pause(failures++, error);
            }
        }
        if (hasJoined) {
            quietly(() -> client.drainWorker(name));
        }
    }

    private void hear(Map<String, Place> served, Orders told) {
        for (var record : told.assignments()) {
            if (served.containsKey(record.queue())) {
                accept(served.get(record.queue()), record);
            }
        }
        tell(told.cancel(), StopReason.CANCELLED);
        tell(told.pause(), StopReason.PAUSED);
    }

    private void tell(List<TaskName> names, StopReason reason) {
        for (TaskName it : names) {
            underWay().stream().filter(job -> job.queue.equals(it.queue()) && job.id.equals(it.id())).forEach(job -> job.tell(reason));
        }
    }

    private synchronized List<Job> underWay() {
        return List.copyOf(jobs.values());
    }

    private synchronized void accept(Place place, dev.punctual.api.Types.Task record) {
        boolean isAssigned = record.state() == State.ASSIGNED;
        // An assignment repeats until it is confirmed, and in a poll that was under way then.
        if (jobs.containsKey(record.token()) || isAssigned && ended.contains(record.token())) {
            return;
        }
        // Until it is confirmed nothing is held, and nothing is to be extended.
        Job job = new Job(record, !isAssigned, beats::wake, lines::wake);
        jobs.put(job.token, job);
        place.backlog.add(job);
        fill(place);
        beats.wake();
    }

    private synchronized void fill(Place place) {
        while (!place.backlog.isEmpty() && place.running < place.concurrency && !stopping.isDone()) {
            Job job = place.backlog.poll();
            place.running++;
            pool.execute(() -> start(place, job));
        }
    }

    private void start(Place place, Job job) {
        if (job.record().state() != State.ASSIGNED || confirm(place, job)) {
            finished(place, job, carriedOut(place, job));
        }
    }

    /** Confirms as late as possible: a worker that cannot start does not confirm, and another is asked. */
    private boolean confirm(Place place, Job job) {
        try {
            job.confirm(client.confirm(job.queue, job.id, new Confirm().token(job.token)));
            beats.wake();
            return true;
        } catch (PunctualException error) {
            warn.accept("task " + job.id + " of " + job.queue + " was not confirmed: " + error.getMessage());
            synchronized (this) {
                jobs.remove(job.token);
                freed(place);
            }
            return false;
        }
    }

    private Job.Outcome carriedOut(Place place, Job job) {
        try {
            Object value = place.run.handle(new Task(job));
            try {
                return Job.Outcome.done(Json.write(value));
            } catch (IllegalArgumentException error) {
                // It will not be JSON in the next attempt either.
                return Job.Outcome.failed("the result is no JSON: " + error.getMessage(), null, true);
            }
        } catch (Fail fail) {
            return Job.Outcome.failed(fail.getMessage(), fail.retryIn(), fail.isPermanent());
        } catch (Release release) {
            return Job.Outcome.released(release.delay());
        } catch (Stopped stopped) {
            return Job.Outcome.stopped();
        } catch (Throwable error) {
            if (!(error instanceof PunctualException) && job.stopReason() == null) {
                StringWriter stack = new StringWriter();
                error.printStackTrace(new PrintWriter(stack));
                stack.toString().lines().forEach(job::log);
            }
            return Job.Outcome.failed(error.toString(), null, false);
        } finally {
            Thread.interrupted(); // A stop may have interrupted the handler; the thread goes on.
        }
    }

    private synchronized void finished(Place place, Job job, Job.Outcome end) {
        if (!jobs.remove(job.token, job)) {
            return; // It was given back meanwhile.
        }
        job.endBeats();
        ended.add(job.token);
        if (ended.size() > 1_000) {
            ended.poll();
        }
        // The outcome is there before the next take leaves, which carries it.
        place.settler.add(job, end);
        freed(place);
    }

    private synchronized void freed(Place place) {
        place.running--;
        fill(place);
        notifyAll();
    }

    /** Waits for a free place and returns how many there are; 0: stopped. */
    private synchronized int untilRoom(Place place) {
        try {
            while (!stopping.isDone() && place.room() < 1) {
                wait();
            }
            return stopping.isDone() ? 0 : place.room();
        } catch (InterruptedException error) {
            return 0;
        }
    }

    /** Lets handlers finish, and gives back what does not in time. */
    private void finish() throws InterruptedException {
        synchronized (this) {
            for (Place place : places) {
                for (Job job : place.backlog) {
                    jobs.remove(job.token);
                    if (job.isBeating()) {
                        place.settler.add(job, Job.Outcome.released(null));
                    }
                }
                place.backlog.clear();
            }
        }
        untilEmpty(graceS, true);
        underWay().forEach(it -> it.tell(StopReason.STOPPING));
        untilEmpty(LAST_WORDS_S, false);
        for (Place place : places) {
            underWay().stream().filter(it -> it.queue.equals(place.queue))
                    .forEach(it -> finished(place, it, Job.Outcome.failed("the handler did not stop", null, false)));
        }
        double until = Transport.now() + graceS + LAST_WORDS_S;
        for (Place place : places) {
            if (!place.settler.idle(until - Transport.now())) {
                warn.accept("the outcomes of some tasks could not be told");
            }
        }
        lines.idle(LAST_WORDS_S);
    }

    /** Waits until no handler runs, for so long at most. */
    private synchronized void untilEmpty(double seconds, boolean mayHurry) throws InterruptedException {
        double until = Transport.now() + seconds;
        while (!jobs.isEmpty() && Transport.now() < until && !(mayHurry && isHurrying)) {
            wait(Math.max((long) ((until - Transport.now()) * 1000), 1));
        }
    }
}
