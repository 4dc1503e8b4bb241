// Serves the dashboard from disk in front of a running server, so that a change is seen on reload.
//   npm run dev -- http://127.0.0.1:23334     then open the address it prints

import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const app = new URL("./app/", import.meta.url);

/** Starts it; answers its address. */
export function serve(target, port = 0) {
  const server = createServer((incoming, outgoing) => {
    const { pathname } = new URL(incoming.url, "http://dashboard");
    const headers = { "cache-control": "no-store", "content-security-policy": POLICY };
    if (pathname === "/") {
      outgoing.writeHead(200, { ...headers, "content-type": "text/html; charset=utf-8" });
      outgoing.end(readFileSync(new URL("index.html", app), "utf8").replaceAll("VERSION", "dev"));
    } else if (pathname.startsWith("/assets/dev/")) {
      const file = new URL(`.${pathname.slice("/assets/dev".length)}`, app);
      if (!file.href.startsWith(app.href) || !existsSync(file)) return void outgoing.writeHead(404).end();
      outgoing.writeHead(200, { ...headers, "content-type": TYPES[extname(fileURLToPath(file))] ?? "text/plain" });
      createReadStream(file).pipe(outgoing);
    } else {
      const passed = request(new URL(incoming.url, target), { method: incoming.method, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode, answer.headers);
        answer.pipe(outgoing);
        answer.on("close", () => answer.complete || outgoing.destroy());
      });
      passed.on("error", () => outgoing.destroy());
      outgoing.on("close", () => passed.destroy());
      incoming.pipe(passed);
    }
  });
  return new Promise((resolve) => {
    server.listen(port, "127.0.0.1", () => resolve({ url: `http://127.0.0.1:${server.address().port}`, server }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(process.argv[2] ?? "http://127.0.0.1:23334", Number(process.argv[3] ?? 23335));
  console.log(`dashboard on ${url}`);
}
