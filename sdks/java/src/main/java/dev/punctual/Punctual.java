package dev.punctual;

import dev.punctual.api.Options;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Types.NewTask;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/**
 * A worker and its client.
 *
 * <pre>
 * var app = new Punctual();
 * app.task("mail", Mail.class, (task, mail) -> "sent to " + mail.to());
 * app.run();
 * </pre>
 */
public final class Punctual {
    private static final System.Logger LOG = System.getLogger("dev.punctual");

    /** Carries out a task. Its value is the task's result; an exception fails the task. */
    @FunctionalInterface
    public interface Handler {
        Object handle(Task task) throws Exception;
    }

    /** Carries out a task whose payload has a type. */
    @FunctionalInterface
    public interface TypedHandler<P> {
        Object handle(Task task, P payload) throws Exception;
    }

    private final Options options;
    private final Client client;
    private final Map<String, Worker.Place> places = new LinkedHashMap<>();
    private String name = madeUp();
    private List<String> capabilities = List.of();
    private Duration grace = Duration.ofSeconds(30);
    private Consumer<String> warn = text -> LOG.log(System.Logger.Level.WARNING, text);
    private Worker worker;
    private CompletableFuture<Void> ended;

    /** A worker for the server that PUNCTUAL_URL names. */
    public Punctual() {
        this(new Options());
    }

    public Punctual(Options options) {
        this.options = options;
        client = new Client(options);
    }

    /** The worker's own name among those of its queues; made up if not said. */
    public Punctual name(String name) {
        this.name = name;
        return this;
    }

    /** Capabilities of the worker, for queues of mode dispatch. */
    public Punctual capabilities(List<String> capabilities) {
        this.capabilities = capabilities;
        return this;
    }

    /** How long handlers have after a stop; 30 seconds if not said. */
    public Punctual grace(Duration grace) {
        this.grace = grace;
        return this;
    }

    /** Where warnings go; the logger dev.punctual if not said. */
    public Punctual warn(Consumer<String> warn) {
        this.warn = warn;
        return this;
    }

    public String name() {
        return name;
    }

    /** The client of the same server, for pushes and everything else. */
    public Client client() {
        return client;
    }

    /** Pushes a task; see {@link Client#push}. */
    public Pushed push(String queue, Object payload) {
        return client.push(queue, payload, new NewTask());
    }

    /** Has a function carry out the tasks of a queue, 16 at a time, whatever the queue's mode: pull, dispatch or vote. */
    public Punctual task(String queue, Handler run) {
        return task(queue, 16, 0, run);
    }

    /** The same with a typed payload: a record, text, a number. One that does not fit fails the task for good. */
    public <P> Punctual task(String queue, Class<P> type, TypedHandler<P> run) {
        return task(queue, 16, 0, task -> run.handle(task, task.payload(type)));
    }

    /** The same, so many at a time; so many further tasks are taken ahead. */
    public Punctual task(String queue, int concurrency, int prefetch, Handler run) {
        if (concurrency < 1 || prefetch < 0) {
            throw new PunctualException("concurrency is at least 1, prefetch at least 0");
        }
        if (places.putIfAbsent(queue, new Worker.Place(queue, run, concurrency, prefetch)) != null) {
            throw new PunctualException("queue " + queue + " has a handler already");
        }
        return this;
    }

    /**
     * Works until SIGINT or SIGTERM, then stops gracefully; a second signal gives tasks back at once. Throws what makes going
     * on impossible, such as a token without the right. A server that is away is waited for.
     */
    public void run() {
        start();
        Signals signals = new Signals(this);
        try {
            join();
        } finally {
            signals.close();
        }
    }

    /** Begins to work in the background. */
    public synchronized void start() {
        if (worker != null) {
            throw new PunctualException("the worker was started already");
        }
        if (places.isEmpty()) {
            throw new PunctualException("no handler: call app.task(queue, handler)");
        }
        // It has its own way to wait for a server that is away.
        Client hasty = new Client(options.withRetryFor(Duration.ZERO));
        worker = new Worker(hasty, name, capabilities, grace.toNanos() / 1e9, List.copyOf(places.values()), warn);
        ended = new CompletableFuture<>();
        Worker mine = worker;
        Client.daemon(() -> {
            try {
                mine.run();
                ended.complete(null);
            } catch (InterruptedException | RuntimeException error) {
                ended.completeExceptionally(error);
            }
        }, "punctual").start();
    }

    /** Takes nothing more and lets handlers finish. It does not wait: join does. */
    public void stop() {
        stop(false);
    }

    /** The same; handlers are told to stop at once. */
    public void hurry() {
        stop(true);
    }

    private synchronized void stop(boolean hurry) {
        if (worker != null) {
            worker.stop(hurry);
        }
    }

    /** Waits until it has ended; throws what ended it if that was no stop. */
    public void join() {
        CompletableFuture<Void> end;
        synchronized (this) {
            end = ended;
        }
        try {
            if (end != null) {
                end.join();
            }
        } catch (CompletionException error) {
            throw error.getCause() instanceof PunctualException known ? known : new PunctualException("the worker broke", error.getCause());
        }
    }

    private static String madeUp() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9._-]", "-");
        } catch (UnknownHostException error) {
            host = "worker";
        }
        String random = UUID.randomUUID().toString().substring(0, 6);
        return host.substring(0, Math.min(host.length(), 80)) + "-" + ProcessHandle.current().pid() + "-" + random;
    }
}
