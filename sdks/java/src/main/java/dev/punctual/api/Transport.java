package dev.punctual.api;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** Sends requests and waits for their answers, with pauses while the server is away. Any number of threads may use it. */
public class Transport {
    static final String DEFAULT_URL = "http://127.0.0.1:23334";
    /** How long a request may take beyond the time it asked the server to wait. */
    private static final double TIMEOUT_S = 30;
    private static final double PAUSE_FIRST_S = 0.1;
    private static final double PAUSE_MAX_S = 2;

    private final String url;
    private final String token;
    private final double retryForS;
    private final HttpClient http;

    protected Transport(Options options) {
        String full = options.url.contains("://") ? options.url : "http://" + options.url;
        if (!full.matches("https?://[^/].*")) {
            throw new PunctualException("\"" + options.url + "\" is no address of a server, such as " + DEFAULT_URL);
        }
        url = full.replaceAll("/+$", "");
        token = options.token;
        retryForS = options.retryFor.toNanos() / 1e9;
        http = options.http != null ? options.http : HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(Duration.ofSeconds(10))
                .build();
    }

    /** The address of the server. */
    public String url() {
        return url;
    }

    /** Sends a request and reads its answer, a JSON object. */
    public Map<String, Object> json(Call call) {
        return object(bytes(call));
    }

    /** Sends a request and reads its answer, any JSON. */
    <T> T answer(Call call, Function<Object, T> reading) {
        return readable(bytes(call), reading);
    }

    private Map<String, Object> object(byte[] content) {
        return readable(content, JsonObject::asMembers);
    }

    private <T> T readable(byte[] content, Function<Object, T> reading) {
        try {
            return reading.apply(Json.read(new String(content, StandardCharsets.UTF_8)));
        } catch (IllegalArgumentException | ClassCastException error) {
            throw new ApiException(200, "unreadable", url + " does not answer as a Punctual server", null, 0);
        }
    }

    public void none(Call call) {
        bytes(call);
    }

    public String text(Call call) {
        return new String(bytes(call), StandardCharsets.UTF_8);
    }

    /** Sends a request and returns its answer. It is sent again while that is of use. */
    public byte[] bytes(Call call) {
        double until = now() + retryForS;
        boolean wasUnclear = false;
        for (int failures = 0; ; failures++) {
            try {
                return answerOf(send(call, BodyHandlers.ofByteArray()));
            } catch (PunctualException error) {
                if (wasUnclear && call.method.equals("DELETE") && error instanceof ApiException gone && gone.status() == 404) {
                    return new byte[0]; // The first try removed it, and its answer was lost.
                }
                double pause = pauseOf(failures, error, PAUSE_MAX_S);
                if (!mayRepeat(error, call) || now() + pause > until) {
                    throw error;
                }
                wasUnclear |= !(error instanceof UnreachableException);
                sleep(pause);
            }
        }
    }

    /** A request under way, which can be given up. It is sent once. */
    public Pending start(Call call) {
        return new Pending(send(call, BodyHandlers.ofByteArray()));
    }

    /** The answer of a request that was sent once. */
    public final class Pending {
        private final CompletableFuture<HttpResponse<byte[]>> answer;

        private Pending(CompletableFuture<HttpResponse<byte[]>> answer) {
            this.answer = answer;
        }

        /** Hangs up, so that the server knows that nobody waits. */
        public void cancel() {
            answer.cancel(true);
        }

        /** Waits for the answer; null if it was given up. */
        public Map<String, Object> json() {
            try {
                return object(answerOf(answer));
            } catch (CancellationException given) {
                return null;
            }
        }
    }

    /** Opens an answer that has no end. The caller closes it. */
    public InputStream stream(Call call) {
        HttpResponse<InputStream> told = await(send(call, BodyHandlers.ofInputStream()));
        if (told.statusCode() < 300) {
            return told.body();
        }
        try (InputStream content = told.body()) {
            throw refusal(told, content.readAllBytes());
        } catch (IOException error) {
            throw broken(error);
        }
    }

    /** The error of a stream that broke off. */
    public PunctualException broken(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException
                    || cause instanceof UnresolvedAddressException) {
                return new UnreachableException(url, cause);
            }
        }
        return new NoAnswerException(url, UnreachableException.reason(error), error);
    }

    private <T> CompletableFuture<HttpResponse<T>> send(Call call, BodyHandler<T> handler) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + call.target()))
                .header("User-Agent", "punctual-java")
                .timeout(Duration.ofMillis((long) ((TIMEOUT_S + call.waitSeconds) * 1000)));
        if (token != null && !token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        call.headers.forEach(request::header);
        if (call.hasBody()) {
            request.header("Content-Type", "application/json");
            request.method(call.method, HttpRequest.BodyPublishers.ofString(call.body()));
        } else {
            request.method(call.method, HttpRequest.BodyPublishers.noBody());
        }
        return http.sendAsync(request.build(), handler);
    }

    private byte[] answerOf(CompletableFuture<HttpResponse<byte[]>> answer) {
        HttpResponse<byte[]> told = await(answer);
        if (told.statusCode() >= 300) {
            throw refusal(told, told.body());
        }
        return told.body();
    }

    private <T> HttpResponse<T> await(CompletableFuture<HttpResponse<T>> answer) {
        try {
            return answer.get();
        } catch (InterruptedException error) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new PunctualException("interrupted", error);
        } catch (ExecutionException error) {
            throw broken(error.getCause());
        }
    }

    private PunctualException refusal(HttpResponse<?> told, byte[] content) {
        String text = new String(content, StandardCharsets.UTF_8);
        double after = told.headers().firstValue("retry-after").map(Call::secondsOf).orElse(0.0);
        int status = told.statusCode();
        try {
            if (Json.read(text) instanceof Map<?, ?> problem && problem.get("code") instanceof String code) {
                Object detail = problem.get("detail");
                return new ApiException(status, code, detail == null ? "" : detail.toString(), (String) problem.get("effect"), after);
            }
        } catch (IllegalArgumentException notItsOwnWords) {
            // Something between here and the server has answered: see below.
        }
        if (status == 502 || status == 503 || status == 504) {
            return new NoAnswerException(url, "something between here and the server answered " + status, null);
        }
        return new ApiException(status, "unreadable", status + ": " + text.substring(0, Math.min(text.length(), 200)), null, after);
    }

    private static boolean mayRepeat(PunctualException error, Call call) {
        if (error instanceof UnreachableException) {
            return true;
        }
        if (error instanceof NoAnswerException) {
            return !call.isOnce;
        }
        return error instanceof ApiException refused
                && (refused.code().equals("limited")
                        || refused.status() == 503 && (!call.isOnce || "none".equals(refused.effect())));
    }

    /** Seconds to wait after so many failures in a row: longer each time, never in step with others. */
    public static double pauseOf(int failures, Throwable error, double max) {
        double pause = Math.min(PAUSE_FIRST_S * Math.pow(2, Math.min(failures, 10)), max);
        double after = error instanceof ApiException refused ? refused.retryAfterSeconds() : 0;
        return Math.max(pause * (0.75 + ThreadLocalRandom.current().nextDouble() / 4), after);
    }

    /** Seconds of a clock that nobody sets. */
    public static double now() {
        return System.nanoTime() / 1e9;
    }

    private static void sleep(double seconds) {
        try {
            Thread.sleep((long) (seconds * 1000));
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            throw new PunctualException("interrupted", error);
        }
    }
}
