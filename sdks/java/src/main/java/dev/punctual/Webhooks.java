package dev.punctual;

import dev.punctual.api.PunctualException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.NamedParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies deliveries: Standard Webhooks, signatures v1 (HMAC-SHA256) and v1a (Ed25519). */
public final class Webhooks {
    /** The bytes before a public Ed25519 key in DER. */
    private static final byte[] PREFIX = HexFormat.of().parseHex("302a300506032b6570032100");
    private static final Duration TOLERANCE = Duration.ofMinutes(5);

    /** The delivery is not genuine, or too old. */
    public static final class WebhookException extends PunctualException {
        private static final long serialVersionUID = 1L;

        WebhookException(String message) {
            super(message);
        }
    }

    private Webhooks() {}

    /**
     * Checks a delivery and returns its webhook-id, by which a repeat is recognised.
     *
     * @param body the request's body as it came, before any parsing
     * @param headers the request's headers, in any case
     * @param secrets one or several of: whsec_… or plain text (HMAC), whpk_… (a public Ed25519 key) or whsk_… (the key pair);
     *     one signature that fits is enough
     */
    public static String verify(byte[] body, Map<String, String> headers, String... secrets) {
        return verify(body, headers, Instant.now(), TOLERANCE, secrets);
    }

    /** The same, at a time, with a difference that the clocks may have. */
    public static String verify(byte[] body, Map<String, String> headers, Instant now, Duration tolerance, String... secrets) {
        String id = header(headers, "webhook-id");
        String stamp = header(headers, "webhook-timestamp");
        String[] signatures = header(headers, "webhook-signature").trim().split("\\s+");
        if (!stamp.matches("\\d{1,15}")) {
            throw new WebhookException("webhook-timestamp is no number");
        }
        if (Math.abs(now.getEpochSecond() - Long.parseLong(stamp)) > tolerance.toSeconds()) {
            throw new WebhookException("webhook-timestamp is too far from now");
        }
        byte[] before = (id + "." + stamp + ".").getBytes(StandardCharsets.UTF_8);
        byte[] message = Arrays.copyOf(before, before.length + body.length);
        System.arraycopy(body, 0, message, before.length, body.length);
        for (String signature : signatures) {
            String[] parts = signature.split(",", 2);
            for (String secret : secrets) {
                if (parts.length == 2 && fits(parts[0], secret, message, decoded(parts[1]))) {
                    return id;
                }
            }
        }
        throw new WebhookException("no signature fits");
    }

    private static String header(Map<String, String> headers, String name) {
        return headers.entrySet().stream()
                .filter(it -> name.equalsIgnoreCase(it.getKey()) && it.getValue() != null && !it.getValue().isEmpty())
                .map(Map.Entry::getValue)
                .findFirst()
                .orElseThrow(() -> new WebhookException("the header '" + name + "' is missing"));
    }

    private static boolean fits(String kind, String secret, byte[] message, byte[] signature) {
        try {
            if (secret.startsWith("whpk_") || secret.startsWith("whsk_")) {
                return kind.equals("v1a") && signature.length == 64 && fitsEd25519(secret, message, signature);
            }
            byte[] key = secret.startsWith("whsec_") ? decoded(secret.substring(6)) : secret.getBytes(StandardCharsets.UTF_8);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return kind.equals("v1") && MessageDigest.isEqual(mac.doFinal(message), signature);
        } catch (GeneralSecurityException | IllegalArgumentException error) {
            return false;
        }
    }

    private static boolean fitsEd25519(String secret, byte[] message, byte[] signature) throws GeneralSecurityException {
        byte[] key = Arrays.copyOf(decoded(secret.substring(5)), 32);
        PublicKey known;
        if (secret.startsWith("whsk_")) {
            known = publicOf(key);
        } else {
            byte[] der = Arrays.copyOf(PREFIX, PREFIX.length + 32);
            System.arraycopy(key, 0, der, PREFIX.length, 32);
            known = KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der));
        }
        Signature verifier = Signature.getInstance("Ed25519");
        verifier.initVerify(known);
        verifier.update(message);
        return verifier.verify(signature);
    }

    /** The public key of a seed: the platform makes it of whatever its source of random bytes says. */
    private static PublicKey publicOf(byte[] seed) throws GeneralSecurityException {
        KeyPairGenerator pairs = KeyPairGenerator.getInstance("Ed25519");
        pairs.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
            private static final long serialVersionUID = 1L;

            @Override
            public void nextBytes(byte[] bytes) {
                System.arraycopy(seed, 0, bytes, 0, bytes.length);
            }
        });
        return pairs.generateKeyPair().getPublic();
    }

    /** Base64, standard or URL-safe, padded or not. */
    private static byte[] decoded(String text) {
        try {
            return Base64.getDecoder().decode(text.replace('-', '+').replace('_', '/').replaceAll("=+$", ""));
        } catch (IllegalArgumentException error) {
            return new byte[0];
        }
    }
}
