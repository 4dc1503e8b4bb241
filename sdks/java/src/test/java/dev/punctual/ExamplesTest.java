package dev.punctual;

import static dev.punctual.Tests.holds;
import static dev.punctual.Tests.same;

import dev.punctual.api.Types.NewTask;
import dev.punctual.api.Types.Settings;
import dev.punctual.testing.Server;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The examples and those of the README run. The program is started in the folder of the SDK. */
final class ExamplesTest {
    private static final Path EXAMPLE = Path.of("examples/Worker.java");

    private ExamplesTest() {}

    /** Runs a source file as it is, as a reader would. */
    private static Process started(Server server, Path source) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        ProcessBuilder program = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), source.toString());
        program.environment().put("PUNCTUAL_URL", server.url());
        return program.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static void ended(Process worker) throws InterruptedException {
        worker.destroy();
        holds(worker.waitFor(20, TimeUnit.SECONDS) && worker.exitValue() == 0, "a signal ends a worker gracefully");
    }

    static void examples() throws Exception {
        try (Server server = Server.start()) {
            Client client = server.client();
            for (String queue : List.of("mail", "report")) {
                client.putQueue(queue, new Settings().keep(ClientTest.KEEP));
            }
            Process worker = started(server, EXAMPLE);
            Process report = started(server, Path.of("examples/Report.java"));
            client.push("mail", Map.of("to", "ada"), new NewTask().id("m"));
            client.push("report", Map.of("pages", 5), new NewTask().id("r"));
            same("sent to ada", client.waitFor("mail", "m", Duration.ofSeconds(60)).result());
            same("5 pages", client.waitFor("report", "r", Duration.ofSeconds(60)).result());
            ended(worker);
            ended(report);
        }
    }

    static void theReadme() throws Exception {
        List<String> blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(Path.of("README.md")))
                .results().map((MatchResult it) -> it.group(1)).toList();
        same(Files.readString(EXAMPLE).replaceFirst("(?s)^//.*?\n", ""), blocks.get(0));
        holds(blocks.get(0).lines().count() < 15, "the worker has under 15 lines");
        Path source = Files.createTempDirectory("punctual-").resolve("Program.java");
        Files.writeString(source, blocks.get(1));
        try (Server server = Server.start()) {
            server.client().putQueue("mail", new Settings().keep(ClientTest.KEEP));
            Process worker = started(server, EXAMPLE);
            Process program = started(server, source);
            String printed = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            same("DONE sent to ada", printed.trim());
            same(0, program.waitFor());
            ended(worker);
        } finally {
            Files.delete(source);
            Files.delete(source.getParent());
        }
    }
}
