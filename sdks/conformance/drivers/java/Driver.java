import dev.punctual.Client;
import dev.punctual.EventStream;
import dev.punctual.Pushed;
import dev.punctual.Webhooks;
import dev.punctual.api.ApiException;
import dev.punctual.api.Json;
import dev.punctual.api.JsonObject;
import dev.punctual.api.NoAnswerException;
import dev.punctual.api.Options;
import dev.punctual.api.Types.*;
import dev.punctual.api.UnreachableException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** Carries out the story's commands with the Java SDK: one JSON object per line in, one answer per line out. */
final class Driver {
    private final Client client = new Client();
    private final Client impatient = new Client(new Options().retryFor(Duration.ZERO));
    private final Workers workers = new Workers();
    private final List<String> heard = new ArrayList<>();
    private CompletableFuture<Pushed> later;

    public static void main(String[] args) throws IOException {
        Driver driver = new Driver();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> told = new LinkedHashMap<>();
            try {
                told.put("ok", driver.answer(new Order(members(Json.read(line)))));
            } catch (Exception error) {
                told.put("error", described(error));
            }
            System.out.println(Json.write(told));
            System.out.flush();
        }
        System.exit(0);
    }

    /** A command of the story. */
    static final class Order extends JsonObject {
        Order(Map<String, Object> members) {
            super(members);
        }

        String text(String name) {
            return (String) get(name);
        }

        int number(String name) {
            return ((Long) get(name)).intValue();
        }

        List<String> texts(String name) {
            List<String> items = new ArrayList<>();
            if (get(name) instanceof List<?> list) {
                list.forEach(it -> items.add((String) it));
            }
            return items;
        }

        /** A member that is a request. */
        <T> T as(String name, Function<Map<String, Object>, T> type) {
            return type.apply(get(name) == null ? new LinkedHashMap<>() : Driver.members(get(name)));
        }

        <T> T options(Function<Map<String, Object>, T> type) {
            return as("options", type);
        }
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> members(Object value) {
        return (Map<String, Object>) value;
    }

    private static Map<String, Object> described(Exception error) {
        Throwable cause = error instanceof CompletionException ? error.getCause() : error;
        Map<String, Object> told = new HashMap<>(Map.of("kind", "other", "detail", String.valueOf(cause)));
        if (cause instanceof ApiException refused) {
            told.putAll(Map.of("kind", "api", "status", refused.status(), "code", refused.code(), "detail", refused.detail()));
        } else if (cause instanceof UnreachableException) {
            told.put("kind", "unreachable");
        } else if (cause instanceof NoAnswerException) {
            told.put("kind", "no_answer");
        } else if (cause instanceof Webhooks.WebhookException) {
            told.put("kind", "webhook");
        }
        return told;
    }

    private Object answer(Order it) {
        String queue = it.text("queue");
        String id = it.text("id");
        return switch (it.text("do")) {
            case "put_queue" -> client.putQueue(queue, it.as("settings", Settings::new));
            case "get_queue" -> client.getQueue(queue);
            case "pause_queue" -> client.pauseQueue(queue);
            case "resume_queue" -> client.resumeQueue(queue);
            case "push" -> client.push(queue, it.get("payload"), it.options(NewTask::new));
            case "push_impatient" -> impatient.push(queue, it.get("payload"));
            case "push_later" -> {
                later = client.pushAsync(queue, it.get("payload"), it.options(NewTask::new));
                yield null;
            }
            case "pushed_later" -> later.join();
            case "push_many" -> client.pushMany(queue, ((List<?>) it.get("tasks")).stream().map(Driver::newTask).toList());
            case "push_together" -> pushTogether(queue, it.texts("ids"));
            case "push_numbers" -> pushNumbers(queue, it.text("prefix"), it.number("count"));
            case "get_task" -> client.getTask(queue, id);
            case "delete_task" -> {
                client.deleteTask(queue, id);
                yield null;
            }
            case "wait_for" -> client.waitFor(queue, id, Duration.ofSeconds(25));
            case "take" -> client.take(queue, it.options(Take::new)).tasks();
            case "extend" -> client.extend(queue, id, it.options(Extend::new).token(it.text("token")));
            case "commit" -> client.commit(queue, id, new Commit().token(it.text("token")).result(it.get("result")));
            case "fail" -> client.fail(queue, id, it.options(Fail::new).token(it.text("token")));
            case "retry_task" -> client.retryTask(queue, id, new RetryNow().force(Boolean.TRUE.equals(it.get("force"))));
            case "cancel_task" -> client.cancelTask(queue, id);
            case "pause_task" -> client.pauseTask(queue, id);
            case "resume_task" -> client.resumeTask(queue, id);
            case "events_start" -> listen(queue, it.text("type"));
            case "events_heard" -> {
                synchronized (heard) {
                    yield List.copyOf(heard);
                }
            }
            case "worker_start" -> workers.start(it.text("name"), it.texts("queues"), it.number("concurrency"), it.texts("capabilities"));
            case "worker_stop" -> workers.stop(it.text("name"));
            case "stops" -> workers.stops();
            case "open_gate" -> workers.openGate();
            case "list_workers" -> client.listWorkers().items().stream().map(Worker::name).toList();
            case "create_flow" -> client.createFlow(it.as("flow", NewFlow::new));
            case "get_flow" -> client.getFlow(id);
            case "create_plan" -> client.createPlan(it.as("plan", NewPlan::new));
            case "preview_plan" -> client.previewPlan(it.as("rule", Preview::new)).items();
            case "get_plan" -> client.getPlan(id);
            case "plan_results" -> client.planResults(id).items();
            case "push_bundle" -> client.pushBundle(queue, it.text("key"), it.as("bundle", BundlePush::new));
            case "schedule_bundle" -> client.scheduleBundle(queue, new BundleSchedule().wait_("5s"));
            case "get_bundle" -> client.getBundle(queue, it.text("key"), new BundleGet().random(it.text("random")));
            case "complete_bundle" -> client.completeBundle(
                    queue, it.text("key"), new BundleComplete().random(it.text("random")).number(it.number("number")));
            case "push_notice" -> client.pushNotice(it.as("notice", Message::new));
            case "get_notice" -> client.getNotice(id);
            case "verify" -> verify(it);
            default -> throw new IllegalArgumentException("no such command: " + it);
        };
    }

    private static NewTask newTask(Object members) {
        return new NewTask(members(members));
    }

    private List<String> pushTogether(String queue, List<String> ids) {
        List<CompletableFuture<Pushed>> together =
                ids.stream().map(id -> client.pushAsync(queue, 1, new NewTask().id(id))).toList();
        return together.stream().map(it -> it.handle((pushed, error) -> error == null ? pushed.id() : ApiException.codeOf(error)).join()).toList();
    }

    private int pushNumbers(String queue, String prefix, int count) {
        List<NewTask> tasks = new ArrayList<>();
        for (int n = 0; n < count; n++) {
            tasks.add(new NewTask().id(prefix + n).payload(Map.of("do", "return", "value", n)));
        }
        return client.pushMany(queue, tasks).size();
    }

    private Object listen(String queue, String type) {
        EventStream events = new Client().events(new EventStream.Filter(queue, type));
        Thread thread = new Thread(() -> {
            for (EventStream.Event event = events.next(); event != null; event = events.next()) {
                List<?> ids = event.data().get("ids") instanceof List<?> several ? several : List.of(String.valueOf(event.data().get("id")));
                synchronized (heard) {
                    for (Object id : ids) {
                        heard.add(event.type() + " " + id);
                    }
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return null;
    }

    private static String verify(Order it) {
        Map<String, String> headers = new HashMap<>();
        members(it.get("headers")).forEach((name, value) -> headers.put(name, (String) value));
        Instant now = Instant.ofEpochSecond(Long.parseLong(it.text("now")));
        byte[] body = it.text("body").getBytes(StandardCharsets.UTF_8);
        return Webhooks.verify(body, headers, now, Duration.ofMinutes(5), it.text("secret"));
    }
}
