// The home's end of the tunnel: dials the relay by the decisions of core/tunnel/tunnel.ts, and serves what the relay
// opens: the control stream, and one stream for each browser.
// HT1. The certificate is renewed over the live tunnel when a third of its life is left. The new one is stored before
//      anything else happens; the connection stays.
//      One that the relay does not accept once it has renewed it is a failure: they are not renewed in a loop.
// HT2. Both sides send heartbeats. If nothing arrives for two intervals, the connection is dead (TC2).
// HT3. A circuit breaker is around dialling (CB-1): while it is open, a try makes no connection. It is open for less
//      time than backoff waits by then, so that it takes none of the tries that backoff plans (TN-2): it stops those
//      that come besides, when the tunnel is turned off and on. Each enrolment has its own: it may be at another relay.
// HT4. Events of a connection that was given up are ignored.
// HT5. Streams are accepted only on a tunnel that was welcomed in full.
// HT6. The relay's time counts for renewal: by a wrong clock of this machine, a certificate would be renewed again
//      and again, or not before its end. People are told of the difference, and of what else the relay wants them
//      to know.
import { CircuitBreaker, type Pass } from "../base/breaker.ts";
import { isFault } from "../base/fault.ts";
import { NEW_TUNNEL, stepTunnel, type TunnelNews, type TunnelView } from "../core/tunnel/tunnel.ts";
import type { Enrolment } from "../home/tunnel-files.ts";
import { encodeLine } from "../wire/lines.ts";
import {
  CONTROL_PATH,
  fromRelay,
  type HomeMessage,
  REFUSED,
  type RelayMessage,
  SILENT_BEATS,
  TAB_PATH,
} from "../wire/tunnel/control.ts";
import type { Certificates } from "../world/certificates.ts";
import type { Clock } from "../world/clock.ts";
import type { Random } from "../world/random.ts";
import type { Tunnel, TunnelStream, TunnelStreamEvents, Tunnels } from "../world/tunnel.ts";
import { clockWords, endWords } from "./tunnel-words.ts";

export type TunnelPorts = {
  readonly tunnels: Tunnels;
  readonly certificates: Certificates;
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined if this home is not enrolled. */
  enrolment(): Enrolment | undefined;
  /** Resolves when it is durable. */
  store(enrolment: Enrolment): Promise<void>;
  /** By the operator, and not in safe mode. */
  isWanted(): boolean;
  /** A browser has connected. */
  tab(stream: TunnelStream): TunnelStreamEvents;
  /** Each change. Times are monotonic; `url` is where browsers find this home, empty unless it is connected. */
  changed(view: TunnelView, url: string): void;
  /** For the log that people read. */
  say(words: string): void;
};

/** HT3. After the fifth failure backoff waits for 16 s with jitter: for 12.8 s at least, and longer after the next. */
const BREAKER = { name: "The relay", threshold: 5, timeoutMs: 12_000 };
/** HT1 */
const RENEW_AT = 1 / 3;
/** How often a live tunnel looks whether it is time to renew; a failed renewal waits as long. */
const RENEWAL_MS = 60_000;
const SILENT: TunnelStreamEvents = { bytes: () => undefined, drained: () => undefined, closed: () => undefined };

const NOT_ACCEPTED = "The relay has renewed the certificate, and does not accept it.";
const UNENROLLED: TunnelNews = { kind: "lost", why: "This home is not enrolled." };

type Welcome = Extract<RelayMessage, { readonly type: "welcome" }>;

/** One connection, and what belongs to it. */
type Dialled = {
  readonly enrolment: Enrolment;
  readonly pass: Pass;
  tunnel: Tunnel | undefined;
  control: TunnelStream | undefined;
  welcome: Welcome | undefined;
  /** By how much this machine's clock is ahead of the relay's (HT6). */
  aheadMs: number;
  /** What people should know of it while it lasts (HT6). */
  noted: string;
  /** The key of a request that was sent and not answered. */
  renewing: string | undefined;
  heardAt: number;
  stopBeat: () => void;
  stopLife: () => void;
};

export class HomeTunnel {
  readonly #ports: TunnelPorts;
  #breaker = new CircuitBreaker(BREAKER);
  #view: TunnelView = NEW_TUNNEL;
  /** The identity that this view is about: a new enrolment begins anew. */
  #id: string | undefined;
  #dialled: Dialled | undefined;
  /** HT1. The certificate that was renewed before this connection. */
  #renewedTo: string | undefined;
  #cancel: () => void = () => undefined;

  constructor(ports: TunnelPorts) {
    this.#ports = ports;
  }

  get view(): TunnelView {
    return this.#view;
  }

