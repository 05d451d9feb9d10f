// Terminals at rest: the daemon has no connection to their holders, and still misses nothing.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, unlinkSync } from "node:fs";
import { HolderClient } from "../../src/wire/holder/client.ts";
import { parseSpec } from "../../src/wire/holder/json.ts";
import { realSockets } from "../../src/world/real/socket.ts";
import type { Connection } from "../../src/world/socket.ts";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes } from "./home.ts";
import { tapeText } from "./power-cut.ts";

const newHome = daemonHomes();
const SLEEP = ["sleep", "1000"];
/** As long after its socket was touched a holder is asked by the next daemon (terminal/holders.ts). */
const ASKED_MS = 3_000;

/** Its sockets: the one it listens on, and one per connection. */
function linesOf(holder: number): number {
  const held = readdirSync(`/proc/${holder}/fd`).map((fd) => linkOf(`/proc/${holder}/fd/${fd}`));
  return held.filter((link) => link.startsWith("socket:")).length - 1;
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (error instanceof Error) return ""; // It was closed meanwhile.
    throw error;
  }
}

async function resting(home: DaemonHome, name: string, argv: readonly string[] = SLEEP) {
  const id = await home.open(name, argv);
  const { pid, holder } = await home.is(id, "running");
  await rests(holder);
  return { id, pid, holder, socket: home.file(`run/${id.slice(0, 16)}.sock`) };
}

function rests(holder: number): Promise<true> {
  return until(
    "its holder has no connection",
    () => linesOf(holder) === 0,
    () => linesOf(holder),
  );
}

/** As the daemon knows it, without asking the holder. */
function ended(home: DaemonHome, id: string) {
  return until(
    `${id} has ended`,
    async () => {
      const listed = await home.ask("terminal.list", { id, brief: true });
      const state = listed?.ok === true ? listed.value[0]?.state : undefined;
      return state?.kind === "ended" ? state : undefined;
    },
    () => home.ask("terminal.list", { id, brief: true }),
  );
}

test("an idle terminal has no connection; the end of its program is noticed, with its code", async () => {
  const home = newHome();
  await home.live();
  const program = "trap 'exit 7' TERM; touch ready; sleep 1000 & wait";
  const { id, pid, holder } = await resting(home, "one", ["sh", "-c", program]);
  await until(
    "its trap is set",
    () => existsSync(home.file("ready")),
    () => `${home.file("ready")} exists: ${existsSync(home.file("ready"))}`,
  );
  process.kill(pid, "SIGTERM");
  expect(await ended(home, id)).toMatchObject({ code: 7 });
  await until(
    "its holder has left",
    () => !existsSync(`/proc/${holder}`),
    () => `${`/proc/${holder}`} exists: ${existsSync(`/proc/${holder}`)}`,
  );
});

test("HE8 the next daemon does not wake a terminal at rest, and notices its end all the same", async () => {
  const home = newHome();
  const first = await home.live();
  const program = "trap 'exit 7' TERM; touch ready; sleep 1000 & wait";
  const { id, pid, holder, socket } = await resting(home, "one", ["sh", "-c", program]);
  await until(
    "its trap is set",
    () => existsSync(home.file("ready")),
    () => `${home.file("ready")} exists: ${existsSync(home.file("ready"))}`,
  );
  await until(
    "it cannot be asking something",
    () => Date.now() - statSync(socket).mtimeMs > ASKED_MS,
    () => statSync(socket).mtimeMs,
  );
  await home.kill(first);
  await home.live();
  const listed = await home.ask("terminal.list", { id, brief: true });
  expect(listed).toMatchObject({ ok: true, value: [{ id, state: { kind: "running", pid, holder } }] });
  expect(linesOf(holder)).toBe(0); // Settled: a connection would be kept for some rounds.
  process.kill(pid, "SIGTERM");
  expect(await ended(home, id)).toMatchObject({ code: 7 });
});

test("the end is noticed while the holder still waits for a client that does not read", async () => {
  const home = newHome();
  await home.live();
  const { id, pid, holder } = await resting(home, "one", [
    "sh",
    "-c",
    "yes | head -c 4000000; touch said; exec sleep 1000",
  ]);
  await until(
    "it has printed all of it",
    () => existsSync(home.file("said")),
    () => `${home.file("said")} exists: ${existsSync(home.file("said"))}`,
  );
  const spec = parseSpec(Buffer.from(home.text(`terminals/${id}/holder.json`)));
  if (!spec.ok) throw new Error(spec.error.message);
  const { token, socket } = spec.value;
  let deaf: Connection | undefined;
  const client = new HolderClient(
    async (events) => {
      deaf = await realSockets().connect(socket, events);
      return deaf;
    },
    { token, writer: "deaf", from: 0 },
  );
  await client.connect();
  deaf?.pause();
  process.kill(pid, "SIGKILL");
  expect(await ended(home, id)).toMatchObject({ signal: "SIGKILL" });
  // Settled: the holder stays for its deaf client.
  expect(existsSync(`/proc/${holder}`)).toBe(true);
  deaf?.destroy();
});

test("a list asks holders at rest, and lets them rest again", async () => {
  const home = newHome();
  await home.live();
  const { id, holder } = await resting(home, "one", ["sh", "-c", "echo word; exec sleep 1000"]);
  await until(
    "its output is on the tape",
    () => tapeText(home, id) !== "",
    () => tapeText(home, id),
  );
  const { clients, lastOutputAt, bytes } = await home.listed(id);
  expect([clients, bytes > 0, typeof lastOutputAt]).toEqual([0, true, "string"]);
  await rests(holder);
});

test("a signal reaches a program whose holder is at rest, once", async () => {
  const home = newHome();
  await home.live();
  const program = "trap 'echo once >> heard; exit 3' USR1; touch ready; sleep 1000 & while :; do wait; done";
  const { id } = await resting(home, "one", ["sh", "-c", program]);
  await until(
    "its trap is set",
    () => existsSync(home.file("ready")),
    () => `${home.file("ready")} exists: ${existsSync(home.file("ready"))}`,
  );
  await home.must("terminal.signal", { id, signal: "SIGUSR1" });
  expect(await ended(home, id)).toMatchObject({ code: 3 });
  expect(home.text("heard")).toBe("once\n");
});

test("a holder killed at rest is noticed, and its terminal comes back", async () => {
  const home = newHome();
  await home.live();
  const { id, holder } = await resting(home, "one");
  process.kill(holder, "SIGKILL");
  const next = await until(
    "the next generation runs",
    async () => {
      const { state, generation } = await home.listed(id);
      return state.kind === "running" && generation === 2 ? state : undefined;
    },
    () => home.listed(id),
  );
  expect(next.holder).not.toBe(holder);
});

test("a deleted socket comes back while the daemon lives, also after all of run/ was removed", async () => {
  const home = newHome();
  await home.live();
  const { id, pid, holder, socket } = await resting(home, "one");
  unlinkSync(socket);
  await until(
    "it is there again",
    () => existsSync(socket),
    () => `${socket} exists: ${existsSync(socket)}`,
  );
  await rests(holder);
  rmSync(home.file("run"), { recursive: true });
  mkdirSync(home.file("run"), { mode: 0o700, recursive: true }); // Unless the daemon was faster.
  await until(
    "the socket is there again",
    () => existsSync(socket),
    () => `${socket} exists: ${existsSync(socket)}`,
  );
  await rests(holder);
  process.kill(pid, "SIGKILL");
  expect(await ended(home, id)).toMatchObject({ signal: "SIGKILL" });
});
