// Device, relay and home far from each other: 150 ms each way between device and relay, and between relay and home, by
// a proxy that delays each piece. (The kernels that we test on cannot delay packets: they have no netem.)
import { afterAll, expect, test } from "bun:test";
import { FarDevice, newDevice } from "../../bench/far-device.ts";
import { newId } from "../../src/base/ids.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { FarHome, RelayProcess } from "./far-home.ts";
import { HoldingProxy } from "./holding-proxy.ts";
import { askDesk } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await endAll();
});

const DELAY_MS = 150;
const LINES = 50_000;

async function farFrom(port: number): Promise<number> {
  const proxy = await HoldingProxy.start(port, DELAY_MS);
  closers.push(() => proxy.close());
  return proxy.port;
}

async function started() {
  const [relay, home] = [new RelayProcess(closers), new FarHome()];
  await relay.serve();
  await home.enrol(relay, await farFrom(relay.port));
  const link = (await home.json("pair", "--rights", "type")).url;
  const device = new FarDevice(newDevice(link), { port: await farFrom(relay.web) });
  closers.push(() => device.close());
  await device.up();
  return { relay, home, device };
}

/** The prompt of this agent, as soon as the device sees it. */
async function promptOf({ client }: FarDevice, agent: string): Promise<string> {
  const look = async () => {
    const list = await client.call("prompt.list", {});
    return list.ok ? list.value.find(({ name, state }) => name === agent && state === "open")?.id : undefined;
  };
  return until(`the device sees the prompt of ${agent}`, look, () => agent);
}

test("TN-1(b) PR-3(b) with 150 ms each way on both sides of the relay a flood is whole, and a prompt beside it is answered", async () => {
  const { home, device } = await started();
  await home.ok("new", "-d", "floods", "--", "sh", "-c", `stty -echo; read go; seq ${LINES}; cat`);
  const { id } = (await home.json("ls")).find(({ name }: { name: string }) => name === "floods");
  let [rest, next] = ["", 1];
  const wrong: string[] = [];
  const output = (_: number, bytes: Uint8Array) => {
    const lines = (rest + Buffer.from(bytes).toString()).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== `${next}`) wrong.push(`${line} instead of ${next}`);
      next += 1;
    }
  };
  const client = device.terminal(id, { output, resync: (offset) => void wrong.push(`cut to ${offset}`) });
  await client.connect();
  await client.input(Buffer.from("go\n"));
  await until(
    "the flood has begun",
    () => next > 1,
    () => [rest, wrong],
  );
  await home.askedBy("asks", "make");
  const prompt = await promptOf(device, "asks");
  const answer = newId(crypto.getRandomValues(new Uint8Array(16)));
  const answered = await device.client.call("prompt.answer", { prompt, answer, decision: "allow" });
  expect(answered.ok).toBe(true);
  const log = () => home.ok("agent", "log", "asks");
  await until("the agent has it", async () => (await log()).includes("> allow"), log);
  await until(
    "the flood is whole",
    () => next > LINES || wrong.length > 0,
    () => next,
  );
  expect([wrong.slice(0, 3), next - 1, (await log()).match(/: allow, by/g)?.length]).toEqual([[], LINES, 1]);
});

/** As a laptop that is closed: all its processes stop, and go on later as if nothing had happened. */
async function asleep(home: FarHome, work: () => Promise<unknown>): Promise<void> {
  const { watchdog, daemon, web } = await home.status();
  const pids: number[] = [watchdog.pid, web.pid, daemon.pid];
  for (const pid of pids) process.kill(pid, "SIGSTOP");
  try {
    await work();
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT");
  }
}

test("TN-1(b) a home that slept until the relay gave it up is connected again when it wakes, and prompts get through", async () => {
  const { relay, home, device } = await started();
  const connected = async () => (await askDesk(relay.home, { method: "status" })).homes.connected;
  await asleep(home, () => until("the relay has noticed", async () => (await connected()) === 0, connected));
  await until("it is back", async () => (await connected()) === 1, connected);
  await home.askedBy("wakes", "make");
  expect(await promptOf(device, "wakes")).toMatch(/^[0-9a-f]+$/);
});
