package dev.punctual.api;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON text. */
final class JsonReader {
    private static final int DEPTH_MAX = 1_000;

    private final String text;
    private int at;
    private int depth;

    JsonReader(String text) {
        this.text = text;
    }

    Object whole() {
        Object value = value();
        skip();
        if (at < text.length()) {
            throw wrong("something follows the value");
        }
        return value;
    }

    private Object value() {
        skip();
        if (at == text.length()) {
            throw wrong("it ends too early");
        }
        char first = text.charAt(at);
        return switch (first) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        enter();
        for (boolean isFirst = true; !ends('}', isFirst); isFirst = false) {
            skip();
            if (at == text.length() || text.charAt(at) != '"') {
                throw wrong("a member has no name");
            }
            String name = string();
            skip();
            expect(':');
            members.put(name, value());
        }
        return members;
    }

    private List<Object> list() {
        List<Object> items = new ArrayList<>();
        enter();
        for (boolean isFirst = true; !ends(']', isFirst); isFirst = false) {
            items.add(value());
        }
        return items;
    }

    private void enter() {
        at++;
        if (++depth > DEPTH_MAX) {
            throw wrong("it is too deep");
        }
    }

    /** Whether the list or object ends here; a further item stands after a comma. */
    private boolean ends(char end, boolean isFirst) {
        skip();
        if (at < text.length() && text.charAt(at) == end) {
            at++;
            depth--;
            return true;
        }
        if (!isFirst) {
            expect(',');
        }
        return false;
    }

    private String string() {
        at++;
        StringBuilder out = new StringBuilder();
        while (at < text.length()) {
            char it = text.charAt(at++);
            if (it == '"') {
                return out.toString();
            }
            out.append(it == '\\' ? escaped() : it);
        }
        throw wrong("text does not end");
    }

    private char escaped() {
        if (at == text.length()) {
            throw wrong("text does not end");
        }
        char it = text.charAt(at++);
        return switch (it) {
            case '"', '\\', '/' -> it;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unicode();
            default -> throw wrong("no such escape: \\" + it);
        };
    }

    private char unicode() {
        if (at + 4 > text.length()) {
            throw wrong("text does not end");
        }
        try {
            char it = (char) Integer.parseInt(text, at, at + 4, 16);
            at += 4;
            return it;
        } catch (NumberFormatException error) {
            throw wrong("no such escape");
        }
    }

    private Object number() {
        int from = at;
        boolean isWhole = true;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            isWhole &= "-0123456789".indexOf(text.charAt(at++)) >= 0;
        }
        String digits = text.substring(from, at);
        try {
            if (!isWhole) {
                return Double.valueOf(digits);
            }
            return digits.length() < 19 ? (Object) Long.valueOf(digits) : shortest(new BigInteger(digits));
        } catch (NumberFormatException error) {
            at = from;
            throw wrong("no value stands here");
        }
    }

    private static Object shortest(BigInteger number) {
        return number.bitLength() < 64 ? (Object) number.longValue() : number;
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("no value stands here");
        }
        at += word.length();
        return value;
    }

    private void expect(char it) {
        if (at == text.length() || text.charAt(at) != it) {
            throw wrong("'" + it + "' is missing");
        }
        at++;
    }

    private void skip() {
        while (at < text.length() && " \n\r\t".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException("no JSON, at " + at + ": " + what);
    }
}
