package dev.punctual;

import dev.punctual.api.PunctualException;

/** Thrown by a handler: the task failed, to be retried as the queue says. */
public final class Fail extends PunctualException {
    private static final long serialVersionUID = 1L;

    private transient Object retryIn;
    private boolean isPermanent;

    public Fail(String message) {
        super(message);
    }

    public Fail(String message, Throwable cause) {
        super(message, cause);
    }

    /** Replaces the queue's own wait: text such as "5m", seconds, or a Duration. */
    public Fail retryIn(Object length) {
        retryIn = length;
        return this;
    }

    /** There is no retry. */
    public Fail permanent() {
        isPermanent = true;
        return this;
    }

    Object retryIn() {
        return retryIn;
    }

    boolean isPermanent() {
        return isPermanent;
    }
}
