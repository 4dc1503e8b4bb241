// A worker: carries out the tasks of the queue mail until Ctrl-C.
import dev.punctual.Punctual;

public class Worker {
    record Mail(String to) {}

    public static void main(String[] args) {
        var app = new Punctual();
        app.task("mail", Mail.class, (task, mail) -> "sent to " + mail.to());
        app.run();
    }
}
