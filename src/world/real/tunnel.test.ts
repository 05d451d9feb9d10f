// Real TLS over loopback: who is trusted, what is reported, and that streams do not wait for each other.
import { afterEach, beforeAll, expect, test } from "bun:test";
import { createConnection } from "node:net";
import { Authority, certificates, type TestIdentity } from "../../../tests/tunnel/certificates.ts";
import { until } from "../../../tests/until.ts";
import type {
  AcceptedTunnel,
  DialOptions,
  TunnelEnd,
  TunnelListenOptions,
  TunnelPeer,
  TunnelStream,
  TunnelStreamEvents,
} from "../tunnel.ts";
import { realTunnels } from "./tunnel.ts";

const tunnels = realTunnels();
const closers: (() => void)[] = [];
let authority: Authority;
let server: TestIdentity;
let client: TestIdentity;

beforeAll(async () => {
  authority = await Authority.create();
  [server, client] = [await authority.server(), await authority.client("home-1")];
});

afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

type Accepted = { readonly peer: TunnelPeer; readonly tunnel: AcceptedTunnel; end?: TunnelEnd };

async function relay(more: Partial<TunnelListenOptions> = {}) {
  const accepted: Accepted[] = [];
  const options = { ...server, host: "127.0.0.1", port: 0, authority: authority.pem, ...more };
  const listener = await tunnels.listen(options, (peer, tunnel) => {
    const one: Accepted = { peer, tunnel };
    accepted.push(one);
    return (end) => {
      one.end = end;
    };
  });
  closers.push(() => listener.close());
  return { port: listener.port, accepted, listener };
}

/** A home whose streams do what their path says: `/echo`, `/flood`, or nothing. */
function home(port: number, more: Partial<DialOptions> = {}) {
  const seen: string[] = [];
  const state: { end?: TunnelEnd; authority?: string } = {};
  const options = { host: "localhost", port, authority: { pem: authority.pem }, identity: client, ...more };
  const tunnel = tunnels.dial(options, {
    connected: () => void seen.push("connected"),
    secured: (pem) => {
      seen.push("secured");
      state.authority = pem;
    },
    stream: (path, stream) => {
      seen.push(path);
      return path === "/flood" ? flooding(stream) : { ...silent(), bytes: (bytes) => void stream.send(bytes) };
    },
    closed: (end) => {
      state.end = end;
    },
  });
  closers.push(() => tunnel.close());
  return { seen, state, tunnel };
}

const FLOOD = 20 << 20;

function flooding(stream: TunnelStream): TunnelStreamEvents {
  const piece = new Uint8Array(16 << 10);
  let sent = 0;
  const send = () => {
    while (sent < FLOOD) {
      sent += piece.length;
      if (!stream.send(piece)) return;
    }
  };
  send();
  return { ...silent(), drained: send };
}

function silent(): TunnelStreamEvents {
  return { bytes: () => undefined, drained: () => undefined, closed: () => undefined };
}

function counted() {
  const counts = { bytes: 0, closed: false };
  const events: TunnelStreamEvents = {
    ...silent(),
    bytes: (bytes) => {
      counts.bytes += bytes.length;
    },
    closed: () => {
      counts.closed = true;
    },
  };
  return { counts, events };
}

async function connected(port: number, accepted: readonly Accepted[], more: Partial<DialOptions> = {}) {
  const dialled = home(port, more);
  const one = await until(
    "it is accepted",
    () => accepted.at(-1),
    () => dialled,
  );
  return { ...dialled, one };
}

test("TN-1(a) a home with a certificate of the authority is known by its name and serial", async () => {
  const { port, accepted } = await relay();
  const { one, seen } = await connected(port, accepted);
  expect(one.peer).toMatchObject({ problem: null, certificate: { name: "home-1", serial: client.serial } });
  expect(one.peer.certificate?.notAfter).toBeGreaterThan(Date.now());
  expect(seen).toEqual(["connected", "secured"]);
});

test("TU1 a stream that nobody reads stops its sender, and no other stream", async () => {
  const { port, accepted } = await relay();
  const { one } = await connected(port, accepted);
  const [stalled, flood, echo] = [counted(), counted(), counted()];
  one.tunnel.open("/flood", stalled.events).pause();
  one.tunnel.open("/flood", flood.events);
  const echoing = one.tunnel.open("/echo", echo.events);
  for (let sent = 1; sent <= 50; sent += 1) {
    echoing.send(new Uint8Array(1));
    await until(
      "the echo",
      () => echo.counts.bytes === sent,
      () => echo.counts,
    );
  }
  await until(
    "the flood has ended",
    () => flood.counts.bytes === FLOOD,
    () => flood.counts,
  );
  expect(stalled.counts.bytes).toBeLessThan(1 << 20);
});

