package dev.punctual;

import static dev.punctual.Tests.refused;
import static dev.punctual.Tests.same;

import dev.punctual.api.Json;
import dev.punctual.api.Records;
import dev.punctual.api.Types;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** JSON is read and written. */
final class JsonTest {
    private JsonTest() {}

    record Line(String item, int number, double price, boolean isGift) {}

    record Order(String id, List<Line> lines, Map<String, Long> counts, Object note) {}

    static void textIsWrittenAsItWasRead() {
        for (String text : List.of("null", "true", "-7", "0.5", "1e+300", "\"\"", "[]", "{}", "[1,[2,{\"a\":null}]]",
                "{\"b\":1,\"a\":\"\\\"\\\\\\n\"}", "\"\\u0001\"", "\"héé 😀\"", "9223372036854775807", "92233720368547758070")) {
            same(text.replace("1e+300", "1.0E300"), Json.write(Json.read(text)));
        }
        same("é\t/", Json.read("\"\\u00e9\\t\\/\""));
        same("\"\\ud800\"", Json.write("\ud800"));
        same(new BigInteger("92233720368547758070"), Json.read("92233720368547758070"));
    }

    static void wrongTextIsRefused() {
        for (String text : List.of("", " ", "{", "[1", "[1 2]", "{\"a\"}", "{a:1}", "\"a", "nul", "1 2", "\"\\x\"", "\"\\u12\"", "-", "[1,]",
                "[".repeat(100_000))) {
            refused(IllegalArgumentException.class, "no JSON, at ", () -> Json.read(text));
        }
    }

    static void valuesAreWritten() {
        same("[1,2.5,\"a\",\"x\",60.5,\"1970-01-01T00:00:00Z\"]",
                Json.write(Arrays.asList(1, 2.5f, 'a', "x", Duration.ofMillis(60_500), Instant.EPOCH)));
        same("[1,2]", Json.write(new int[] {1, 2}));
        same("{\"mode\":\"pull\"}", Json.write(new Types.Settings().mode(Types.Mode.PULL)));
        refused(IllegalArgumentException.class, "NaN", () -> Json.write(Double.NaN));
        refused(IllegalArgumentException.class, "java.lang.Object", () -> Json.write(new Object()));
    }

    static void recordsAreReadAndWritten() {
        String text = "{\"id\":\"o\",\"lines\":[{\"item\":\"pen\",\"number\":2,\"price\":1.5,\"isGift\":true}],\"counts\":{\"a\":1},\"note\":[1]}";
        Order order = Records.read(Json.read(text), Order.class);
        same(new Line("pen", 2, 1.5, true), order.lines().get(0));
        same(text, Json.write(order));
        same(7, Records.read(7L, int.class));
        refused(IllegalArgumentException.class, "value/lines/0/number is missing", () -> Records.read(Json.read("{\"lines\":[{}]}"), Order.class));
        refused(IllegalArgumentException.class, "value/id is no String", () -> Records.read(Json.read("{\"id\":1}"), Order.class));
        refused(IllegalArgumentException.class, "value is no Order", () -> Records.read(1L, Order.class));
        refused(IllegalArgumentException.class, "value is no int", () -> Records.read(1L << 40, int.class));
    }

    static void membersOfNewerServersAreKept() {
        Types.Task task = new Types.Task(Map.of("id", "a", "state", "in_orbit", "moons", 2L));
        same(Types.State.OTHER, task.state());
        same(2L, task.get("moons"));
        same(null, task.error());
        same(0L, task.attempt());
    }
}
