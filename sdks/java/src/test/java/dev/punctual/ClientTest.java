package dev.punctual;

import static dev.punctual.Tests.holds;
import static dev.punctual.Tests.refused;
import static dev.punctual.Tests.same;
import static dev.punctual.Tests.until;

import dev.punctual.api.ApiException;
import dev.punctual.api.NoAnswerException;
import dev.punctual.api.Operations.ListTasksOptions;
import dev.punctual.api.Operations.PlanOccurrencesOptions;
import dev.punctual.api.Options;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Types.BundlePush;
import dev.punctual.api.Types.Keep;
import dev.punctual.api.Types.Message;
import dev.punctual.api.Types.Move;
import dev.punctual.api.Types.NewFlow;
import dev.punctual.api.Types.NewPlan;
import dev.punctual.api.Types.NewStep;
import dev.punctual.api.Types.NewTask;
import dev.punctual.api.Types.PlanType;
import dev.punctual.api.Types.Reason;
import dev.punctual.api.Types.Settings;
import dev.punctual.api.Types.State;
import dev.punctual.api.UnreachableException;
import dev.punctual.testing.Server;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The client against a real server. */
final class ClientTest {
    static final Keep KEEP = new Keep().done("1h").failed("1h").cancelled("1h");

    private ClientTest() {}

    static void everyResourceIsReadAndWritten() {
        try (Server server = Server.start("--allow-private-targets")) {
            Client client = server.client();
            same(10.0, client.putQueue("mail", new Settings().hold("10s").tag("letters")).hold());
            same(null, client.putQueue("mail", new Settings().tag(null)).tag());
            client.pushTask("mail", new NewTask().id("m1").payload(Map.of("to", "ada")).priority(3));
            same(3L, client.getTask("mail", "m1").priority());
            same(Map.of("to", "ada"), client.getTask("mail", "m1").payload());
            same(Reason.NO_TAKER, client.why("mail", "m1").reason());
            same(1L, client.pushBundle("mail", "key/1", new BundlePush().task(1)).size());
            same(List.of(1L), client.readBundle("mail", "key/1").tasks());
            String notice = client.pushNotice(new Message().url("http://127.0.0.1:9/").data(Map.of("a", 1))).id();
            same("http://127.0.0.1:9/", client.getNotice(notice).url());
            var plan = client.createPlan(
                    new NewPlan().station("mail").planType(PlanType.HOUR).planValue(1).planRepet(2).planTime(0));
            same(List.of(plan.nextAt()), client.planOccurrences(plan.planId(), new PlanOccurrencesOptions().n(1)).items());
            var flow = client.createFlow(new NewFlow().steps(List.of(
                    new NewStep().name("a").queue("mail"), new NewStep().name("b").queue("mail").after(List.of("a")))));
            same("pending", client.getFlow(flow.id()).steps().get(1).get("state"));
            var page = client.listTasks("mail", new ListTasksOptions().state("ready").limit(1));
            holds(page.items().size() == 1 && page.next() != null, page);
            holds(client.metrics().startsWith("#"), "metrics");
            client.deleteTask("mail", "m1");
        }
    }

    static void pushesGather() throws Exception {
        try (Server server = Server.start(); Lossy between = new Lossy(server.url())) {
            Client client = new Client(between.url());
            client.push("q", 1, new NewTask().id("taken"));
            List<String> ids = IntStream.range(0, 200).mapToObj(n -> "t" + n).toList();
            same(ids, pushed(client, ids));
            holds(between.connections.get() < 5, between.connections);
            same(List.of("a", "duplicate", "invalid", "d"), pushed(client, List.of("a", "taken", "b c", "d")));
        }
    }

    private static List<String> pushed(Client client, List<String> ids) {
        List<CompletableFuture<String>> together = ids.stream()
                .map(id -> client.pushAsync("q", 1, new NewTask().id(id))
                        .handle((it, error) -> error == null ? it.id() : ApiException.codeOf(error)))
                .toList();
        return together.stream().map(CompletableFuture::join).toList();
    }

    static void lostAnswersHaveNoSecondEffect() throws Exception {
        try (Server server = Server.start(); Lossy between = new Lossy(server.url())) {
            Client client = new Client(between.url());
            between.answersToLose.set(1);
            client.push("once", 1);
            same(1L, client.getQueue("once").counts().total());
            between.answersToLose.set(1);
            client.deleteQueue("once");
            between.answersToLose.set(1);
            refused(NoAnswerException.class, "no answer", () -> client.moveClock(new Move().advance("1s")));
        }
    }

    static void badInputIsToldAtOnce() {
        try (Server server = Server.start()) {
            Client client = server.client();
            ApiException error = refused(ApiException.class, "hold", () -> client.putQueue("q", new Settings().hold("soon")));
            same("422 invalid", error.status() + " " + error.code());
            refused(PunctualException.class, "no name", () -> client.getQueue(".."));
            refused(PunctualException.class, "no JSON", () -> client.push("q", Double.NaN));
            refused(PunctualException.class, "no JSON", () -> client.push("q", new Object()));
            refused(PunctualException.class, "no address", () -> new Client("ftp://nowhere"));
        }
    }

    static void aServerThatIsAwayIsWaitedFor() throws Exception {
        try (Server server = Server.durable()) {
            Client client = server.client();
            List<String> heard = new java.util.concurrent.CopyOnWriteArrayList<>();
            EventStream events = client.events(new EventStream.Filter("q", "task.*"));
            Thread listener = new Thread(() -> Stream.generate(events::next).takeWhile(it -> it != null)
                    .forEach(it -> heard.add(String.valueOf(it.data().get("id")))));
            listener.start();
            int[] number = {0};
            until(() -> client.push("q", 1, new NewTask().id("a" + number[0]++)) != null && !heard.isEmpty());
            server.kill();
            Client hasty = new Client(new Options().url(server.url()).retryFor(Duration.ZERO));
            refused(UnreachableException.class, "cannot reach", () -> hasty.push("q", 1));
            var pushing = client.pushAsync("q", 2, new NewTask().id("meanwhile"));
            server.restart();
            same("meanwhile", pushing.join().id());
            until(() -> client.push("q", 1, new NewTask().id("b" + number[0]++)) != null
                    && heard.stream().anyMatch(it -> it.startsWith("b")));
            events.close();
            listener.join(20_000);
            holds(!listener.isAlive(), "a closed stream ends");
        }
    }

    static void theEndOfATaskIsWaitedFor() {
        try (Server server = Server.start()) {
            Client client = server.client();
            client.putQueue("ends", new Settings().keep(KEEP));
            client.push("ends", 1, new NewTask().id("t").delay(Duration.ofHours(1)));
            refused(PunctualException.class, "is waiting", () -> client.waitFor("ends", "t", Duration.ofMillis(50)));
            client.cancelTask("ends", "t");
            same(State.CANCELLED, client.waitFor("ends", "t", Duration.ofSeconds(20)).state());
        }
    }
}
