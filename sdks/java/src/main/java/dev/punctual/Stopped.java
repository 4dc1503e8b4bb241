package dev.punctual;

import dev.punctual.api.PunctualException;

/** Thrown by {@link Task#check}, for a handler that gives in. */
public final class Stopped extends PunctualException {
    private static final long serialVersionUID = 1L;

    private final StopReason reason;

    Stopped(StopReason reason) {
        super(reason.toString());
        this.reason = reason;
    }

    public StopReason reason() {
        return reason;
    }
}
