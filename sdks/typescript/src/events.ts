// Server-Sent Events, as they come in.

/** Something that happened at the server. `id` is where a stream can go on. */
export interface Event {
  type: string;
  id?: string;
  data: Record<string, any>;
}

/** Puts pieces of a stream together to events and remembers where the stream is. */
export class Reader {
  private rest = "";
  private data: string[] = [];
  private type?: string;

  constructor(public lastId?: string) {}

  /** Reads a piece; answers the events that it ends. */
  read(piece: string): Event[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line.replace(/\r$/, "")) ?? []);
  }

  /** Forgets half an event of a stream that broke off. */
  restart(): void {
    this.rest = "";
    this.data = [];
    this.type = undefined;
  }

  private line(line: string): Event | undefined {
    if (line) {
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "data") this.data.push(value);
      else if (name === "event") this.type = value;
      else if (name === "id") this.lastId = value;
      return undefined;
    }
    const { data, type } = this;
    this.data = [];
    this.type = undefined;
    if (!data.length && type === undefined) return undefined;
    const told = data.length ? (JSON.parse(data.join("\n")) as Record<string, any>) : {};
    return { type: type ?? told.type ?? "message", id: this.lastId, data: told };
  }
}
