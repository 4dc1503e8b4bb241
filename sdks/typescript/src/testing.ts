// A real server for tests, on a free port, with a clock that tests can move.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "./client.js";
import { PunctualError } from "./errors.js";

const READY = "punctual is ready on ";

export interface ServerOptions {
  /** A clock that `advance` moves; on unless told otherwise. */
  dev?: boolean;
  /** Data that outlives `kill` and `restart`, until `close`. */
  durable?: boolean;
  /** Further arguments of `punctual serve`. */
  args?: string[];
  /** The binary; PUNCTUAL_BIN, else `punctual` on the PATH. */
  binary?: string;
}

/** A server of its own. */
export class Server {
  url = "";
  private process?: ChildProcess;

  private constructor(
    private readonly binary: string,
    private readonly args: string[],
    private readonly directory: string,
  ) {}

  /** Starts one and waits until it is ready. */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const directory = await mkdtemp(join(tmpdir(), "punctual-"));
    const store = options.durable ? join(directory, "data") : "memory:";
    // A restart comes back under the same address.
    const args = ["serve", "--listen", `127.0.0.1:${await freePort()}`, "--store", store];
    if (options.dev ?? true) args.push("--dev");
    const binary = options.binary ?? process.env.PUNCTUAL_BIN ?? "punctual";
    const server = new Server(binary, [...args, ...(options.args ?? [])], directory);
    await server.restart();
    return server;
  }

  /** A client of this server. */
  get client(): Client {
    return new Client({ url: this.url, token: "" });
  }

  /** Starts it, again if it was killed, and waits until it is ready. */
  async restart(): Promise<void> {
    await this.kill();
    const log = await open(join(this.directory, "log"), "a");
    const child = spawn(this.binary, this.args, { cwd: this.directory, stdio: ["ignore", "pipe", log.fd] });
    this.process = child;
    const first = await Promise.race([
      once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line").then(([line]) => line as string),
      once(child, "error").then(([error]) => `cannot be started, PUNCTUAL_BIN names the binary: ${error}`),
      once(child, "exit").then(() => "ended"),
    ]);
    await log.close();
    if (!first.startsWith(READY)) {
      const written = await readFile(join(this.directory, "log"), "utf8");
      throw new PunctualError(`the server did not get ready: ${first} ${written.slice(-2000)}`);
    }
    this.url = first.slice(READY.length).trim();
  }

  /** Ends it as a crash would, with kill -9. */
  async kill(): Promise<void> {
    const child = this.process;
    this.process = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  /** Moves the clock on, as if the server had slept; answers when all that fell due was handed out. */
  async advance(by: number | string): Promise<string> {
    return (await this.client.moveClock({ advance: by })).now;
  }

  /** Sets the clock. */
  async setClock(to: number | string): Promise<string> {
    return (await this.client.moveClock({ set: to })).now;
  }

  /** Ends it and removes its data. */
  async close(): Promise<void> {
    await this.kill();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** A port that no connection of another program takes while the server is down: they use those above. */
async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
  throw new PunctualError("no free port between 10000 and 30000");
}
