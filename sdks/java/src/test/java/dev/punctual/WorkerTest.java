package dev.punctual;

import static dev.punctual.Tests.holds;
import static dev.punctual.Tests.refused;
import static dev.punctual.Tests.same;
import static dev.punctual.Tests.until;

import dev.punctual.api.ApiException;
import dev.punctual.api.Options;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Types.Counts;
import dev.punctual.api.Types.Mode;
import dev.punctual.api.Types.NewTask;
import dev.punctual.api.Types.Retry;
import dev.punctual.api.Types.RetryNow;
import dev.punctual.api.Types.Settings;
import dev.punctual.api.Types.State;
import dev.punctual.api.Types.Task;
import dev.punctual.testing.Server;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/** Workers against a real server: every way a task can end. */
final class WorkerTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private WorkerTest() {}

    private static Punctual app(Server server) {
        return new Punctual(new Options().url(server.url())).grace(Duration.ofSeconds(5)).warn(text -> { });
    }

    private static void end(Punctual app) {
        app.hurry();
        app.join();
    }

    private static void put(Server server, Settings settings) {
        server.client().putQueue("q", settings.keep(ClientTest.KEEP));
    }

    private static Task waited(Server server, String id) {
        return server.client().waitFor("q", id, LONG);
    }

    private static Counts counts(Server server) {
        return server.client().getQueue("q").counts();
    }

    private static State state(Server server, String id) {
        return server.client().getTask("q", id).state();
    }

    private static void pushNumbers(Server server, int number) {
        server.client().pushMany("q", IntStream.range(0, number).mapToObj(n -> new NewTask().id("t" + n).payload(n)).toList());
    }

    static void resultsComeBack() throws Exception {
        try (Server server = Server.start()) {
            put(server, new Settings());
            pushNumbers(server, 300);
            Punctual app = app(server).task("q", Long.class, (task, number) -> Map.of("twice", number * 2));
            app.start();
            until(() -> counts(server).done() == 300);
            same(Map.of("twice", 14L), waited(server, "t7").result());
            end(app);
        }
    }

    static void failuresAreRetriedOrNot() throws Exception {
        try (Server server = Server.start()) {
            put(server, new Settings().maxAttempts(3).retry(new Retry().intervals(List.of(0.01))));
            AtomicBoolean wasGivenBack = new AtomicBoolean();
            Punctual app = app(server).task("q", String.class, (task, kind) -> {
                if (kind.equals("again") && task.attempt() < 3) {
                    task.saveCheckpoint(task.attempt());
                    throw new IllegalStateException("not yet");
                }
                return switch (kind) {
                    case "never" -> throw new Fail("no such address").permanent();
                    case "later" -> throw new Fail("busy").retryIn(Duration.ofHours(1));
                    case "given-back" -> {
                        if (wasGivenBack.compareAndSet(false, true)) {
                            throw new Release();
                        }
                        yield "given";
                    }
                    case "no-json" -> new Object();
                    case "too-large" -> "x".repeat(1 << 20);
                    default -> Arrays.asList(task.attempt(), task.checkpoint());
                };
            });
            app.start();
            for (String kind : List.of("again", "never", "later", "given-back", "no-json", "too-large")) {
                server.client().push("q", kind, new NewTask().id(kind));
            }
            server.client().push("q", 7, new NewTask().id("no-text"));
            same(List.of(3L, 2L), waited(server, "again").result());
            same("given", waited(server, "given-back").result());
            Map<String, String> errors = Map.of("never", "no such address", "no-json", "the result is no JSON",
                    "too-large", "the result was refused", "no-text", "the payload does not fit");
            errors.forEach((id, words) -> {
                Task task = waited(server, id);
                holds(task.state() == State.FAILED && task.attempt() == 1 && task.error().contains(words), task);
            });
            until(() -> state(server, "later") == State.WAITING);
            end(app);
        }
    }

    static void cancelAndPauseReachTheHandler() throws Exception {
        try (Server server = Server.start()) {
            put(server, new Settings().hold("1s"));
            List<StopReason> reasons = new CopyOnWriteArrayList<>();
            Punctual app = app(server).task("q", task -> {
                if (task.checkpoint() != null) {
                    return "went on from " + task.checkpoint(String.class);
                }
                task.progress(0.5, "half way");
                task.onStop(Thread.currentThread()::interrupt);
                try {
                    Thread.sleep(LONG.toMillis());
                } catch (InterruptedException stop) {
                    reasons.add(task.stopReason());
                }
                task.saveCheckpoint("page 7");
                task.check();
                return null;
            });
            app.start();
            server.client().push("q", 1, new NewTask().id("cancelled"));
            until(() -> Double.valueOf(0.5).equals(server.client().getTask("q", "cancelled").progress()));
            server.client().cancelTask("q", "cancelled");
            same(State.CANCELLED, waited(server, "cancelled").state());
            server.client().push("q", 1, new NewTask().id("paused"));
            until(() -> state(server, "paused") == State.RUNNING);
            server.client().pauseTask("q", "paused");
            until(() -> state(server, "paused") == State.PAUSED);
            server.client().resumeTask("q", "paused");
            same("went on from page 7", waited(server, "paused").result());
            same(List.of(StopReason.CANCELLED, StopReason.PAUSED), reasons);
            end(app);
        }
    }

    static void aHoldOutlivesItsLengthAndALostOneIsTold() throws Exception {
        try (Server server = Server.durable()) {
            put(server, new Settings().hold("0.5s"));
            List<StopReason> told = new CopyOnWriteArrayList<>();
            Punctual app = app(server).task("q", String.class, (task, kind) -> {
                if (kind.equals("lose") && task.attempt() == 1) {
                    told.add(task.awaitStop(LONG));
                    return "nobody hears this";
                }
                // Three times its hold.
                same(null, task.awaitStop(Duration.ofMillis(1500)));
                return "kept";
            });
            app.start();
            server.client().push("q", "keep", new NewTask().id("kept"));
            Task kept = waited(server, "kept");
            holds("kept".equals(kept.result()) && kept.attempt() == 1, kept);
            server.client().push("q", "lose", new NewTask().id("lost"));
            until(() -> state(server, "lost") == State.RUNNING);
            server.client().retryTask("q", "lost", new RetryNow().force(true));
            Task lost = waited(server, "lost");
            holds("kept".equals(lost.result()) && lost.attempt() == 2, lost);
            same(List.of(StopReason.LOST), told);
            end(app);
        }
    }

    static void dispatchAndVotes() throws Exception {
        try (Server server = Server.start()) {
            Client client = server.client();
            client.putQueue("render", new Settings().mode(Mode.DISPATCH).keep(ClientTest.KEEP));
            client.putQueue("quorum", new Settings().mode(Mode.VOTE).keep(ClientTest.KEEP));
            List<Punctual> apps = List.of("ada", "bob").stream()
                    .map(name -> app(server).name(name).capabilities(List.of(name))
                            .task("render", task -> name)
                            .task("quorum", task -> {
                                if (name.equals("bob")) {
                                    throw new Fail("away");
                                }
                                return "yes";
                            }))
                    .toList();
            apps.forEach(Punctual::start);
            until(() -> client.listWorkers().items().size() == 2);
            client.push("render", 1, new NewTask().id("scene").requires(List.of("bob")));
            same("bob", client.waitFor("render", "scene", LONG).result());
            client.push("quorum", 1, new NewTask().id("merge"));
            Map<?, ?> votes = (Map<?, ?>) client.waitFor("quorum", "merge", LONG).result();
            holds("yes".equals(votes.get("ada")) && votes.containsKey("bob") && votes.get("bob") == null, votes);
            apps.forEach(Punctual::stop);
            apps.forEach(Punctual::join);
            same(List.of(), client.listWorkers().items());
        }
    }

    static void aStopLetsHandlersFinishAndGivesBackTheRest() throws Exception {
        try (Server server = Server.start()) {
            put(server, new Settings().hold("1h"));
            pushNumbers(server, 6);
            CountDownLatch gate = new CountDownLatch(1);
            Punctual app = app(server).grace(Duration.ofMillis(500)).task("q", 2, 2, task -> {
                gate.await();
                if (task.id().equals("t0")) {
                    return "finished";
                }
                task.saveCheckpoint("so far");
                task.awaitStop(LONG);
                task.check();
                return null;
            });
            app.start();
            until(() -> counts(server).running() == 4);
            gate.countDown();
            until(() -> counts(server).done() == 1);
            long began = System.nanoTime();
            app.stop();
            app.join();
            holds(System.nanoTime() - began < 5_000_000_000L, "an open take keeps no stop waiting");
            Counts it = counts(server);
            same("1 5 0", it.done() + " " + it.ready() + " " + it.running());
        }
    }

    static void workGoesOnOverAKill() throws Exception {
        try (Server server = Server.durable()) {
            put(server, new Settings().hold("20s"));
            List<String> begun = new CopyOnWriteArrayList<>();
            CountDownLatch gate = new CountDownLatch(1);
            Punctual app = app(server).task("q", 4, 0, task -> {
                begun.add(task.id());
                gate.await();
                return "over the crash";
            });
            app.start();
            pushNumbers(server, 8);
            until(() -> begun.size() == 4);
            server.kill();
            gate.countDown();
            server.restart();
            until(() -> counts(server).done() == 8);
            same(List.of("t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"), begun.stream().sorted().toList());
            end(app);
        }
    }

    static void aRefusedWorkerEnds() {
        try (Server server = Server.start()) {
            Punctual app = app(server).name("no name").task("q", task -> null);
            app.start();
            refused(ApiException.class, "worker", () -> {
                app.join();
                return null;
            });
            refused(PunctualException.class, "no handler", () -> {
                app(server).run();
                return null;
            });
            refused(PunctualException.class, "already", () -> app.task("q", task -> null));
        }
    }
}
