// The peers of workflows, each as it comes: DBOS Transact on a PostgreSQL of its own, Restate with a server of its own,
// LangGraph with its SQLite saver. A peer has a store (a server or a file) that stays, and a host that runs the steps
// and may be killed.
//   langgraph          asked to be durable: `durability: "sync"`, SQLite with `synchronous = FULL`
//   langgraph-shipped  as it comes: what the last steps did may be lost with the machine
import { createServer } from "node:net";
import { join } from "node:path";
import { environment } from "./home.ts";
import { type HostWords, PeerHost } from "./peer-host.ts";
import { missing, type PeerPackage, peerPath } from "./peer-package.ts";
import { Postgres } from "./postgres.ts";
import { type Bench, makePlace } from "./scratch.ts";
import { until } from "./waiting.ts";
import { type OurRunner, type Runner, startOurs, type Work } from "./workflow-runner.ts";

export type PeerName = "dbos" | "restate" | "langgraph" | "langgraph-shipped";

type Store = { readonly host: HostWords; end(): Promise<void> };
type Kind = {
  readonly title: string;
  readonly package: PeerPackage;
  readonly missing?: (bench: Bench) => string | undefined;
  readonly store: (bench: Bench, place: string) => Promise<Store> | Store;
};

const START_MS = 60_000;
const LANGGRAPH: PeerPackage = {
  name: "langgraph",
  compiled: { module: "better-sqlite3", file: "better-sqlite3/build/Release/better_sqlite3.node" },
};

const KINDS: Readonly<Record<PeerName, Kind>> = {
  dbos: { title: "DBOS on PostgreSQL", package: { name: "dbos" }, missing: Postgres.missing, store: dbos },
  restate: { title: "Restate", package: { name: "restate" }, store: restate },
  langgraph: {
    title: "LangGraph, SQLite saver, made durable",
    package: LANGGRAPH,
    store: (_, place) => langgraph(place, "durable"),
  },
  "langgraph-shipped": {
    title: "LangGraph, SQLite saver, as shipped",
    package: LANGGRAPH,
    store: (_, place) => langgraph(place, "shipped"),
  },
};

export type PeerRunner = Runner & { readonly peer: PeerName };

/**
 * All that can be had of them, up and ready, with us; ended however `use` ends. Says why one is left out, and what is
 * not measured then.
 * `place` is a name that nobody else has in this run.
 */
export async function withRunners(
  place: string,
  wanted: ReadonlyMap<PeerName, readonly string[]>,
  bench: Bench,
  use: (ours: OurRunner, peers: readonly PeerRunner[]) => Promise<void>,
): Promise<void> {
  const running: Runner[] = [];
  try {
    const peers: PeerRunner[] = [];
    for (const [peer, names] of wanted) {
      const started =
        missing(bench, KINDS[peer].package) ?? KINDS[peer].missing?.(bench) ?? (await start(peer, bench, place));
      if (typeof started === "string") bench.say(`skipped, because ${started}: ${names.join(", ")}`);
      else peers.push(started);
    }
    running.push(...peers);
    if (peers.length === 0) return;
    const ours = await startOurs(bench, `${place}-ours`);
    running.push(ours);
    await use(ours, peers);
  } finally {
    for (const runner of running) await runner.end();
  }
}

/** One that is installed and does not start is as good as none: the others are measured all the same. */
async function start(peer: PeerName, bench: Bench, name: string): Promise<PeerRunner | string> {
  const place = makePlace(bench, `${name}-${peer}`);
  let store: Store | undefined;
  try {
    store = await KINDS[peer].store(bench, place);
    return { peer, ...runnerOn(KINDS[peer].title, store, await PeerHost.start(store.host)) };
  } catch (error) {
    await store?.end();
    return `${peer} does not start: ${error instanceof Error ? error.message : error}`;
  }
}

function runnerOn(title: string, store: Store, first: PeerHost): Runner {
  let host = first;
  return {
    title,
    run: (work) => host.run(work),
    begin: async (work) => host.begin(work),
    async crash(work: Work) {
      await host.kill();
      host = await PeerHost.start(store.host);
      host.begin(work, "resume");
    },
    async end() {
      await host.end();
      await store.end();
    },
  };
}

async function dbos(bench: Bench, place: string): Promise<Store> {
  const postgres = await Postgres.start(bench, join(place, "postgres"));
  return { host: dbosHost(place, postgres), end: () => postgres.end() };
}

function dbosHost(place: string, postgres: Postgres): HostWords {
  return { argv: ["node", peerPath("dbos", "host.mjs"), postgres.url], env: environment(place) };
}

/** DBOS on a server that others use too, which stays when it has ended. Otherwise why it cannot be had. */
export async function startDbosOn(postgres: Postgres, bench: Bench, name: string): Promise<Runner | string> {
  const { title, package: needed } = KINDS.dbos;
  const why = missing(bench, needed);
  if (why !== undefined) return why;
  const store = { host: dbosHost(makePlace(bench, name), postgres), end: async () => undefined };
  return runnerOn(title, store, await PeerHost.start(store.host));
}

/** Clients speak to its server on sockets; the server speaks to the host on a port. */
async function restate(_: Bench, place: string): Promise<Store> {
  const modules = peerPath("restate", "node_modules");
  // Its directories for invocations stay behind: where they are removed with everything else.
  const env = { ...environment(place), RESTATE_DISABLE_TELEMETRY: "true", TMPDIR: place };
  const words = ["--no-logo", "--listen-mode=unix", "--base-dir", place, "--node-name=bench", "--log-filter=error"];
  const program = join(modules, `@restatedev/restate-server-linux-${process.arch}/bin/restate-server`);
  const server = Bun.spawn([program, ...words], { cwd: place, env, stdio: ["ignore", "ignore", "ignore"] });
  const sockets = join(place, "bench");
  await until("Restate's server", START_MS, () => isHealthy(sockets));
  const node = join(modules, `node-linux-${process.arch}/bin/node`);
  const argv = [node, peerPath("restate", "host.mjs"), sockets, String(await freePort())];
  const end = async () => {
    server.kill("SIGTERM");
    await server.exited;
  };
  return { host: { argv, env }, end };
}

async function isHealthy(sockets: string): Promise<true | undefined> {
  for (const [socket, path] of [
    ["admin.sock", "health"],
    ["ingress.sock", "restate/health"],
  ] as const) {
    try {
      const answer = await fetch(`http://localhost/${path}`, { unix: join(sockets, socket) });
      if (!answer.ok) return undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error) return undefined; // It does not listen yet.
      throw error;
    }
  }
  return true;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function langgraph(place: string, manner: "durable" | "shipped"): Store {
  const argv = ["node", peerPath("langgraph", "host.mjs"), join(place, "checkpoints.sqlite"), manner];
  return { host: { argv, env: environment(place) }, end: async () => undefined };
}
