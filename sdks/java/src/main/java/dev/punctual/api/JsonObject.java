package dev.punctual.api;

import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A JSON object with named members. Members that this version does not know are kept, and so is the difference between a
 * member that is null and one that is not there.
 */
public abstract class JsonObject {
    /** A choice, as it is written. */
    public interface Text {
        String text();
    }

    private final Map<String, Object> members;

    protected JsonObject() {
        this(new LinkedHashMap<>());
    }

    protected JsonObject(Map<String, Object> members) {
        this.members = members;
    }

    /** The members as JSON has them: Map, List, String, Long, Double, Boolean, null. */
    public Map<String, Object> members() {
        return members;
    }

    /** One member, as JSON has it; null if it is not there. */
    public Object get(String name) {
        return members.get(name);
    }

    @Override
    public String toString() {
        return Json.write(members);
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass() && members.equals(((JsonObject) other).members);
    }

    @Override
    public int hashCode() {
        return members.hashCode();
    }

    protected void set(String name, Object value) {
        members.put(name, Json.plain(value));
    }

    /** A member of a type; null if it is null or not there. */
    protected <T> T read(String name, Function<Object, T> reading) {
        return read(name, reading, null);
    }

    protected <T> T read(String name, Function<Object, T> reading, T absent) {
        Object value = members.get(name);
        return value == null ? absent : reading.apply(value);
    }

    @SuppressWarnings("unchecked")
    protected static Map<String, Object> asMembers(Object value) {
        return (Map<String, Object>) value;
    }

    protected static <T> List<T> asList(Object value, Function<Object, T> reading) {
        List<T> items = new ArrayList<>();
        for (Object item : (List<?>) value) {
            items.add(item == null ? null : reading.apply(item));
        }
        return items;
    }

    protected static <T> Map<String, T> asMap(Object value, Function<Object, T> reading) {
        Map<String, T> items = new LinkedHashMap<>();
        asMembers(value).forEach((name, item) -> items.put(name, item == null ? null : reading.apply(item)));
        return items;
    }

    protected static Long asLong(Object value) {
        return ((Number) value).longValue();
    }

    protected static Double asDouble(Object value) {
        return ((Number) value).doubleValue();
    }

    protected static Instant asTime(Object value) {
        return DateTimeFormatter.ISO_OFFSET_DATE_TIME.parse((String) value, Instant::from);
    }

    static <T extends Text> T valueOf(T[] values, T other, String text) {
        for (T value : values) {
            if (text.equals(value.text())) {
                return value;
            }
        }
        return other;
    }
}
