import dev.punctual.Fail;
import dev.punctual.Punctual;
import dev.punctual.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** The workers of the story, whose handlers do as their task's payload says. */
final class Workers {
    private final Map<String, Punctual> apps = new ConcurrentHashMap<>();
    private final List<String> stops = new ArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    Object start(String name, List<String> queues, int concurrency, List<String> capabilities) {
        Punctual app = new Punctual().name(name).capabilities(capabilities).grace(Duration.ofMillis(300));
        app.warn(text -> System.err.println("punctual: " + text));
        for (String queue : queues) {
            app.task(queue, concurrency, 0, task -> handle(name, task));
        }
        app.start();
        apps.put(name, app);
        return null;
    }

    Object stop(String name) {
        apps.get(name).stop();
        apps.get(name).join();
        return null;
    }

    List<String> stops() {
        synchronized (stops) {
            return List.copyOf(stops);
        }
    }

    Object openGate() {
        gate.countDown();
        return null;
    }

    private Object handle(String name, Task task) throws Exception {
        Map<?, ?> order = (Map<?, ?>) task.payload();
        switch ((String) order.get("do")) {
            case "return":
                return order.get("value");
            case "name":
                return name;
            case "inputs":
                return order.get("inputs");
            case "fail":
                Fail fail = new Fail((String) order.get("error"));
                throw Boolean.TRUE.equals(order.get("permanent")) ? fail.permanent() : fail;
            case "throw":
                throw new IllegalStateException("thrown");
            case "vote":
                Map<?, ?> votes = (Map<?, ?>) order.get("votes");
                if (votes.containsKey(name)) {
                    return votes.get(name);
                }
                throw new Fail("no opinion");
            case "sleep":
                Thread.sleep((long) (((Number) order.get("seconds")).doubleValue() * 1000));
                return "slept";
            case "gate":
                gate.await();
                return "gate";
            case "fail_twice":
                if (task.attempt() < 3) {
                    task.saveCheckpoint(task.attempt());
                    throw new IllegalStateException("not yet");
                }
                return "checkpoint " + task.checkpoint();
            default:
                return untilStopped(task);
        }
    }

    private Object untilStopped(Task task) throws InterruptedException {
        if (task.checkpoint() != null) {
            return "checkpoint " + task.checkpoint();
        }
        task.progress(0.25, "waiting");
        String stop = task.id() + " " + task.awaitStop(Duration.ofSeconds(30));
        synchronized (stops) {
            stops.add(stop);
        }
        task.saveCheckpoint("so far");
        task.check();
        return "was not stopped";
    }
}
