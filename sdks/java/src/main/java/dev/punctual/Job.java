package dev.punctual;

import dev.punctual.api.Transport;
import dev.punctual.api.Types;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** One task on its way: its hold, reports that have not been sent, and why it should stop. */
final class Job {
    /** The least time between two heartbeats of one task, and the most. */
    private static final double BEAT_MIN_S = 0.05;
    private static final double BEAT_MAX_S = 10;
    /** How often progress is reported at most. */
    private static final double REPORT_EVERY_S = 1;
    /** A task whose hold is not told, such as a vote's, is held at least that long. */
    private static final double HOLD_UNKNOWN_S = 10;
    /** The most that the server takes in one call, and in one line. */
    private static final int LOG_CHARS_MAX = 40_000;
    private static final int LINE_CHARS_MAX = 8_000;
    /** The server takes 4 KiB. */
    private static final int ERROR_BYTES_MAX = 4_000;

    /** Reports of a handler that the server has not heard; the checkpoint is JSON already. */
    record Report(Double progress, String message, String checkpoint) {
        static final Report NONE = new Report(null, null, null);

        boolean isEmpty() {
            return progress == null && message == null && checkpoint == null;
        }

        Report under(Report newer) {
            return new Report(
                    newer.progress != null ? newer.progress : progress,
                    newer.message != null ? newer.message : message,
                    newer.checkpoint != null ? newer.checkpoint : checkpoint);
        }
    }

    enum Kind { DONE, FAILED, RELEASED }

    /** The end of a handler; a failure that a stop asked for acknowledges the stop. The result is JSON already. */
    record Outcome(Kind kind, String result, String error, Object retryIn, boolean isPermanent, Object delay, boolean isStop) {
        static Outcome done(String result) {
            return new Outcome(Kind.DONE, result, null, null, false, null, false);
        }

        static Outcome failed(String error, Object retryIn, boolean isPermanent) {
            return new Outcome(Kind.FAILED, null, cut(error), retryIn, isPermanent, null, false);
        }

        static Outcome released(Object delay) {
            return new Outcome(Kind.RELEASED, null, null, null, false, delay, false);
        }

        static Outcome stopped() {
            return new Outcome(Kind.FAILED, null, null, null, false, null, true);
        }
    }

    final String queue;
    final String id;
    final String token;
    private final Runnable wake;
    private final Consumer<Job> onLog;
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();
    private final List<String> lines = new ArrayList<>();
    private Types.Task record;
    private double holdS;
    private double beatS;
    private double heldUntil;
    private double nextBeat;
    private double reportedAt = Transport.now() - REPORT_EVERY_S;
    /** Heartbeats begin with the hold and end with the handler. */
    private boolean isBeating;
    private StopReason reason;
    private Report reported = Report.NONE;
    /** Completed when the heartbeat under way, which carries a checkpoint, was answered; null: there is none. */
    private CompletableFuture<Void> carrying;

    Job(Types.Task record, boolean isBeating, Runnable wake, Consumer<Job> onLog) {
        this.record = record;
        this.isBeating = isBeating;
        this.wake = wake;
        this.onLog = onLog;
        queue = record.queue();
        id = record.id();
        token = record.token();
        holdS = holdOf(record);
        beatS = Math.min(Math.max(holdS / 3, BEAT_MIN_S), BEAT_MAX_S);
        renew(Transport.now());
    }

    synchronized Types.Task record() {
        return record;
    }

    /** Tells the handler to stop. The first reason counts, but for the loss of the hold, which ends all. */
    void tell(StopReason told) {
        synchronized (this) {
            if (reason == null || told == StopReason.LOST) {
                reason = told;
            }
        }
        stopped.complete(null);
    }

    synchronized StopReason stopReason() {
        return reason;
    }

    StopReason awaitStop(Duration timeout) throws InterruptedException {
        try {
            stopped.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException error) {
            return stopReason();
        }
        return stopReason();
    }

