package dev.punctual.api;

/** No connection could be made. Nothing was sent. */
public final class UnreachableException extends PunctualException {
    private static final long serialVersionUID = 1L;

    UnreachableException(String url, Throwable cause) {
        super("cannot reach " + url + ": " + reason(cause), cause);
    }

    static String reason(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }

    @Override
    public boolean isPassing() {
        return true;
    }
}
