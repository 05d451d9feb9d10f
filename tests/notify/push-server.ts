// A push service of our own (RFC 8030): subscriptions, messages with TTL, Topic and Urgency; and the browsers behind
// it, with what each shows by tag. It checks who sends (RFC 8292) and lets each browser decrypt (RFC 8291).
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "../../src/core/notify/message.ts";
import { Authority } from "../tunnel/certificates.ts";
import { until } from "../until.ts";
import { Receiver, sender } from "./push-reader.ts";

type Shown = Pick<Message, "kind" | "title" | "body" | "actions">;

/** One browser: its end of the subscription, and its service worker. */
export class Browser {
  readonly receiver = new Receiver();
  readonly shown = new Map<string, Shown>();
  /** Every message that arrived, with its headers. */
  readonly arrived: { readonly message: Message; readonly ttl: number; readonly topic: string }[] = [];

  /** As the service worker does: one notification for a tag, and no question after its end. */
  push(message: Message): void {
    const { kind, title, body, actions, tag } = message;
    if (kind === "question" && this.shown.get(tag)?.kind === "end") return;
    this.shown.set(tag, { kind, title, body, actions });
  }
}

export class PushServer {
  readonly browsers = new Map<string, Browser>();
  readonly keys = new Set<string>();
  /** What is wrong with a request is an error of the sender: a test expects none. */
  readonly wrong: string[] = [];
  /** Decides before a message is looked at; undefined: as usual. */
  before: (path: string) => Response | Promise<Response> | undefined = () => undefined;
  /** Whether the connection breaks after a message was taken, before its sender hears of it. */
  breaks: () => boolean = () => false;
  readonly certificate: string;
  readonly #directory: string;
  readonly #tls: { readonly key: string; readonly cert: string };
  #server: Bun.Server<undefined> | undefined;
  #port = 0;

  private constructor(directory: string, authority: string, tls: { readonly key: string; readonly cert: string }) {
    this.#directory = directory;
    this.#tls = tls;
    this.certificate = join(directory, "ca.pem");
    writeFileSync(this.certificate, authority);
  }

  static async open(): Promise<PushServer> {
    const authority = await Authority.create();
    const { key, certificate } = await authority.server(["localhost", "127.0.0.1"]);
    const server = new PushServer(mkdtempSync(join(tmpdir(), "hfpush-")), authority.pem, { key, cert: certificate });
    await server.start();
    return server;
  }

  /** Unless it runs: at the same port as before, once the system gives it back. */
  async start(): Promise<void> {
    await until(
      "the port is free",
      () => this.#server !== undefined || this.#listens(),
      () => this.#port,
    );
  }

  #listens(): boolean {
    const fetch = (request: Request) => this.#take(request);
    try {
      this.#server = Bun.serve({ hostname: "127.0.0.1", port: this.#port, tls: this.#tls, reusePort: false, fetch });
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return false;
      throw error;
    }
    this.#port = this.#server.port ?? 0;
    return true;
  }

  /** As if it was killed: connections break. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop(true);
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true });
  }

  get host(): string {
    return `localhost:${this.#port}`;
  }

  /** What a browser gives to the page's `push.subscribe`. */
  subscribe(name: string): { readonly endpoint: string; readonly p256dh: string; readonly auth: string } {
    const browser = new Browser();
    this.browsers.set(`/p/${name}`, browser);
    return { endpoint: `https://${this.host}/p/${name}`, ...browser.receiver.keys };
  }

  browser(name: string): Browser {
    const found = this.browsers.get(`/p/${name}`);
    if (found === undefined) throw new Error(`nobody is subscribed as ${name}`);
    return found;
  }

  async #take(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    const early = await this.before(pathname);
    if (early !== undefined) return early;
    const browser = this.browsers.get(pathname);
    if (browser === undefined) return new Response(null, { status: 410 });
    const body = await request.arrayBuffer().catch(() => undefined); // Its sender was killed in the middle of it.
    if (body === undefined) return new Response(null, { status: 400 });
    try {
      this.#deliver(browser, request.headers, Buffer.from(body));
    } catch (error) {
      this.wrong.push(String(error));
      return new Response(null, { status: 400 });
    }
    if (this.breaks()) void this.kill(); // It is shown, and its sender hears nothing of it.
    return new Response(null, { status: 201, headers: { Location: `https://${this.host}/m/1` } });
  }

  #deliver(browser: Browser, headers: Headers, body: Buffer): void {
    const { claims, key } = sender(headers.get("authorization") ?? "");
    if (claims["aud"] !== `https://${this.host}`) throw new Error(`for another audience: ${String(claims["aud"])}`);
    if (Number(claims["exp"]) * 1000 < Date.now() || Number(claims["exp"]) * 1000 > Date.now() + 86_400_000)
      throw new Error("it has expired, or is valid for more than a day");
    this.keys.add(key);
    const [ttl, topic] = [Number(headers.get("ttl") ?? Number.NaN), headers.get("topic") ?? ""];
    if (!Number.isInteger(ttl) || ttl < 0) throw new Error("no TTL");
    if (!/^[\w-]{1,32}$/.test(topic)) throw new Error("no Topic");
    if (headers.get("urgency") !== "high" || headers.get("content-encoding") !== "aes128gcm")
      throw new Error("headers");
    const message: Message = JSON.parse(browser.receiver.open(body).toString());
    if (message.tag !== topic) throw new Error("its topic is not its tag");
    browser.arrived.push({ message, ttl, topic });
    browser.push(message);
  }
}
