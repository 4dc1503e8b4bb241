package dev.punctual.api;

import java.lang.reflect.Array;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON. Objects are maps in the order of their members, numbers are Long, BigInteger or Double. Also
 * written are records, arrays, enums, times (as text) and durations (as seconds).
 */
public final class Json {
    private Json() {}

    /** JSON of a value; an error if it has none. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, plain(value));
        return out.toString();
    }

    /** The value of JSON; an error that says where it is wrong. */
    public static Object read(String text) {
        return new JsonReader(text).whole();
    }

    /** A value made of nothing but maps, lists, text, numbers, booleans and null. */
    public static Object plain(Object value) {
        if (value == null || value instanceof String || value instanceof Boolean || value instanceof Raw) {
            return value;
        }
        if (value instanceof Number number) {
            return plainNumber(number);
        }
        if (value instanceof JsonObject object) {
            return object.members();
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, Object> members = new LinkedHashMap<>();
            map.forEach((name, member) -> members.put(String.valueOf(name), plain(member)));
            return members;
        }
        if (value instanceof Iterable<?> items) {
            List<Object> list = new ArrayList<>();
            items.forEach(item -> list.add(plain(item)));
            return list;
        }
        if (value.getClass().isArray()) {
            List<Object> list = new ArrayList<>();
            for (int index = 0; index < Array.getLength(value); index++) {
                list.add(plain(Array.get(value, index)));
            }
            return list;
        }
        if (value instanceof JsonObject.Text choice) {
            return choice.text();
        }
        if (value instanceof Duration length) {
            return length.toNanos() / 1e9;
        }
        if (value instanceof Record record) {
            return Records.write(record);
        }
        if (value instanceof Enum<?> || value instanceof Instant || value instanceof Character) {
            return value.toString();
        }
        throw new IllegalArgumentException(value.getClass().getName() + " is no JSON");
    }

    private static Object plainNumber(Number number) {
        if (number instanceof Double || number instanceof Float) {
            if (Double.isNaN(number.doubleValue()) || Double.isInfinite(number.doubleValue())) {
                throw new IllegalArgumentException(number + " is no JSON");
            }
            return number.doubleValue();
        }
        return number instanceof BigInteger || number instanceof BigDecimal ? number : (Object) number.longValue();
    }

    /** JSON that is written as it is. */
    public record Raw(String text) {}

    private static void write(StringBuilder out, Object value) {
        if (value instanceof String text) {
            quote(out, text);
        } else if (value instanceof Map<?, ?> members) {
            char before = '{';
            for (Map.Entry<?, ?> member : members.entrySet()) {
                out.append(before);
                quote(out, (String) member.getKey());
                out.append(':');
                write(out, member.getValue());
                before = ',';
            }
            out.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> items) {
            char before = '[';
            for (Object item : items) {
                out.append(before);
                write(out, item);
                before = ',';
            }
            out.append(items.isEmpty() ? "[]" : "]");
        } else if (value instanceof Raw raw) {
            out.append(raw.text());
        } else if (value instanceof Double number && number == Math.rint(number) && Math.abs(number) < 1e15) {
            out.append(number.longValue());
        } else {
            out.append(value);
        }
    }

    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int index = 0; index < text.length(); index++) {
            char it = text.charAt(index);
            switch (it) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> {
                    // Half a pair has no UTF-8: it can only be written escaped.
                    if (it < ' ' || isHalf(text, index)) {
                        out.append(String.format("\\u%04x", (int) it));
                    } else {
                        out.append(it);
                    }
                }
            }
        }
        out.append('"');
    }

    private static boolean isHalf(String text, int index) {
        char it = text.charAt(index);
        if (Character.isHighSurrogate(it)) {
            return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
        }
        return Character.isLowSurrogate(it) && (index == 0 || !Character.isHighSurrogate(text.charAt(index - 1)));
    }
}
