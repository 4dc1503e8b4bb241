package dev.punctual.api;

/** The connection broke, or no answer came in time. The request may have taken effect. */
public final class NoAnswerException extends PunctualException {
    private static final long serialVersionUID = 1L;

    NoAnswerException(String url, String reason, Throwable cause) {
        super("no answer from " + url + ": " + reason, cause);
    }

    @Override
    public boolean isPassing() {
        return true;
    }
}
