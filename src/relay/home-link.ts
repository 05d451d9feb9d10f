// One tunnel of a home, seen from the relay: its control stream, its heartbeats, and its end.
// HL1. The first line says what the home may do, or why it is refused (TC1). Only a `full` one gets other streams.
// HL2. Its certificate and our records are looked at again at every heartbeat: whoever is revoked, or whose certificate
//      has ended, is cut off. One that may renew connects again for that. A certificate that was renewed over this
//      tunnel counts from then on.
// HL3. Whoever has not shown who it is, or may only renew, has little time.
// HL4. What arrives is limited: the length of a line, the number of messages, and what waits because it is not read.
import { type Budget, isExhausted, newBudget, spend } from "../base/budget.ts";
import type { Result } from "../base/result.ts";
import type { Admission } from "../core/relay/admission.ts";
import { encodeLine } from "../wire/lines.ts";
import {
  CONTROL_PATH,
  fromHome,
  type HomeMessage,
  type RelayMessage,
  SILENT_BEATS,
  TAB_PATH,
  TUNNEL_PROTOCOL,
} from "../wire/tunnel/control.ts";
import type { Clock } from "../world/clock.ts";
import type { AcceptedTunnel, TunnelPeer, TunnelStream, TunnelStreamEvents } from "../world/tunnel.ts";
import type { Enrolled, EnrolmentDesk } from "./enrolment.ts";

/** HL3 */
const UNKNOWN_MS = 10_000;
/** A last line is read in this time, even over a bad network. */
const LAST_LINE_MS = 1_000;
/** HL4. Heartbeats are a handful in this time. */
const MESSAGES = newBudget(60, 10_000);
const MAX_UNREAD_LINES = 100;

export type LinkPorts = {
  readonly clock: Clock;
  readonly desk: EnrolmentDesk;
  readonly heartbeatMs: number;
  /** The authority's certificate. */
  readonly authority: string;
  /** What this peer may do now (HL2). */
  admit(peer: TunnelPeer): Admission;
  /** Takes its place among the homes; a notice for it, or why there is none. */
  arrived(link: HomeLink, id: string): Result<string | undefined>;
  urlOf(id: string): string;
};

export class HomeLink {
  readonly peer: TunnelPeer;
  readonly #tunnel: AcceptedTunnel;
  readonly #ports: LinkPorts;
  readonly #control: TunnelStream;
  readonly #reader = fromHome();
  readonly #admission: Admission;
  /** With the certificate that it has now (HL2). */
  #shown: TunnelPeer;
  readonly #tabs = new Set<TunnelStream>();
  #messages: Budget = MESSAGES;
  #unread = 0;
  /** Beats, not time: if this process was stopped for a while, what has arrived meanwhile is read first. */
  #silentBeats = 0;
  #isOver = false;
  #isAsking = false;
  #stopTimer = (): void => undefined;

