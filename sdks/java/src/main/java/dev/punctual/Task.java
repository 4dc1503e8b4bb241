package dev.punctual;

import dev.punctual.api.Json;
import dev.punctual.api.Records;
import dev.punctual.api.Types;
import java.time.Duration;

/** A task to carry out, and a line to the server while that lasts. */
public final class Task {
    private final Types.Task record;
    private final Job job;
    private Object checkpoint;

    Task(Job job) {
        this.job = job;
        record = job.record();
        checkpoint = record.checkpoint();
    }

    /** The task as the server handed it out. */
    public Types.Task record() {
        return record;
    }

    public String queue() {
        return record.queue();
    }

    public String id() {
        return record.id();
    }

    public int attempt() {
        return (int) record.attempt();
    }

    /** The payload as JSON has it: Map, List, String, Long, Double, Boolean or null. */
    public Object payload() {
        return record.payload();
    }

    /** The payload as a record, a number, text; one that does not fit fails the task for good. */
    public <P> P payload(Class<P> type) {
        try {
            return Records.read(record.payload(), type);
        } catch (IllegalArgumentException error) {
            throw new Fail("the payload does not fit: " + error.getMessage(), error).permanent();
        }
    }

    /** The checkpoint of an earlier attempt, or the one saved by this attempt; null if there is none. */
    public synchronized Object checkpoint() {
        return checkpoint;
    }

    public synchronized <C> C checkpoint(Class<C> type) {
        return Records.read(checkpoint, type);
    }

    /** Leaves what the next attempt needs to go on. It is sent within a second, or with the outcome. */
    public void saveCheckpoint(Object value) {
        String text = Client.encode(value);
        synchronized (this) {
            checkpoint = Json.plain(value);
        }
        job.report(new Job.Report(null, null, text));
    }

    /** Says how far it is, from 0 to 1. It is sent at most once a second. */
    public void progress(double progress) {
        progress(progress, null);
    }

    /** Says how far it is, from 0 to 1, and a word on where. */
    public void progress(double progress, String message) {
        job.report(new Job.Report(Math.min(Math.max(progress, 0), 1), message, null));
    }

    /** Adds a line to the task's log. */
    public void log(String line) {
        job.log(line);
    }

    /** Why the handler should stop; null: it should not. */
    public StopReason stopReason() {
        return job.stopReason();
    }

    /** Throws if the handler should stop; the acknowledgement of the stop follows from the reason. */
    public void check() {
        StopReason reason = job.stopReason();
        if (reason != null) {
            throw new Stopped(reason);
        }
    }

    /** Waits until the handler should stop; null if that does not come in time. */
    public StopReason awaitStop(Duration timeout) throws InterruptedException {
        return job.awaitStop(timeout);
    }

    /** Has something done when the handler should stop, such as {@code Thread.currentThread()::interrupt}. */
    public void onStop(Runnable work) {
        job.onStop(work);
    }
}
