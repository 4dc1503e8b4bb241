package dev.punctual.api;

/** Base of everything this package throws. */
public class PunctualException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PunctualException(String message) {
        super(message);
    }

    public PunctualException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Whether the same request may succeed later. */
    public boolean isPassing() {
        return false;
    }
}
