package dev.punctual;

import dev.punctual.api.Call;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Transport;
import dev.punctual.api.Types.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Keeps holds, sends reports, and hears of cancel and pause: one batch per queue. */
final class Beats implements Runnable {
    /** Heartbeats that fall due within this share of their interval go along with those that are due. */
    private static final double EARLY = 0.25;
    /** Not more than the server takes in a batch; the rest is due at once. */
    private static final int BATCH_MAX = 1_000;

    private final Client client;
    private final Supplier<List<Job>> jobs;
    private final Consumer<String> warn;
    private final Executor pool;
    private boolean isWoken;
    private boolean isOver;

    Beats(Client client, Supplier<List<Job>> jobs, Consumer<String> warn, Executor pool) {
        this.client = client;
        this.jobs = jobs;
        this.warn = warn;
        this.pool = pool;
    }

    /** There is something new to send, or another task. */
    synchronized void wake() {
        isWoken = true;
        notifyAll();
    }

    synchronized void close() {
        isOver = true;
        notifyAll();
    }

    @Override
    public void run() {
        while (true) {
            double due = jobs.get().stream().filter(Job::isBeating).mapToDouble(Job::dueAt).min().orElse(Double.MAX_VALUE);
            double wait = Math.min(due - Transport.now(), 3600);
            if (wait <= 0) {
                beatAll();
            } else if (!sleep(wait)) {
                return;
            }
        }
    }

    /** Sleeps until something is new; false: it is over. */
    private synchronized boolean sleep(double seconds) {
        double until = Transport.now() + seconds;
        try {
            while (!isWoken && !isOver && Transport.now() < until) {
                wait(Math.max((long) Math.ceil((until - Transport.now()) * 1000), 1));
            }
        } catch (InterruptedException error) {
            isOver = true;
        }
        isWoken = false;
        return !isOver;
    }

    private void beatAll() {
        double now = Transport.now();
        Map<String, List<Job>> queues = jobs.get().stream()
                .filter(it -> it.isBeating() && it.dueAt() - it.beatS() * EARLY <= now)
                .collect(Collectors.groupingBy(it -> it.queue));
        queues.values().removeIf(of -> of.stream().noneMatch(it -> it.dueAt() <= now));
        CompletableFuture.allOf(queues.entrySet().stream()
                .map(it -> CompletableFuture.runAsync(() -> beat(it.getKey(), it.getValue()), pool))
                .toArray(CompletableFuture[]::new)).join();
    }

    private void beat(String queue, List<Job> due) {
        List<Job> beating = due.subList(0, Math.min(due.size(), BATCH_MAX));
        double sentAt = Transport.now();
        List<Job.Report> reports = new ArrayList<>();
        List<String> items = new ArrayList<>();
        for (Job job : beating) {
            Job.Report said = job.send();
            reports.add(said);
            Map<String, Object> item = new LinkedHashMap<>(Map.of("id", job.id, "token", job.token));
            Settler.put(item, "progress", said.progress());
            Settler.put(item, "message", said.message());
            Settler.putJson(item, "checkpoint", said.checkpoint());
            items.add(Client.encode(item));
        }
        List<Result> results = null;
        PunctualException failure = null;
        try {
            Call call = new Call("POST", "/v1/queues/{queue}/extend", queue).body(Client.batchOf(items));
            results = client.batch(call, items.size());
        } catch (PunctualException error) {
            failure = error;
        }
        for (int index = 0; index < beating.size(); index++) {
            if (failure != null) {
                missed(beating.get(index), reports.get(index), failure);
            } else {
                heard(beating.get(index), reports.get(index), results.get(index), sentAt);
            }
            beating.get(index).sent();
        }
    }

    private void heard(Job job, Job.Report said, Result result, double sentAt) {
        String code = String.valueOf(result.code());
        if (result.ok()) {
            job.renew(sentAt);
            if (Boolean.TRUE.equals(result.cancel())) {
                job.tell(StopReason.CANCELLED);
            } else if (Boolean.TRUE.equals(result.pause())) {
                job.tell(StopReason.PAUSED);
            }
        } else if (code.equals("stale_token") || code.equals("not_found") || code.equals("wrong_state")) {
            job.lose();
        } else if (!said.isEmpty()) {
            // The report is at fault, a checkpoint over the limit perhaps: the hold is kept without it.
            warn.accept("task " + job.id + " of " + job.queue + ": a report was refused: " + result.detail());
            job.beatAt(Transport.now());
        } else {
            job.beatAt(sentAt + job.beatS() / 3);
        }
    }

    private void missed(Job job, Job.Report said, PunctualException error) {
        if (!error.isPassing() || job.isOver()) {
            job.lose();
            return;
        }
        job.putBack(said);
        job.beatAt(Transport.now() + Math.max(job.beatS() / 3, Transport.pauseOf(0, error, Settler.PAUSE_MAX_S)));
    }
}