  /** Looks whether it is enrolled and wanted: at the start, and now and then. */
  look(): void {
    const enrolment = this.#ports.enrolment();
    const id = enrolment && `${enrolment.id} ${enrolment.enrolledAt}`;
    if (id !== this.#id) this.#begin(id);
    this.#take({ kind: enrolment !== undefined && this.#ports.isWanted() ? "turned on" : "turned off" });
  }

  close(): void {
    this.#cancel();
    this.#drop();
  }

  #begin(id: string | undefined): void {
    this.#take({ kind: "turned off" });
    this.#id = id;
    this.#breaker = new CircuitBreaker(BREAKER); // HT3
    this.#view = { ...NEW_TUNNEL, since: this.#ports.clock.elapsed() };
  }

  #take(news: TunnelNews): void {
    const { clock, random } = this.#ports;
    const before = this.#view;
    this.#view = stepTunnel(before, news, { now: clock.elapsed(), chance: random.fraction() });
    if (this.#view === before) return;
    if (this.#view.state !== before.state) this.#moved(before);
    this.#report();
    this.#plan();
  }

  #moved(before: TunnelView): void {
    const { state, why } = this.#view;
    if (before.state === "Connected") this.#ports.say(`tunnel: ${state}${why === "" ? "" : `: ${why}`}`);
    if (["Disconnected", "BackoffWait", "Ended"].includes(state)) this.#drop();
    if (state === "Connecting") this.#dial();
    if (state === "RequestRenewal") void this.#renew();
    if (state === "Connected" || state === "Ended")
      this.#ports.say(
        `tunnel: ${state}${state === "Ended" ? `: ${why}. \`holdfast tunnel enroll\` starts again` : ""}`,
      );
  }

  #report(): void {
    const view = this.#view;
    const { welcome, noted = "" } = (view.state === "Connected" ? this.#dialled : undefined) ?? {};
    this.#ports.changed({ ...view, why: view.why === "" ? noted : view.why }, welcome?.url ?? "");
  }

  #plan(): void {
    const { clock } = this.#ports;
    this.#cancel();
    const { dialAt } = this.#view;
    if (dialAt === null) return;
    this.#cancel = clock.after(Math.max(0, dialAt - clock.elapsed()), () => this.#take({ kind: "due" }));
  }

  /** HT4 */
  #drop(): void {
    const dialled = this.#dialled;
    this.#dialled = undefined;
    if (dialled === undefined) return;
    this.#breaker.cancelled(dialled.pass); // Unless its outcome is known.
    dialled.stopBeat();
    dialled.stopLife();
    dialled.tunnel?.close();
  }

  #dial(): void {
    const { clock } = this.#ports;
    this.#drop();
    const enrolment = this.#ports.enrolment();
    const pass = enrolment && this.#breaker.admit(clock.elapsed()); // HT3
    const { until } = this.#breaker;
    if (pass === undefined) clock.soon(() => this.#take(UNENROLLED));
    else if (!pass.ok) clock.soon(() => this.#take({ kind: "barred", until, why: pass.error.message }));
    else if (enrolment !== undefined) this.#connect(enrolment, pass.value);
  }

  #connect(enrolment: Enrolment, pass: Pass): void {
    const { clock, tunnels } = this.#ports;
    const dialled: Dialled = {
      ...{ enrolment, pass, tunnel: undefined, control: undefined, welcome: undefined, aheadMs: 0, noted: "" },
      ...{ renewing: undefined, heardAt: clock.elapsed(), stopBeat: () => undefined, stopLife: () => undefined },
    };
    this.#dialled = dialled;
    const { relay, authority, certificate, key } = enrolment;
    const options = { ...relay, authority: { pem: authority }, identity: { key, certificate } };
    dialled.tunnel = tunnels.dial(options, {
      connected: () => this.#of(dialled, () => this.#take({ kind: "established" })),
      secured: () => undefined,
      stream: (path, stream) => this.#stream(dialled, path, stream),
      closed: (end) => this.#of(dialled, () => this.#lost(dialled, endWords(end, clock.now()))),
    });
  }

  /** HT4 */
  #of(dialled: Dialled, act: () => void): void {
    if (this.#dialled === dialled) act();
  }

  #lost(dialled: Dialled, why: string): void {
    if (dialled.welcome === undefined) this.#breaker.failed(dialled.pass, this.#ports.clock.elapsed());
    this.#take({ kind: "lost", why });
  }

  #stream(dialled: Dialled, path: string, stream: TunnelStream): TunnelStreamEvents {
    if (this.#dialled === dialled && path === CONTROL_PATH && dialled.control === undefined)
      return this.#control(dialled, stream);
    if (this.#dialled === dialled && path === TAB_PATH && dialled.welcome?.mode === "full")
      return this.#ports.tab(stream); // HT5
    stream.destroy();
    return SILENT;
  }

  #control(dialled: Dialled, stream: TunnelStream): TunnelStreamEvents {
    dialled.control = stream;
    const reader = fromRelay();
    const bytes = (given: Uint8Array): void =>
      this.#of(dialled, () => {
        dialled.heardAt = this.#ports.clock.elapsed();
        const messages = reader.push(given);
        if (messages === undefined) return this.#lost(dialled, "The relay does not speak the tunnel's protocol.");
        for (const message of messages) this.#of(dialled, () => this.#message(dialled, message));
      });
    const closed = (): void => this.#of(dialled, () => this.#lost(dialled, "The relay closed the connection."));
    return { bytes, drained: () => undefined, closed };
  }

  #message(dialled: Dialled, message: RelayMessage): void {
    if (message.type === "welcome") this.#greeted(dialled, message);
    if (message.type === "refused") this.#refused(dialled, message.reason, message.message);
    if (message.type === "ping") this.#send(dialled, { type: "pong" });
    if (message.type === "certificate") void this.#renewed(dialled, message.certificate, message.authority);
    if (message.type === "denied") this.#denied(dialled, message.message);
  }

  #refused(dialled: Dialled, reason: string, why: string): void {
    this.#breaker.failed(dialled.pass, this.#ports.clock.elapsed());
    if (reason === REFUSED.revoked) this.#take({ kind: "revoked", why });
    else if (reason === REFUSED.expired) this.#take({ kind: "renewal denied", why });
    else this.#take({ kind: "refused", why });
  }

  /** HT1 */
  #greeted(dialled: Dialled, welcome: Welcome): void {
    const isFresh = dialled.enrolment.certificate === this.#renewedTo;
    this.#renewedTo = undefined;
    if (isFresh && welcome.mode !== "full") this.#lost(dialled, NOT_ACCEPTED);
    else this.#welcomed(dialled, welcome);
  }

  #welcomed(dialled: Dialled, welcome: Welcome): void {
    const { clock, say } = this.#ports;
    const { notice = "", now = clock.now() } = welcome;
    dialled.welcome = welcome;
    dialled.aheadMs = clock.now() - now;
    dialled.noted = `${notice} ${clockWords(clock.now(), now)}`.trim();
    if (dialled.noted !== "") say(`tunnel: ${dialled.noted}`);
    this.#breaker.succeeded(dialled.pass, clock.elapsed());
    this.#beat(dialled, welcome.heartbeatMs);
    this.#take({ kind: welcome.mode === "full" ? "welcomed" : "expired" });
    if (welcome.mode === "full") this.#watchLife(dialled);
  }

  /** HT2 */
  #beat(dialled: Dialled, everyMs: number): void {
    const { clock } = this.#ports;
    dialled.stopBeat = clock.after(everyMs, () =>
      this.#of(dialled, () => {
        if (clock.elapsed() - dialled.heardAt > SILENT_BEATS * everyMs) return this.#silent(dialled);
        this.#send(dialled, { type: "ping" });
        this.#beat(dialled, everyMs);
      }),
    );
  }

  #silent(dialled: Dialled): void {
    const why = "The relay sent nothing for too long.";
    if (this.#view.state === "Connected") this.#take({ kind: "silent", why });
    else this.#lost(dialled, why);
  }

  #send(dialled: Dialled, message: HomeMessage): void {
    dialled.control?.send(encodeLine(message));
  }

  /** HT1 */
  #watchLife(dialled: Dialled): void {
    const { clock, certificates } = this.#ports;
    const life = certificates.lifeOf(this.#ports.enrolment()?.certificate ?? dialled.enrolment.certificate);
    const now = clock.now() - dialled.aheadMs; // HT6
    const left = life === undefined ? 1 : (life.notAfter - now) / (life.notAfter - life.notBefore);
    if (left < RENEW_AT) void this.#renew();
    dialled.stopLife = clock.after(RENEWAL_MS, () => this.#of(dialled, () => this.#watchLife(dialled)));
  }

  async #renew(): Promise<void> {
    const dialled = this.#dialled;
    if (dialled === undefined || dialled.renewing !== undefined) return;
    dialled.renewing = "";
    const { key, request } = await this.#ports.certificates.newRequest();
    dialled.renewing = key;
    this.#of(dialled, () => this.#send(dialled, { type: "renew", request }));
  }

  async #renewed(dialled: Dialled, certificate: string, authority: string): Promise<void> {
    const key = dialled.renewing;
    if (key === undefined || key === "") return; // Nobody asked.
    try {
      await this.#ports.store({ ...dialled.enrolment, key, certificate, authority });
    } catch (error) {
      if (!isFault(error)) throw error;
      this.#ports.say(`tunnel: the new certificate could not be stored: ${error.message}. ${error.hint}`);
      dialled.renewing = undefined;
      return this.#of(dialled, () => this.#take({ kind: "lost", why: "The new certificate could not be stored." }));
    }
    dialled.renewing = undefined;
    this.#renewedTo = certificate;
    this.#of(dialled, () => this.#take({ kind: "renewed" }));
  }

  #denied(dialled: Dialled, why: string): void {
    dialled.renewing = undefined;
    if (this.#view.state === "RequestRenewal") this.#take({ kind: "renewal denied", why });
    else this.#ports.say(`tunnel: the relay did not renew the certificate: ${why}`);
  }
}
