package dev.punctual;

import dev.punctual.api.ApiException;
import dev.punctual.api.Call;
import dev.punctual.api.Json;
import dev.punctual.api.Operations;
import dev.punctual.api.Options;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Types.NewTask;
import dev.punctual.api.Types.Result;
import dev.punctual.api.Types.Results;
import dev.punctual.api.Types.State;
import dev.punctual.api.Types.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Every operation of the server, pushes that gather into batches by themselves, and the event stream. Any number of threads
 * may use it.
 */
public final class Client extends Operations {
    /** One request carries at most so many tasks and characters. The server takes more; this keeps each answer quick. */
    private static final int ITEMS_MAX = 1_000;
    private static final int CHARS_MAX = 4 << 20;
    private static final ExecutorService SENDERS = Executors.newCachedThreadPool(work -> daemon(work, "punctual-push"));

    private final Map<String, List<Waiting>> waiting = new HashMap<>();

    private record Waiting(String item, CompletableFuture<Pushed> answer) {}

    /** A client of the server that PUNCTUAL_URL names. */
    public Client() {
        this(new Options());
    }

    public Client(String url) {
        this(new Options().url(url));
    }

    public Client(Options options) {
        super(options);
    }

    public Pushed push(String queue, Object payload) {
        return push(queue, payload, new NewTask());
    }

    /**
     * Pushes a task, durably. Pushes that come while a request is under way go together in the next one; each caller gets
     * its own answer.
     */
    public Pushed push(String queue, Object payload, NewTask options) {
        try {
            return pushAsync(queue, payload, options).join();
        } catch (CompletionException error) {
            throw error.getCause() instanceof PunctualException known ? known : new PunctualException("not pushed", error.getCause());
        }
    }

    /** The same, without waiting for the answer. */
    public CompletableFuture<Pushed> pushAsync(String queue, Object payload, NewTask options) {
        Map<String, Object> members = new LinkedHashMap<>(options.members());
        if (payload != null) {
            members.put("payload", payload);
        }
        Waiting mine = new Waiting(encode(members), new CompletableFuture<>());
        synchronized (waiting) {
            List<Waiting> line = waiting.get(queue);
            if (line != null) {
                line.add(mine);
                return mine.answer;
            }
            waiting.put(queue, new ArrayList<>(List.of(mine)));
        }
        SENDERS.execute(() -> sendWaiting(queue));
        return mine.answer;
    }

    /** Pushes tasks, at most 1,000 in a request. Each answers for itself: look at ok and code. */
    public List<Result> pushMany(String queue, List<NewTask> tasks) {
        List<String> items = tasks.stream().map(Client::encode).toList();
        List<Result> results = new ArrayList<>();
        while (results.size() < items.size()) {
            List<String> rest = items.subList(results.size(), items.size());
            results.addAll(sendBatch(queue, rest.subList(0, portion(rest))));
        }
        return results;
    }

    /** Waits until a task has ended, and reads it; an error if it has not after that time. */
    public Task waitFor(String queue, String id, Duration timeout) {
        double until = now() + timeout.toNanos() / 1e9;
        boolean canWait = true;
        while (true) {
            double left = Math.max(until - now(), 0);
            Call call = new Call("GET", "/v1/queues/{queue}/tasks/{id}", queue, id);
            if (canWait) {
                call.query("wait", Math.round(Math.min(left, 30) * 1000) / 1000.0);
            }
            Task task;
            try {
                task = new Task(json(call));
            } catch (ApiException error) {
                if (error.status() != 422 || !canWait) {
                    throw error;
                }
                canWait = false; // An older server: it is asked again and again.
                continue;
            }
            if (task.state() == State.DONE || task.state() == State.FAILED || task.state() == State.CANCELLED) {
                return task;
            }
            if (left <= 0) {
                throw new PunctualException("task " + id + " of " + queue + " is " + task.get("state") + " after " + timeout);
            }
            if (!canWait) {
                pause(Math.min(left, 0.1));
            }
        }
    }

    /** Everything that happens, as it happens; see {@link EventStream}. */
    public EventStream events(EventStream.Filter filter) {
        return new EventStream(this, filter);
    }

    private void sendWaiting(String queue) {
        while (true) {
            List<Waiting> group;
            synchronized (waiting) {
                List<Waiting> line = waiting.get(queue);
                if (line.isEmpty()) {
                    waiting.remove(queue);
                    return;
                }
                int number = portion(line.stream().map(Waiting::item).toList());
                group = new ArrayList<>(line.subList(0, number));
                line.subList(0, number).clear();
            }
            sendGroup(queue, group);
        }
    }

    private void sendGroup(String queue, List<Waiting> group) {
        try {
            if (group.size() == 1) {
                Call call = new Call("POST", "/v1/queues/{queue}/tasks", queue).body(new Json.Raw(group.get(0).item)).keyed();
                group.get(0).answer.complete(new Pushed(queue, (String) json(call).get("id")));
                return;
            }
            List<Result> results = sendBatch(queue, group.stream().map(Waiting::item).toList());
            for (int index = 0; index < group.size(); index++) {
                Result result = results.get(index);
                if (result.ok()) {
                    group.get(index).answer.complete(new Pushed(queue, result.id()));
                } else {
                    group.get(index).answer.completeExceptionally(ApiException.of(result));
                }
            }
        } catch (RuntimeException error) {
            boolean isRefused = error instanceof ApiException it && (it.status() == 400 || it.status() == 413 || it.status() == 422);
            if (group.size() > 1 && isRefused) {
                // The refusal of a batch may be the fault of one item: each gets its own answer.
                group.forEach(it -> sendGroup(queue, List.of(it)));
            } else {
                group.forEach(it -> it.answer.completeExceptionally(error));
            }
        }
    }

    private List<Result> sendBatch(String queue, List<String> items) {
        return batch(new Call("POST", "/v1/queues/{queue}/tasks", queue).body(batchOf(items)).keyed(), items.size());
    }

    /** Sends a batch; each item has its answer. */
    List<Result> batch(Call call, int number) {
        List<Result> results = new Results(json(call)).results();
        if (results.size() != number) {
            throw new ApiException(200, "unreadable", "the answer has another number of results", null, 0);
        }
        return results;
    }

    static Json.Raw batchOf(List<String> items) {
        return new Json.Raw("{\"tasks\":[" + String.join(",", items) + "]}");
    }

    /** How many of the first items go into one request: at least one. */
    static int portion(List<String> items) {
        int size = 0;
        int number = Math.min(items.size(), ITEMS_MAX);
        for (int index = 0; index < number; index++) {
            size += items.get(index).length();
            if (index > 0 && size > CHARS_MAX) {
                return index;
            }
        }
        return number;
    }

    static String encode(Object value) {
        try {
            return Json.write(value);
        } catch (IllegalArgumentException error) {
            throw new PunctualException(error.getMessage(), error);
        }
    }

    static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    static void pause(double seconds) {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new PunctualException("interrupted", error);
        }
    }
}
