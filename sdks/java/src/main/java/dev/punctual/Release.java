package dev.punctual;

import dev.punctual.api.PunctualException;

/** Thrown by a handler: the task is given back, and this attempt does not count. */
public final class Release extends PunctualException {
    private static final long serialVersionUID = 1L;

    private final transient Object delay;

    public Release() {
        this(null);
    }

    /** With a delay until it may be taken again: text such as "1m", seconds, or a Duration. */
    public Release(Object delay) {
        super("given back");
        this.delay = delay;
    }

    Object delay() {
        return delay;
    }
}
