package dev.punctual.api;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Turns JSON into records and records into JSON, by the names of their components. */
public final class Records {
    private Records() {}

    /**
     * A value of a type: a record, a list or a map of them, text, a number, a boolean, an enum, or Object for JSON as it is.
     * An error names the component that does not fit.
     */
    public static <T> T read(Object json, Class<T> type) {
        @SuppressWarnings("unchecked")
        T value = (T) convert(json, type, "value");
        return value;
    }

    static Map<String, Object> write(Record record) {
        Map<String, Object> members = new LinkedHashMap<>();
        for (RecordComponent component : record.getClass().getRecordComponents()) {
            try {
                component.getAccessor().setAccessible(true);
                members.put(component.getName(), Json.plain(component.getAccessor().invoke(record)));
            } catch (IllegalAccessException | InvocationTargetException error) {
                throw new IllegalArgumentException(component.getName() + " cannot be read", error);
            }
        }
        return members;
    }

    private static Object convert(Object json, Type type, String place) {
        if (type instanceof ParameterizedType generic) {
            return convertAll(json, generic, place);
        }
        Class<?> raw = (Class<?>) type;
        if (raw.isPrimitive() && json == null) {
            throw wrong(place, "is missing");
        }
        if (json == null || raw == Object.class) {
            return json;
        }
        try {
            return convertOne(json, raw, place);
        } catch (ClassCastException | ArithmeticException error) {
            throw wrong(place, "is no " + raw.getSimpleName());
        }
    }

    private static Object convertOne(Object json, Class<?> raw, String place) {
        if (raw == int.class || raw == Integer.class) {
            return Math.toIntExact((Long) json);
        }
        if (raw == long.class || raw == Long.class) {
            return (Long) json;
        }
        if (raw == double.class || raw == Double.class) {
            return ((Number) json).doubleValue();
        }
        if (raw == boolean.class || raw == Boolean.class) {
            return (Boolean) json;
        }
        if (raw.isRecord()) {
            return record((Map<?, ?>) json, raw, place);
        }
        if (raw.isEnum()) {
            for (Object value : raw.getEnumConstants()) {
                if (value.toString().equals(json)) {
                    return value;
                }
            }
            throw wrong(place, "is no " + raw.getSimpleName());
        }
        return raw.cast(json);
    }

    private static Object convertAll(Object json, ParameterizedType type, String place) {
        if (json == null) {
            return null;
        }
        Type[] of = type.getActualTypeArguments();
        if (type.getRawType() == List.class && json instanceof List<?> list) {
            List<Object> items = new ArrayList<>();
            list.forEach(item -> items.add(convert(item, of[0], place + "/" + items.size())));
            return items;
        }
        if (type.getRawType() == Map.class && json instanceof Map<?, ?> map) {
            Map<String, Object> items = new LinkedHashMap<>();
            map.forEach((name, item) -> items.put((String) name, convert(item, of[1], place + "/" + name)));
            return items;
        }
        throw wrong(place, "is no " + type);
    }

    private static Object record(Map<?, ?> json, Class<?> type, String place) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int index = 0; index < components.length; index++) {
            String name = components[index].getName();
            types[index] = components[index].getType();
            values[index] = convert(json.get(name), components[index].getGenericType(), place + "/" + name);
        }
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (InvocationTargetException error) {
            throw wrong(place, String.valueOf(error.getCause().getMessage()));
        } catch (ReflectiveOperationException error) {
            throw new IllegalArgumentException(type.getName() + " cannot be made", error);
        }
    }

    private static IllegalArgumentException wrong(String place, String what) {
        return new IllegalArgumentException(place + " " + what);
    }
}
