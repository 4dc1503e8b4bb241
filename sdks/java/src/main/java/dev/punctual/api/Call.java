package dev.punctual.api;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A request, ready to be sent again and again. */
public final class Call {
    private static final Pattern PLACE = Pattern.compile("\\{\\w+\\}");
    private static final Pattern PART = Pattern.compile("([0-9.]+)(ms|s|m|h|d)");
    private static final Map<String, Double> UNITS = Map.of("ms", 0.001, "s", 1.0, "m", 60.0, "h", 3600.0, "d", 86400.0);

    final String method;
    final String path;
    final Map<String, String> headers = new LinkedHashMap<>();
    /** Whether it must not be sent again when nobody knows if it took effect. */
    boolean isOnce;
    /** How long the request asks the server to wait. */
    double waitSeconds;
    private final Map<String, String> query = new LinkedHashMap<>();
    private String body = "{}";

    /** A request to a path whose places are filled. Everything but unreserved characters is escaped. */
    public Call(String method, String template, String... values) {
        this.method = method;
        int place = 0;
        Matcher places = PLACE.matcher(template);
        StringBuilder filled = new StringBuilder();
        while (places.find()) {
            String value = values[place++];
            if (value == null || value.isEmpty() || value.equals(".") || value.equals("..")) {
                throw new PunctualException("\"" + value + "\" is no name, id or key: the path would be another one");
            }
            places.appendReplacement(filled, Matcher.quoteReplacement(escape(value)));
        }
        places.appendTail(filled);
        path = filled.toString();
    }

    /** Sends a value as JSON. */
    public Call body(Object value) {
        try {
            body = Json.write(value);
        } catch (IllegalArgumentException error) {
            throw new PunctualException(error.getMessage(), error);
        }
        if (value instanceof JsonObject object) {
            waitSeconds = secondsOf(object.get("wait"));
        }
        return this;
    }

    /** Says how long the server waits before it answers. */
    public Call waits(double seconds) {
        waitSeconds = seconds;
        return this;
    }

    /** A parameter; null is left out. */
    public Call query(String name, Object value) {
        if (value != null) {
            query.put(name, textOf(value));
            waitSeconds = name.equals("wait") ? secondsOf(value) : waitSeconds;
        }
        return this;
    }

    /** A header; null is left out. */
    public Call header(String name, String value) {
        if (value != null) {
            headers.put(name, value);
        }
        return this;
    }

    Call query(JsonObject options, String... names) {
        for (String name : names) {
            query(name, options.get(name));
        }
        return this;
    }

    Call headers(JsonObject options, String... names) {
        for (String name : names) {
            header(name, (String) options.get(name));
        }
        return this;
    }

    /** The server recognises a repeat by its Idempotency-Key. */
    public Call keyed() {
        headers.putIfAbsent("Idempotency-Key", UUID.randomUUID().toString());
        return this;
    }

    /** It must not be sent again when nobody knows whether it took effect. */
    public Call once() {
        isOnce = true;
        return this;
    }

    String target() {
        if (query.isEmpty()) {
            return path;
        }
        return path + "?" + query.entrySet().stream()
                .map(it -> it.getKey() + "=" + escape(it.getValue()))
                .collect(Collectors.joining("&"));
    }

    boolean hasBody() {
        return !method.equals("GET") && !method.equals("DELETE");
    }

    String body() {
        return body;
    }

    private static String escape(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A");
    }

    private static String textOf(Object value) {
        Object plain = Json.plain(value);
        if (plain instanceof List<?> items) {
            return items.stream().map(String::valueOf).collect(Collectors.joining(","));
        }
        return String.valueOf(plain);
    }

    /** The length of a duration as the server reads it: seconds, or numbers with units; 0 if it is neither. */
    static double secondsOf(Object length) {
        if (length instanceof Number number) {
            return number.doubleValue();
        }
        if (!(length instanceof String text)) {
            return 0;
        }
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException hasUnits) {
            double seconds = 0;
            Matcher parts = PART.matcher(text);
            while (parts.find()) {
                seconds += Double.parseDouble(parts.group(1)) * UNITS.get(parts.group(2));
            }
            return seconds;
        }
    }
}
