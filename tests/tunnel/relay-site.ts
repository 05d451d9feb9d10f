// A relay of a test's own, on loopback and in its own directory, with everything real; and homes that are played: they
// dial it and say what a test tells them to.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RelayWorld } from "../../src/relay/ports.ts";
import { type Relay, startRelay } from "../../src/relay/relay.ts";
import { encodeLine, LineReader } from "../../src/wire/lines.ts";
import {
  DESK_SOCKET,
  type DeskMethod,
  type DeskRequest,
  type DeskResults,
  readAnswer,
} from "../../src/wire/relay/desk.ts";
import type { RelaySettings } from "../../src/wire/relay/serve.ts";
import { CONTROL_PATH, fromRelay, type HomeMessage, type RelayMessage } from "../../src/wire/tunnel/control.ts";
import { decodeToken } from "../../src/wire/tunnel/token.ts";
import { realPublicHttp } from "../../src/world/real/public-http.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import { realTunnels } from "../../src/world/real/tunnel.ts";
import type { DialOptions, TunnelEnd, TunnelIdentity, TunnelStream } from "../../src/world/tunnel.ts";
import { realWorld } from "../../src/world/world.ts";
import { until } from "../until.ts";
import { certificates } from "./certificates.ts";

const DAY = 86_400_000;
const PAGE = { type: "text/html", bytes: Buffer.from("<p>%NONCE%"), gzip: new Uint8Array(), etag: '"1"' };
const SCRIPT = { type: "text/javascript", bytes: Buffer.from("let page"), gzip: new Uint8Array(), etag: '"2"' };

export type Closers = { push(close: () => unknown): unknown };

