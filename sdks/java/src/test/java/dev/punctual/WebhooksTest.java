package dev.punctual;

import static dev.punctual.Tests.holds;
import static dev.punctual.Tests.refused;
import static dev.punctual.Tests.same;

import com.sun.net.httpserver.HttpServer;
import dev.punctual.api.Types.Mode;
import dev.punctual.api.Types.Settings;
import dev.punctual.testing.Server;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Deliveries are verified, genuine ones and others. */
final class WebhooksTest {
    private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    private static final String PAIR = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    private static final String PUBLIC = "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=";

    private WebhooksTest() {}

    static void theKnownExampleFitsAndOthersDoNot() {
        // The example of the Standard Webhooks specification.
        String body = "{\"test\": 2432232314}";
        Map<String, String> headers = Map.of(
                "Webhook-Id", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                "Webhook-Timestamp", "1614265330",
                "Webhook-Signature", "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        same("msg_p5jXN8AQM9LWM0D4loKWxJek", verify(body, headers, 1614265330));
        refused(body + " ", headers, 1614265330);
        refused(body, with(headers, "Webhook-Id", "other"), 1614265330);
        refused(body, with(headers, "Webhook-Signature", "v1,AAAA"), 1614265330);
        refused(body, with(headers, "Webhook-Signature", "v1"), 1614265330);
        refused(body, with(headers, "Webhook-Timestamp", "soon"), 1614265330);
        refused(body, headers, 1614265330 + 301);
        refused(body, headers, 1614265330 - 301);
        refused(body, Map.of(), 1614265330);
    }

    private static String verify(String body, Map<String, String> headers, long now) {
        byte[] content = body.getBytes(StandardCharsets.UTF_8);
        return Webhooks.verify(content, headers, Instant.ofEpochSecond(now), Duration.ofMinutes(5), "whsec_AAAA", SECRET);
    }

    private static void refused(String body, Map<String, String> headers, long now) {
        Tests.refused(Webhooks.WebhookException.class, "", () -> verify(body, headers, now));
    }

    private static Map<String, String> with(Map<String, String> headers, String name, String value) {
        Map<String, String> other = new HashMap<>(headers);
        other.put(name, value);
        return other;
    }

    private record Delivery(byte[] body, Map<String, String> headers) {}

    static void realDeliveriesAreVerified() throws Exception {
        CompletableFuture<Delivery> delivered = new CompletableFuture<>();
        HttpServer target = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        target.createContext("/", exchange -> {
            Map<String, String> headers = new HashMap<>();
            exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.get(0)));
            delivered.complete(new Delivery(exchange.getRequestBody().readAllBytes(), headers));
            answer(exchange);
        });
        target.start();
        try (Server server = Server.durable("--allow-private-targets")) {
            String url = "http://127.0.0.1:" + target.getAddress().getPort() + "/";
            server.client().putQueue("hooks", new Settings().mode(Mode.HTTP).url(url).secret(List.of(SECRET, PAIR)));
            server.client().push("hooks", Map.of("a", 1));
            Delivery it = delivered.get(20, TimeUnit.SECONDS);
            byte[] other = (new String(it.body, StandardCharsets.UTF_8) + "x").getBytes(StandardCharsets.UTF_8);
            for (String secret : List.of(SECRET, PAIR, PUBLIC)) {
                holds(!Webhooks.verify(it.body, it.headers, secret).isEmpty(), secret);
                Tests.refused(Webhooks.WebhookException.class, "no signature fits", () -> Webhooks.verify(other, it.headers, secret));
            }
        } finally {
            target.stop(0);
        }
    }

    private static void answer(com.sun.net.httpserver.HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(204, -1);
        exchange.close();
    }
}
