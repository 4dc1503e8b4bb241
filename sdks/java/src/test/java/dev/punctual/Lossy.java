package dev.punctual;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/** Stands between a client and its server: counts connections, and can lose an answer. */
final class Lossy implements AutoCloseable {
    final AtomicInteger connections = new AtomicInteger();
    final AtomicInteger answersToLose = new AtomicInteger();
    private final ServerSocket listener;
    private final URI upstream;

    Lossy(String url) throws IOException {
        upstream = URI.create(url);
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(() -> {
            while (true) {
                Socket client = listener.accept();
                Socket server = new Socket(upstream.getHost(), upstream.getPort());
                connections.incrementAndGet();
                thread(() -> copy(client, server, false));
                thread(() -> copy(server, client, true));
            }
        });
    }

    String url() {
        return "http://127.0.0.1:" + listener.getLocalPort();
    }

    private void copy(Socket from, Socket to, boolean isAnswer) throws IOException {
        try (from; to; InputStream input = from.getInputStream(); OutputStream output = to.getOutputStream()) {
            byte[] piece = new byte[1 << 16];
            for (int size = input.read(piece); size >= 0; size = input.read(piece)) {
                if (isAnswer && answersToLose.getAndUpdate(number -> Math.max(number - 1, 0)) > 0) {
                    return;
                }
                output.write(piece, 0, size);
                output.flush();
            }
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void thread(Work work) {
        Client.daemon(() -> {
            try {
                work.run();
            } catch (IOException error) {
                // The connection has ended.
            }
        }, "lossy").start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
