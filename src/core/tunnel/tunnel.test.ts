import { expect, test } from "bun:test";
import fc from "fast-check";
import { cells, unreachable } from "../../base/machine.ts";
import { tunnelMachine } from "./machine.ts";
import { NEW_TUNNEL, stepTunnel, type TunnelNews, type TunnelView } from "./tunnel.ts";

const NEWS: readonly TunnelNews[] = [
  ...(["turned on", "turned off", "due", "established", "welcomed", "expired", "renewed"] as const).map((kind) => ({
    kind,
  })),
  { kind: "barred", until: 5_000, why: "barred!" },
  ...(["renewal denied", "revoked", "refused", "lost", "silent"] as const).map((kind) => ({ kind, why: `${kind}!` })),
];

/** A tunnel after these pieces of news, one each `everyMs`; chance takes nothing off a wait. */
function after(kinds: readonly TunnelNews["kind"][], from: TunnelView = NEW_TUNNEL, everyMs = 0): TunnelView {
  let [view, now] = [from, from.since];
  for (const kind of kinds) {
    const news = NEWS.find((one) => one.kind === kind) ?? { kind: "due" };
    now += everyMs;
    view = stepTunnel(view, news, { now, chance: 0 });
  }
  return view;
}

const CONNECTED = ["turned on", "due", "established", "welcomed"] as const;

test("TN-1(a,b) Disconnected → Connecting → Authenticating → Connected, and back when the connection or heartbeats are lost", () => {
  const seen = CONNECTED.map((_, at) => after(CONNECTED.slice(0, at + 1)).state);
  expect(seen).toEqual(["Disconnected", "Connecting", "Authenticating", "Connected"]);
  for (const kind of ["lost", "silent"] as const) {
    const view = after([...CONNECTED, kind]);
    expect([view.state, view.why]).toEqual(["Disconnected", `${kind}!`]);
    expect(after(["due", "established", "welcomed"], view)).toMatchObject({ state: "Connected", why: "" });
  }
});

test("TN-1(a,b) every cell of the table: the legal ones are walked by some news, and no state is out of reach", () => {
  expect(unreachable(tunnelMachine)).toEqual([]);
  const walked = new Set<string>();
  const watched = tunnelMachine.next;
  const spy = (state: string, event: string) => void walked.add(`${state} ${event}`);
  const machine: { next: typeof watched } = tunnelMachine;
  machine.next = (state, event) => {
    spy(state, event);
    return watched(state, event);
  };
  try {
    for (const view of views()) for (const news of NEWS) stepTunnel(view, news, { now: 1, chance: 0 });
  } finally {
    machine.next = watched;
  }
  const legal = cells(tunnelMachine).filter(({ next }) => next !== undefined);
  expect([...walked].toSorted()).toEqual(legal.map(({ state, event }) => `${state} ${event}`).toSorted());
});

/** A view in every state. */
function views(): TunnelView[] {
  return tunnelMachine.states.map((state) => ({ ...NEW_TUNNEL, state }));
}

test("TN-2 TM2 waits are 1, 2, 4, 8, 16, 32, 60 s, each at most 20 % shorter; a stable connection starts again at once", () => {
  let view = after(["turned on"]);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    const dialled = after(["due"], view);
    view = after(["lost"], dialled);
    expect([view.state, (view.dialAt ?? 0) - view.since]).toEqual(["BackoffWait", seconds * 1000]);
    const early = stepTunnel(dialled, { kind: "lost", why: "" }, { now: view.since, chance: 0.999_999 });
    expect((early.dialAt ?? 0) - early.since).toBe(Math.round(seconds * 1000 * 0.8));
  }
  const connected = after(["due", "established", "welcomed"], view);
  const dropped = after(["lost"], connected, 1_000);
  expect([dropped.state, (dropped.dialAt ?? 0) - dropped.since]).toEqual(["Disconnected", 60_000]);
  const stable = after(["lost"], connected, 30_000);
  expect([stable.state, stable.failures, stable.dialAt]).toEqual(["Disconnected", 0, stable.since]);
});

test("TM5 a try that the breaker bars was none: it comes when the breaker admits it, and the waits stay as they were", () => {
  const failed = after(["turned on", "due", "lost"]);
  const barred = after(["due", "barred"], failed);
  expect([barred.state, barred.failures, barred.dialAt, barred.why]).toEqual(["BackoffWait", 1, 5_000, "barred!"]);
});

test("TN-3(a) an expired certificate is renewed, then dialled with; a failed renewal ends; a lost one is tried again", () => {
  const asking = after(["turned on", "due", "established", "expired"]);
  expect(asking.state).toBe("RequestRenewal");
  expect(after(["renewed"], asking).state).toBe("Connecting");
  expect(after(["renewal denied"], asking)).toMatchObject({ state: "Ended", why: "renewal denied!", dialAt: null });
  expect(after(["lost"], asking).state).toBe("BackoffWait");
  expect(after(["turned on", "due", "established", "renewal denied"]).state).toBe("Ended");
});

test("TN-3(b,c) a revoked certificate ends until a person enrols again; a transient refusal backs off", () => {
  const dialled = after(["turned on", "due", "established"]);
  expect(after(["revoked"], dialled)).toMatchObject({ state: "Ended", why: "revoked!", dialAt: null });
  expect(after(["refused"], dialled)).toMatchObject({ state: "BackoffWait", why: "refused!" });
  for (const news of NEWS) expect(after([news.kind], after(["revoked"], dialled)).state).toBe("Ended");
});

test("TM4 turned off, it dials nothing from any state; turned on, it dials at once", () => {
  for (const view of views().filter(({ state }) => tunnelMachine.allows(state, "turned off"))) {
    const off = after(["turned off"], view);
    expect([off.state, off.dialAt]).toEqual(["Disconnected", null]);
    expect(after(["turned on"], off).dialAt).toBe(off.since);
  }
  const waiting = after([...CONNECTED, "lost"]);
  expect(waiting.dialAt).not.toBeNull();
  expect(after(["turned off"], waiting).dialAt).toBeNull();
});

test("TM1 no order of news breaks it, and it dials later only where it waits", () => {
  const kinds = fc.array(fc.constantFrom(...NEWS.map(({ kind }) => kind)), { maxLength: 40 });
  fc.assert(
    fc.property(kinds, (given) => {
      const view = after(given, NEW_TUNNEL, 700);
      const isPassed = ["AuthFailed", "CertExpired", "CertRevoked", "HeartbeatTimeout"].includes(view.state);
      expect(isPassed).toBe(false);
      if (view.dialAt !== null) expect(["Disconnected", "BackoffWait"]).toContain(view.state);
      if (view.state === "BackoffWait") expect(view.dialAt).not.toBeNull();
    }),
  );
});
