// A long task: progress, checkpoints, a stop in the middle, and log lines.
import dev.punctual.Punctual;
import dev.punctual.Task;
import java.time.Duration;

public class Report {
    record Order(int pages) {}

    public static void main(String[] args) {
        new Punctual().grace(Duration.ofSeconds(10)).task("report", Order.class, Report::write).run();
    }

    static String write(Task task, Order order) {
        int done = task.checkpoint() == null ? 0 : task.checkpoint(int.class);
        for (int page = done + 1; page <= order.pages(); page++) {
            task.check(); // Throws if the task was cancelled or paused, or the program stops.
            task.log("page " + page + " is written");
            task.progress((double) page / order.pages(), "page " + page + " of " + order.pages());
            task.saveCheckpoint(page);
        }
        return order.pages() + " pages";
    }
}