  constructor(peer: TunnelPeer, tunnel: AcceptedTunnel, ports: LinkPorts) {
    this.peer = peer;
    this.#tunnel = tunnel;
    this.#ports = ports;
    this.#admission = ports.admit(peer);
    this.#shown = peer;
    this.#control = tunnel.open(CONTROL_PATH, {
      bytes: (bytes) => this.#bytes(bytes),
      drained: () => {
        this.#unread = 0;
      },
      closed: () => this.destroy(),
    });
  }

  /** The home's id, if it is one of ours. */
  get home(): string | undefined {
    return "home" in this.#admission ? this.#admission.home.id : undefined;
  }

  /** HL1 */
  start(): void {
    const admission = this.#admission;
    if (admission.mode === "refused") this.refuse(admission.reason, admission.message);
    else if (admission.mode === "full") this.#join(admission.home.id);
    else {
      this.#welcome(admission.mode, "");
      this.#closeLater(UNKNOWN_MS); // HL3
    }
  }

  #join(id: string): void {
    const place = this.#ports.arrived(this, id);
    if (!place.ok) {
      this.refuse(place.error.code, place.error.message);
      return;
    }
    this.#welcome("full", this.#ports.urlOf(id), place.value);
    this.#beatLater();
  }

  #welcome(mode: "full" | "renew" | "enrol", url: string, notice?: string): void {
    const { heartbeatMs, clock } = this.#ports;
    const welcome = { type: "welcome", protocol: TUNNEL_PROTOCOL, mode, heartbeatMs, url, now: clock.now() } as const;
    this.#send({ ...welcome, ...(notice !== undefined && { notice }) });
  }

  get tabs(): number {
    return this.#tabs.size;
  }

  /** A stream for a browser. Only a `full` one is asked (HL1). */
  openTab(events: TunnelStreamEvents): TunnelStream {
    const stream: TunnelStream = this.#tunnel.open(TAB_PATH, {
      ...events,
      closed: () => {
        this.#tabs.delete(stream);
        events.closed();
      },
    });
    this.#tabs.add(stream);
    return stream;
  }

  /** Says why, and closes as soon as that was read. */
  refuse(reason: string, message: string): void {
    if (this.#isOver) return;
    this.#send({ type: "refused", reason, message });
    this.#isOver = true;
    for (const tab of this.#tabs) tab.destroy();
    this.#control.end();
    this.#closeLater(LAST_LINE_MS);
  }

  destroy(): void {
    this.#isOver = true;
    this.#stopTimer();
    this.#tunnel.close();
  }

  /** The tunnel is gone. */
  gone(): void {
    this.#isOver = true;
    this.#stopTimer();
  }

  /** HL2. Whether it may go on; if not, it is told. */
  check(): boolean {
    const now = this.#ports.admit(this.#shown);
    if (now.mode === this.#admission.mode) return true;
    if (now.mode === "refused") this.refuse(now.reason, now.message);
    else this.destroy();
    return false;
  }

  #closeLater(ms: number): void {
    this.#stopTimer();
    this.#stopTimer = this.#ports.clock.after(ms, () => this.destroy());
  }

  #beatLater(): void {
    this.#stopTimer = this.#ports.clock.after(this.#ports.heartbeatMs, () => this.#beat());
  }

  #beat(): void {
    if (this.#isOver || !this.check()) return;
    this.#silentBeats += 1;
    if (this.#silentBeats > SILENT_BEATS) {
      this.destroy(); // TC2
      return;
    }
    this.#send({ type: "ping" });
    this.#beatLater();
  }

  #bytes(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#silentBeats = 0;
    const messages = this.#reader.push(bytes);
    if (messages === undefined) this.destroy(); // TC3
    for (const message of messages ?? []) if (!this.#isOver) this.#take(message);
  }

  #take(message: HomeMessage): void {
    const now = this.#ports.clock.elapsed();
    if (isExhausted(this.#messages, now)) {
      this.destroy(); // HL4
      return;
    }
    this.#messages = spend(this.#messages, now);
    const { desk } = this.#ports;
    const { address } = this.peer;
    const admission = this.#admission;
    if (message.type === "ping") this.#send({ type: "pong" });
    else if (message.type === "enrol" && admission.mode === "enrol") this.#answer(() => desk.enrol(message, address));
    else if (message.type === "renew" && "home" in admission)
      this.#answer(() => desk.renew(admission.home, message.request, address));
    else if (message.type !== "pong") this.#send({ type: "denied", message: NOT_NOW });
  }

  /** One question at a time. */
  #answer(ask: () => Promise<Result<Enrolled>>): void {
    if (this.#isAsking) {
      this.destroy(); // HL4
      return;
    }
    this.#isAsking = true;
    void ask().then((answer) => {
      this.#isAsking = false;
      if (this.#isOver) return;
      if (answer.ok) this.#certified(answer.value);
      else this.#send({ type: "denied", message: `${answer.error.message} ${answer.error.hint}` });
    }, this.#failed);
  }

  #certified({ id, certificate, serial, notAfter }: Enrolled): void {
    const before = this.#shown.certificate;
    if (this.#admission.mode === "full" && before !== null)
      this.#shown = { ...this.#shown, certificate: { ...before, serial, notAfter } }; // HL2
    this.#send({ type: "certificate", id, certificate, authority: this.#ports.authority });
  }

  /** The store reports it, and the program ends (L3 of log/event-log.ts). */
  readonly #failed = (): void => this.destroy();

  #send(message: RelayMessage): void {
    if (this.#isOver) return;
    this.#unread = this.#control.send(encodeLine(message)) ? 0 : this.#unread + 1;
    if (this.#unread > MAX_UNREAD_LINES) this.destroy(); // HL4
  }
}

const NOT_NOW = "This cannot be asked on this connection.";