test("TU3 a client that TLS does not trust is reported with its reason", async () => {
  const { port, accepted } = await relay();
  const stranger = await Authority.create();
  const cases: [TestIdentity | undefined, string | null, string | undefined][] = [
    [await authority.client("old", { fromMs: -2000, toMs: -1000 }), "CERT_HAS_EXPIRED", "old"],
    [await authority.client("early", { fromMs: 3_600_000 }), "CERT_NOT_YET_VALID", "early"],
    [await stranger.client("other"), expect.any(String), "other"],
    [undefined, expect.any(String), undefined],
  ];
  for (const [index, [identity, problem, name]] of cases.entries()) {
    const { identity: _, ...without } = { identity: client };
    const dialled = home(port, identity === undefined ? { ...without, identity: undefined as never } : { identity });
    const one = await until(
      "it is accepted",
      () => accepted[index],
      () => dialled,
    );
    expect([one.peer.problem, one.peer.certificate?.name]).toEqual([problem, name]);
    dialled.tunnel.close();
  }
});

test("TU2 a relay of another authority, or another name, gets nothing", async () => {
  const stranger = await Authority.create();
  const elsewhere = await authority.server(["elsewhere.test"]);
  for (const identity of [await stranger.server(), elsewhere]) {
    const { port, accepted } = await relay(identity);
    const { state, seen } = home(port);
    await until(
      "it has given up",
      () => state.end,
      () => seen,
    );
    expect(seen).toEqual(["connected"]);
    expect(accepted.filter(({ end }) => end === undefined)).toEqual([]);
  }
});

test("TU2 to enrol, the hash of the authority is enough, and any other one is refused", async () => {
  const { port, accepted } = await relay();
  const hash = certificates.hashOf(authority.pem);
  const { state, one } = await connected(port, accepted, { authority: { hash }, identity: undefined as never });
  expect(state.authority?.trim()).toBe(authority.pem.trim());
  expect(one.peer.certificate).toBeNull();

  const stranger = await Authority.create();
  const wrong = home(port, { authority: { hash: certificates.hashOf(stranger.pem) } });
  const end = await until(
    "it has given up",
    () => wrong.state.end,
    () => wrong.seen,
  );
  expect([end.code, wrong.seen]).toEqual(["AUTHORITY", ["connected"]]);

  const elsewhere = await relay(await authority.server(["elsewhere.test"]));
  const other = home(elsewhere.port, { authority: { hash } });
  await until(
    "it has given up",
    () => other.state.end,
    () => other.seen,
  );
  expect(other.seen).toEqual(["connected"]);
});

test("RT3 when one side goes, the other learns of it once, and its streams close", async () => {
  const { port, accepted } = await relay();
  const { one, tunnel } = await connected(port, accepted);
  const echo = counted();
  one.tunnel.open("/echo", echo.events);
  tunnel.close();
  await until(
    "the relay knows",
    () => one.end !== undefined && echo.counts.closed,
    () => [one.end, echo.counts],
  );

  const next = home(port);
  const second = await until(
    "the next one is accepted",
    () => accepted[1],
    () => next,
  );
  second.tunnel.close();
  const end = await until(
    "the home knows",
    () => next.state.end,
    () => next.seen,
  );
  expect(end.code).not.toBe("CLOSED");
});

test("TU4 a client that does not finish TLS in time is closed, one that does is not, and a stranger never begins", async () => {
  const { port, accepted } = await relay({ handshakeMs: 4000 });
  const { one, state } = await connected(port, accepted);
  const silent = plainClient(port);
  await until(
    "it is closed",
    () => silent.isClosed(),
    () => accepted.length,
  );
  expect([accepted.length, state.end, one.end]).toEqual([1, undefined, undefined]);
  const unwelcome = await relay({ greets: () => false });
  const { state: refused } = home(unwelcome.port);
  await until(
    "it is closed",
    () => refused.end,
    () => unwelcome.accepted,
  );
  expect(unwelcome.accepted).toEqual([]);
});

/** Begins a record of TLS, and says nothing more. */
function plainClient(port: number): { isClosed(): boolean } {
  let isClosed = false;
  const socket = createConnection(port, "127.0.0.1", () => void socket.write(Uint8Array.of(0x16, 3, 1, 2, 0)));
  socket.on("error", () => undefined); // `close` follows.
  socket.on("close", () => {
    isClosed = true;
  });
  socket.resume();
  closers.push(() => socket.destroy());
  return { isClosed: () => isClosed };
}

test("RT4 a client's TLS begins only when it is its turn", async () => {
  const turns: (() => void)[] = [];
  const { port, accepted } = await relay({ admit: () => new Promise((done) => turns.push(done)) });
  const dialled = [home(port), home(port)];
  await until(
    "both wait",
    () => turns.length === 2,
    () => dialled.map(({ seen }) => seen),
  );
  turns[1]?.();
  const one = await until(
    "one is accepted",
    () => accepted[0],
    () => dialled,
  );
  expect(dialled.filter(({ seen }) => seen.includes("secured"))).toHaveLength(1);
  one.tunnel.close();
  expect(accepted).toHaveLength(1);
  turns[0]?.();
  await until(
    "so is the other",
    () => accepted.length === 2,
    () => dialled,
  );
});

test("TU2 a relay is reached by its address as by its name, if its certificate has it", async () => {
  const { port, accepted } = await relay();
  const hash = certificates.hashOf(authority.pem);
  for (const known of [{ pem: authority.pem }, { hash }]) {
    const before = accepted.length;
    const { seen, state } = home(port, { host: "127.0.0.1", authority: known });
    await until(
      "it is accepted",
      () => accepted.length > before && seen.includes("secured"),
      () => [seen, state],
    );
  }
});
