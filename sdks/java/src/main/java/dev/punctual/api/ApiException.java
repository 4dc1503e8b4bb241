package dev.punctual.api;

import java.util.Map;

/** The server refused the request. The code is stable and for programs, the detail is a sentence for people. */
public final class ApiException extends PunctualException {
    private static final long serialVersionUID = 1L;

    /** The status of an item's code where a batch answers 200. */
    private static final Map<String, Integer> STATUSES = Map.ofEntries(
            Map.entry("bad_json", 400),
            Map.entry("unauthorized", 401),
            Map.entry("forbidden", 403),
            Map.entry("not_found", 404),
            Map.entry("duplicate", 409),
            Map.entry("stale_token", 409),
            Map.entry("wrong_state", 409),
            Map.entry("changed", 412),
            Map.entry("too_large", 413),
            Map.entry("unsupported", 415),
            Map.entry("invalid", 422),
            Map.entry("queue_full", 429),
            Map.entry("limited", 429),
            Map.entry("unavailable", 503));

    private final int status;
    private final String code;
    private final String detail;
    private final String effect;
    private final double retryAfterSeconds;

    public ApiException(int status, String code, String detail, String effect, double retryAfterSeconds) {
        super(detail.isEmpty() ? code : code + ": " + detail);
        this.status = status;
        this.code = code;
        this.detail = detail;
        this.effect = effect;
        this.retryAfterSeconds = retryAfterSeconds;
    }

    /** The error of one item of a batch. */
    public static ApiException of(Types.Result result) {
        String code = result.code() == null ? "invalid" : result.code();
        String detail = result.detail() == null ? "" : result.detail();
        return new ApiException(STATUSES.getOrDefault(code, 422), code, detail, null, 0);
    }

    /** The code of the server's refusal; empty of every other error. */
    public static String codeOf(Throwable error) {
        return error instanceof ApiException refused ? refused.code : "";
    }

    public int status() {
        return status;
    }

    public String code() {
        return code;
    }

    public String detail() {
        return detail;
    }

    /** "none" or "unknown" where the server cannot write at the moment; else null. */
    public String effect() {
        return effect;
    }

    /** Seconds after which to ask again; 0 if the server named none. */
    public double retryAfterSeconds() {
        return retryAfterSeconds;
    }

    @Override
    public boolean isPassing() {
        return status == 429 || status >= 500;
    }
}
