package dev.punctual.api;

import java.net.http.HttpClient;
import java.time.Duration;

/** Says where the server is and how to speak to it. */
public final class Options {
    String url = first(System.getenv("PUNCTUAL_URL"), Transport.DEFAULT_URL);
    String token = System.getenv("PUNCTUAL_TOKEN");
    Duration retryFor = Duration.ofSeconds(10);
    HttpClient http;

    /** The server; PUNCTUAL_URL if left out. */
    public Options url(String url) {
        this.url = url;
        return this;
    }

    /** The access token; PUNCTUAL_TOKEN if left out. */
    public Options token(String token) {
        this.token = token;
        return this;
    }

    /** How long a server that is away is waited for; 10 seconds if left out. */
    public Options retryFor(Duration retryFor) {
        this.retryFor = retryFor;
        return this;
    }

    /** Replaces the HTTP client, for proxies and certificates. */
    public Options http(HttpClient http) {
        this.http = http;
        return this;
    }

    /** The same, with another time to wait for a server that is away. */
    public Options withRetryFor(Duration other) {
        Options copy = new Options();
        copy.url = url;
        copy.token = token;
        copy.http = http;
        copy.retryFor = other;
        return copy;
    }

    private static String first(String given, String otherwise) {
        return given == null || given.isEmpty() ? otherwise : given;
    }
}
