package dev.punctual;

import dev.punctual.api.Call;
import dev.punctual.api.Json;
import dev.punctual.api.PunctualException;
import dev.punctual.api.Transport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Everything that happens at the server, as it happens, until it is closed. A stream that breaks off is opened again where
 * it was; the event stream.gap says that some are missing. One thread reads it; any may close it.
 */
public final class EventStream implements AutoCloseable {
    /** The server says something at least every 15 seconds. */
    private static final int SILENCE_MAX_S = 45;
    private static final ScheduledExecutorService WATCH =
            Executors.newSingleThreadScheduledExecutor(work -> Client.daemon(work, "punctual-events"));

    /** Something that happened. A stream can go on from its id. */
    public record Event(String type, String id, Map<String, Object> data) {}

    /** Selects events. Queue and type may list several, separated by commas; null: all. */
    public record Filter(String queue, String type, String lastEventId) {
        public Filter(String queue, String type) {
            this(queue, type, null);
        }
    }

    private final Client client;
    private final Filter filter;
    private String lastId;
    private int failures;
    private BufferedReader lines;
    private volatile InputStream stream;
    private volatile boolean isClosed;

    EventStream(Client client, Filter filter) {
        this.client = client;
        this.filter = filter;
        lastId = filter.lastEventId();
    }

    /** Waits for the next event; null once the stream was closed. */
    public Event next() {
        while (!isClosed) {
            try {
                Event event = read();
                failures = 0;
                return event;
            } catch (IOException error) {
                again(client.broken(error));
            } catch (PunctualException error) {
                if (!error.isPassing()) {
                    throw error;
                }
                again(error);
            }
        }
        return null;
    }

    private void again(PunctualException error) {
        hangUp();
        if (!isClosed) {
            Client.pause(Transport.pauseOf(failures++, error, 2));
        }
    }

    private Event read() throws IOException {
        if (stream == null) {
            stream = client.stream(new Call("GET", "/v1/events")
                    .query("queue", filter.queue())
                    .query("type", filter.type())
                    .header("Last-Event-ID", lastId));
            lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
        }
        String type = null;
        List<String> data = new ArrayList<>();
        while (true) {
            String line = line();
            if (line.isEmpty()) {
                if (type != null || !data.isEmpty()) {
                    return event(type, String.join("\n", data));
                }
                continue;
            }
            int colon = line.indexOf(':');
            String name = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1).replaceFirst("^ ", "");
            switch (name) {
                case "data" -> data.add(value);
                case "event" -> type = value;
                case "id" -> lastId = value;
                default -> { }
            }
        }
    }

    private String line() throws IOException {
        ScheduledFuture<?> silence = WATCH.schedule(this::hangUp, SILENCE_MAX_S, TimeUnit.SECONDS);
        try {
            String line = lines.readLine();
            if (line == null) {
                throw new IOException("the stream ended");
            }
            return line;
        } finally {
            silence.cancel(false);
        }
    }

    @SuppressWarnings("unchecked")
    private Event event(String type, String data) {
        Map<String, Object> told = data.isEmpty() ? Map.of() : (Map<String, Object>) Json.read(data);
        return new Event(type == null ? String.valueOf(told.get("type")) : type, lastId, told);
    }

    private void hangUp() {
        InputStream open = stream;
        stream = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException error) {
                // It is of no use any more.
            }
        }
    }

    @Override
    public void close() {
        isClosed = true;
        hangUp();
    }
}