    void onStop(Runnable work) {
        stopped.thenRun(work);
    }

    /** Ends its heartbeats: another may have the task. */
    void lose() {
        tell(StopReason.LOST);
        endBeats();
    }

    synchronized void endBeats() {
        isBeating = false;
    }

    synchronized boolean isBeating() {
        return isBeating;
    }

    /** Notes that its hold was extended by a request that left at that time. */
    synchronized void renew(double sentAt) {
        heldUntil = sentAt + holdS;
        nextBeat = sentAt + beatS;
    }

    /** Notes that it is held from now on. */
    synchronized void confirm(Types.Task told) {
        Types.Task merged = new Types.Task(new java.util.LinkedHashMap<>(record.members()));
        for (String name : List.of("taken_at", "hold_until", "state")) {
            if (told.get(name) != null) {
                merged.also(name, told.get(name));
            }
        }
        record = merged;
        holdS = holdOf(record);
        beatS = Math.min(beatS, holdS / 3);
        renew(Transport.now());
        isBeating = true;
    }

    /** When the server should hear of it next. */
    synchronized double dueAt() {
        return reported.isEmpty() ? nextBeat : Math.min(nextBeat, reportedAt + REPORT_EVERY_S);
    }

    synchronized double beatS() {
        return beatS;
    }

    synchronized boolean isOver() {
        return Transport.now() >= heldUntil;
    }

    /** Whether its outcome cannot count any more: a hold's length after the last heartbeat's. */
    synchronized boolean isLate() {
        return Transport.now() > heldUntil + holdS;
    }

    synchronized void beatAt(double at) {
        nextBeat = at;
        reportedAt = Transport.now();
    }

    void report(Report said) {
        synchronized (this) {
            reported = reported.under(said);
        }
        wake.run();
    }

    /** Returns the reports since the last call. */
    synchronized Report unsent() {
        Report said = reported;
        reported = Report.NONE;
        return said;
    }

    /** Returns the reports since the last call, for a heartbeat that leaves now. */
    synchronized Report send() {
        Report said = unsent();
        if (!said.isEmpty()) {
            reportedAt = Transport.now();
        }
        if (said.checkpoint != null) {
            carrying = new CompletableFuture<>();
        }
        return said;
    }

    /** Notes that a heartbeat was answered, or will not be. */
    void sent() {
        CompletableFuture<Void> ended;
        synchronized (this) {
            ended = carrying;
            carrying = null;
        }
        if (ended != null) {
            ended.complete(null);
        }
    }

    synchronized CompletableFuture<Void> carrying() {
        return carrying;
    }

    /** Keeps a report that could not be sent; later ones are newer. */
    synchronized void putBack(Report said) {
        reported = said.under(reported);
    }

    void log(String line) {
        boolean isFirst;
        synchronized (this) {
            lines.add(line.substring(0, Math.min(line.length(), LINE_CHARS_MAX)));
            isFirst = lines.size() == 1;
        }
        if (isFirst) {
            onLog.accept(this);
        }
    }

    /** Lines for one call; the rest stays. */
    synchronized List<String> takeLines() {
        int size = 0;
        int number = 0;
        while (number < lines.size() && (number == 0 || size + lines.get(number).length() <= LOG_CHARS_MAX)) {
            size += lines.get(number++).length();
        }
        List<String> taken = new ArrayList<>(lines.subList(0, number));
        lines.subList(0, number).clear();
        return taken;
    }

    static String cut(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= ERROR_BYTES_MAX) {
            return text;
        }
        int end = ERROR_BYTES_MAX;
        while ((bytes[end] & 0xC0) == 0x80) {
            end--;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    /** How many seconds a task is held without a word. */
    private static double holdOf(Types.Task record) {
        if (record.takenAt() == null || record.holdUntil() == null) {
            return HOLD_UNKNOWN_S;
        }
        return Math.max(Duration.between(record.takenAt(), record.holdUntil()).toNanos() / 1e9, BEAT_MIN_S);
    }
}
