// How long a home that is revoked can stay connected, in simulated time. Real TLS is in tests/tunnel.
import { expect, test } from "bun:test";
import { SimClock } from "../../tests/sim/clock.ts";
import type { Admission } from "../core/relay/admission.ts";
import type { TunnelPeer, TunnelStream } from "../world/tunnel.ts";
import { HomeLink, type LinkPorts } from "./home-link.ts";

const PEER: TunnelPeer = { address: "", problem: null, isOurs: true, certificate: null };
const REVOKED: Admission = { mode: "refused", reason: "revoked", message: "This home was revoked." };
const home = { id: "h" } as Extract<Admission, { readonly mode: "full" }>["home"];

/** A home that reads nothing and closes nothing. */
class Stuck {
  readonly clock = new SimClock();
  readonly events: string[] = [];
  admission: Admission = { mode: "full", home };
  readonly link: HomeLink;

  constructor() {
    const ports: Partial<LinkPorts> = {
      ...{ clock: this.clock, heartbeatMs: 600_000, authority: "", urlOf: () => "" },
      ...{ admit: () => this.admission, arrived: () => ({ ok: true, value: undefined }) },
    };
    const tunnel = { open: (path: string) => this.#stream(path), close: () => void this.events.push("closed") };
    this.link = new HomeLink(PEER, tunnel, ports as LinkPorts);
    this.link.start();
  }

  #stream(path: string): TunnelStream {
    const nothing = () => undefined;
    const destroy = () => void this.events.push(`${path} destroyed`);
    return { send: () => false, pause: nothing, resume: nothing, end: nothing, destroy };
  }
}

test("HM2 a home that is revoked loses its tabs at once and its connection a second later, even if it reads nothing", () => {
  const stuck = new Stuck();
  stuck.link.openTab({ bytes: () => undefined, drained: () => undefined, closed: () => undefined });
  expect([stuck.link.check(), stuck.events]).toEqual([true, []]);
  stuck.admission = REVOKED;
  expect([stuck.link.check(), stuck.events]).toEqual([false, ["/tab destroyed"]]);
  stuck.clock.advance(999);
  expect(stuck.events).toEqual(["/tab destroyed"]);
  stuck.clock.advance(1);
  expect(stuck.events).toEqual(["/tab destroyed", "closed"]);
});
