package dev.punctual.testing;

import dev.punctual.Client;
import dev.punctual.api.Options;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Types.Move;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** A real server for tests, on a free port, with a clock that tests can move. */
public final class Server implements AutoCloseable {
    private static final String READY = "punctual is ready on ";

    private final List<String> command = new ArrayList<>();
    private final Path directory;
    private Process process;
    private String url;

    private Server(boolean isDurable, boolean hasClock, String... args) {
        try {
            directory = Files.createTempDirectory("punctual-");
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        String binary = System.getenv("PUNCTUAL_BIN");
        String store = isDurable ? directory.resolve("data").toString() : "memory:";
        // A restart comes back under the same address.
        command.addAll(List.of(
                binary == null ? "punctual" : binary, "serve", "--listen", "127.0.0.1:" + freePort(), "--store", store));
        if (hasClock) {
            command.add("--dev");
        }
        command.addAll(List.of(args));
        restart();
    }

    /** Starts the binary that PUNCTUAL_BIN names, else punctual on the PATH, in memory, with a clock that can be moved. */
    public static Server start(String... args) {
        return new Server(false, true, args);
    }

    /** Starts one whose data outlives kill and restart, until it is closed. Its clock is the real one. */
    public static Server durable(String... args) {
        return new Server(true, false, args);
    }

    public String url() {
        return url;
    }

    /** A client of this server. */
    public Client client() {
        return new Client(new Options().url(url).token(""));
    }

    /** Starts it, again if it was killed, and waits until it is ready. */
    public void restart() {
        kill();
        Path log = directory.resolve("log");
        try {
            process = new ProcessBuilder(command).directory(directory.toFile())
                    .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
            String line = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8)).readLine();
            if (line == null || !line.startsWith(READY)) {
                throw new PunctualException("the server did not get ready: " + line + " " + Files.readString(log));
            }
            url = line.substring(READY.length()).trim();
        } catch (IOException error) {
            throw new PunctualException("the server cannot be started, PUNCTUAL_BIN names the binary", error);
        }
    }

    /** Ends it as a crash would, with kill -9. */
    public void kill() {
        if (process != null) {
            process.destroyForcibly();
            process.onExit().join();
            process = null;
        }
    }

    /** Moves the clock on, as if the server had slept; returns when all that fell due was handed out. */
    public Instant advance(Object by) {
        return client().moveClock(new Move().advance(by)).now();
    }

    /** Ends it and removes its data. */
    @Override
    public void close() {
        kill();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** A port that no connection of another program takes while the server is down: they use those above. */
    private static int freePort() {
        for (int tries = 0; tries < 200; tries++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return probe.getLocalPort();
            } catch (IOException taken) {
                // The next one may be free.
            }
        }
        throw new PunctualException("no free port between 10000 and 30000");
    }
}
