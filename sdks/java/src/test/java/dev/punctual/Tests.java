package dev.punctual;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Runs every static method of the test classes that takes nothing; the exit code says whether all went well. */
public final class Tests {
    private Tests() {}

    public static void main(String[] names) {
        int failures = 0;
        int number = 0;
        for (Class<?> type : List.of(JsonTest.class, WebhooksTest.class, ClientTest.class, WorkerTest.class, ExamplesTest.class)) {
            for (Method method : type.getDeclaredMethods()) {
                boolean isTest = Modifier.isStatic(method.getModifiers()) && method.getParameterCount() == 0
                        && !Modifier.isPrivate(method.getModifiers()) && !method.isSynthetic();
                if (!isTest || names.length > 0 && !List.of(names).contains(method.getName())) {
                    continue;
                }
                number++;
                try {
                    method.invoke(null);
                } catch (InvocationTargetException error) {
                    failures++;
                    System.err.println("FAILED " + type.getSimpleName() + "." + method.getName());
                    error.getCause().printStackTrace();
                } catch (IllegalAccessException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        System.out.println(number + " tests, " + failures + " failed");
        System.exit(failures == 0 && number > 0 ? 0 : 1);
    }

    static void same(Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(found + " is not " + expected);
        }
    }

    static void holds(boolean isSo, Object told) {
        if (!isSo) {
            throw new AssertionError(String.valueOf(told));
        }
    }

    /** Expects an exception of a type whose message has some words. */
    static <E extends Throwable> E refused(Class<E> type, String words, Callable<?> work) {
        try {
            Object value = work.call();
            throw new AssertionError("an error was expected, not " + value);
        } catch (Exception error) {
            if (!type.isInstance(error) || !String.valueOf(error.getMessage()).contains(words)) {
                throw new AssertionError(error + " is no " + type.getSimpleName() + " with " + words, error);
            }
            return type.cast(error);
        }
    }

    /** Waits for a condition, for 20 seconds at most. */
    static void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + 20_000_000_000L;
        while (!condition.call()) {
            holds(System.nanoTime() < end, "the condition did not come to hold");
            Thread.sleep(5);
        }
    }
}