export function newDirectory(closers: Closers): string {
  const home = mkdtempSync(join(tmpdir(), "holdfast-relay-"));
  closers.push(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

export function settingsFor(home: string, more: Partial<RelaySettings> = {}): RelaySettings {
  const addresses = { hosts: ["localhost"], listen: "127.0.0.1:0", http: "127.0.0.1:0" };
  const spans = { lifeMs: 30 * DAY, graceMs: 30 * DAY, heartbeatMs: 600_000 };
  return { home, domain: "relay.localhost", ...addresses, ...spans, ...more };
}

/** Its clock can be moved, and its waits shortened. */
export class RelaySite {
  readonly home: string;
  readonly said: string[] = [];
  readonly closers: Closers;
  movedMs = 0;
  /** Timers run this many times as fast. */
  haste = 1;
  #relay: Relay | undefined;

  constructor(closers: Closers) {
    this.closers = closers;
    this.home = newDirectory(closers);
  }

  static async start(closers: Closers, more: Partial<RelaySettings> = {}): Promise<RelaySite> {
    const site = new RelaySite(closers);
    await site.start(more);
    return site;
  }

  get world(): RelayWorld {
    const real = realWorld();
    const clock: RelayWorld["clock"] = {
      ...real.clock,
      now: () => real.clock.now() + this.movedMs,
      after: (ms, fn) => real.clock.after(Math.ceil(ms / this.haste), fn),
    };
    const doors = { sockets: realSockets(), http: realPublicHttp(), tunnels: realTunnels(), certificates };
    return {
      ...real,
      clock,
      ...doors,
      files: async () =>
        new Map([
          ["/", PAGE],
          ["/main.js", SCRIPT],
        ]),
    };
  }

  async start(more: Partial<RelaySettings> = {}): Promise<void> {
    const settings = settingsFor(this.home, more);
    const started = await startRelay({ world: this.world, settings, say: (words) => void this.said.push(words) });
    if (!started.ok) throw new Error(started.error.message);
    this.#relay = started.value;
    this.closers.push(() => this.stop());
  }

  async stop(): Promise<void> {
    const relay = this.#relay;
    this.#relay = undefined;
    await relay?.close();
  }

  reread(): void {
    this.#relay?.rereadCertificate();
  }

  async ask<M extends DeskMethod>(request: DeskRequest & { readonly method: M }): Promise<DeskResults[M]> {
    return askDesk<M>(this.home, request);
  }

  async token(lifeMs = 60_000, name: string | null = null): Promise<string> {
    return (await this.ask({ method: "token", name, lifeMs })).token;
  }

  async dial(options: Partial<DialOptions> = {}): Promise<PlayedHome> {
    const { tunnel, authority } = await this.ask({ method: "status" });
    const home = new PlayedHome({
      host: "localhost",
      port: tunnel.port,
      authority: { hash: authority.hash },
      ...options,
    });
    this.closers.push(() => home.close());
    return home;
  }

  /** A home that has enrolled, and its identity. */
  async enrolled(name = "laptop"): Promise<EnrolledIdentity> {
    return enrolledAt((await this.ask({ method: "status" })).tunnel.port, await this.token(), name);
  }
}

export async function askDesk<M extends DeskMethod>(
  home: string,
  request: DeskRequest & { readonly method: M },
): Promise<DeskResults[M]> {
  const reader = new LineReader(1 << 24);
  const answered = Promise.withResolvers<string>();
  const connection = await realSockets().connect(`${home}/${DESK_SOCKET}`, {
    bytes: (bytes) => {
      for (const line of reader.push(bytes) ?? []) answered.resolve(line);
    },
    closed: () => answered.resolve(""),
  });
  connection.send(encodeLine(request));
  const answer = readAnswer<M>(request.method, await answered.promise);
  connection.destroy();
  if (answer?.ok !== true) throw new Error(answer?.error.code ?? "no answer");
  return answer.value;
}

export type EnrolledIdentity = TunnelIdentity & { readonly id: string; readonly authority: string };

export async function enrolledAt(port: number, token: string, name = "laptop"): Promise<EnrolledIdentity> {
  const { key, request } = await certificates.newRequest();
  const hash = decodeToken(token)?.authority ?? "";
  const home = new PlayedHome({ host: "localhost", port, authority: { hash } });
  await home.heard("welcome");
  home.say({ type: "enrol", token, request, name });
  const { id, certificate, authority } = await home.heard("certificate");
  home.close();
  return { id, key, certificate, authority };
}

/** What a stream for a browser does: it passes its bytes to `tab`, which may answer. */
export type TabPlay = {
  bytes(stream: TunnelStream, bytes: Uint8Array): void;
  opened?(stream: TunnelStream): void;
  drained?(stream: TunnelStream): void;
};

export class PlayedHome {
  readonly seen: RelayMessage[] = [];
  readonly tabs: TunnelStream[] = [];
  end: TunnelEnd | undefined;
  closedTabs = 0;
  answersPings = true;
  play: TabPlay = { bytes: (stream, bytes) => void stream.send(bytes) };
  control: TunnelStream | undefined;
  readonly #tunnel;

  constructor(options: DialOptions) {
    this.#tunnel = realTunnels().dial(options, {
      connected: () => undefined,
      secured: () => undefined,
      stream: (path, stream) => (path === CONTROL_PATH ? this.#controlled(stream) : this.#tab(stream)),
      closed: (end) => {
        this.end = end;
      },
    });
  }

  #controlled(stream: TunnelStream) {
    this.control = stream;
    const reader = fromRelay();
    const bytes = (given: Uint8Array) => {
      for (const message of reader.push(given) ?? []) {
        this.seen.push(message);
        if (message.type === "ping" && this.answersPings) this.say({ type: "pong" });
      }
    };
    return { bytes, drained: () => undefined, closed: () => undefined };
  }

  #tab(stream: TunnelStream) {
    this.tabs.push(stream);
    this.play.opened?.(stream);
    const closed = () => {
      this.closedTabs += 1;
    };
    const bytes = (given: Uint8Array) => this.play.bytes(stream, given);
    return { bytes, drained: () => this.play.drained?.(stream), closed };
  }

  say(message: HomeMessage): void {
    this.control?.send(encodeLine(message));
  }

  /** The first message of this type. */
  heard<T extends RelayMessage["type"]>(type: T): Promise<Extract<RelayMessage, { type: T }>> {
    const find = () => this.seen.find((one): one is Extract<RelayMessage, { type: T }> => one.type === type);
    return until(`the relay says ${type}`, find, () => [this.seen, this.end]);
  }

  ended(): Promise<TunnelEnd> {
    return until(
      "the tunnel has ended",
      () => this.end,
      () => this.seen,
    );
  }

  close(): void {
    this.#tunnel.close();
  }
}
