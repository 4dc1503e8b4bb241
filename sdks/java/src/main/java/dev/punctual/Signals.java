package dev.punctual;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Turns SIGINT and SIGTERM into a graceful stop. The class for that is no part of the platform's standard, so it is looked
 * up; without it a shutdown hook does nearly the same: a second signal changes nothing then, and the exit code tells the
 * signal.
 */
final class Signals {
    private final Punctual app;
    private final AtomicInteger signals = new AtomicInteger();
    private final List<Runnable> undo = new ArrayList<>();

    Signals(Punctual app) {
        this.app = app;
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Method handle = signal.getMethod("handle", signal, handler);
            Object mine = Proxy.newProxyInstance(handler.getClassLoader(), new Class<?>[] {handler}, (proxy, method, values) -> {
                if (method.getName().equals("handle")) {
                    heard();
                }
                return null;
            });
            for (String name : List.of("INT", "TERM")) {
                Object it = signal.getConstructor(String.class).newInstance(name);
                Object before = handle.invoke(null, it, mine);
                undo.add(() -> quietly(() -> handle.invoke(null, it, before)));
            }
        } catch (ReflectiveOperationException | RuntimeException error) {
            Thread hook = new Thread(() -> {
                app.stop();
                app.join();
            });
            Runtime.getRuntime().addShutdownHook(hook);
            undo.add(() -> quietly(() -> Runtime.getRuntime().removeShutdownHook(hook)));
        }
    }

    private void heard() {
        if (signals.getAndIncrement() == 0) {
            app.stop();
        } else {
            app.hurry();
        }
    }

    /** Leaves signals as they were. */
    void close() {
        undo.forEach(Runnable::run);
    }

    private interface Work {
        void run() throws ReflectiveOperationException;
    }

    private static void quietly(Work work) {
        try {
            work.run();
        } catch (ReflectiveOperationException | RuntimeException error) {
            // The program ends anyway.
        }
    }
}
