package dev.punctual;

import dev.punctual.api.ApiException;
import dev.punctual.api.Call;
import dev.punctual.api.PunctualException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;

/** Sends log lines as they come; they may be lost, tasks never wait for them. */
final class LogLines {
    /** Lines that come within that time go together. */
    private static final double GATHER_S = 0.2;

    private final Client client;
    private final Executor pool;
    private final Set<Job> sending = new HashSet<>();
    private boolean isKnown;
    /** The server is from before there were logs. */
    private boolean isOff;

    LogLines(Client client, Executor pool) {
        this.client = client;
        this.pool = pool;
    }

    synchronized void wake(Job job) {
        if (isOff) {
            job.takeLines();
        } else if (sending.add(job)) {
            pool.execute(() -> send(job));
        }
    }

    /** Waits until all are sent, for so long at most. */
    synchronized void idle(double seconds) throws InterruptedException {
        long until = System.nanoTime() + (long) (seconds * 1e9);
        while (!sending.isEmpty() && System.nanoTime() < until) {
            wait(Math.max((until - System.nanoTime()) / 1_000_000, 1));
        }
    }

    private void send(Job job) {
        Client.pause(GATHER_S);
        while (true) {
            List<String> lines;
            synchronized (this) {
                lines = job.takeLines();
                if (lines.isEmpty()) {
                    sending.remove(job);
                    notifyAll();
                    return;
                }
            }
            boolean isMissing = false;
            boolean isHeard = false;
            try {
                client.none(new Call("POST", "/v1/queues/{queue}/tasks/{id}/log", job.queue, job.id)
                        .body(Map.of("token", job.token, "lines", lines)));
                isHeard = true;
            } catch (PunctualException error) {
                isMissing = error instanceof ApiException it && (it.status() == 404 || it.status() == 405);
            }
            synchronized (this) {
                isKnown |= isHeard;
                isOff |= isMissing && !isKnown;
            }
        }
    }
}
