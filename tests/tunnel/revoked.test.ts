// A device and a home that are revoked while they are connected, and while a terminal is watched through them. The
// program in the terminal is the clock: it counts fifty times a second, and less often on a machine that is busy.
import { afterAll, expect, test } from "bun:test";
import { FarDevice, newDevice } from "../../bench/far-device.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";
import { FarHome, RelayProcess } from "./far-home.ts";
import { askDesk } from "./relay-site.ts";

const closers: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await endAll();
});

const COUNTING = "i=0; stty -echo; while :; do echo $i; i=$((i+1)); sleep 0.02; done";
/** Of the program, in five seconds at most. */
const TICKS = 250;
const HEARTBEAT = "10m"; // It is not a heartbeat that finds them.

/** A device that watches the terminal; `ticks`: the last number that it has seen. */
async function watching(home: FarHome, terminal: string) {
  const device = new FarDevice(newDevice((await home.json("pair", "--rights", "type")).url));
  closers.push(() => device.close());
  await device.up();
  const seen = { ticks: -1, lost: 0 };
  const output = (_: number, bytes: Uint8Array) => {
    const last = Buffer.from(bytes)
      .toString()
      .match(/\d+(?=\r\n)/g)
      ?.at(-1);
    seen.ticks = Number(last ?? seen.ticks);
  };
  const client = device.terminal(terminal, { output, lost: () => (seen.lost += 1) });
  await client.connect();
  const counts = () =>
    until(
      "it counts",
      () => seen.ticks > 20,
      () => seen,
    );
  await counts();
  return { device, seen };
}

test("a device and a home that are revoked are cut off within five seconds, and stay out", async () => {
  const [relay, home] = [new RelayProcess(closers, HEARTBEAT), new FarHome()];
  await relay.serve();
  await home.enrol(relay);
  await home.ok("new", "-d", "counts", "--", "sh", "-c", COUNTING);
  const { id } = (await home.json("ls")).find(({ name }: { name: string }) => name === "counts");
  const counted = async () => Number((await home.ok("history", "counts")).trimEnd().split("\n").at(-1));

  const first = await watching(home, id);
  const [listed] = await home.json("devices", "ls");
  const before = await counted();
  await home.ok("devices", "revoke", listed.id);
  const link = () => first.device.links.at(-1);
  await until("it is signed out", () => link()?.kind === "signed out", link);
  expect(first.seen.lost).toBe(1);
  expect(first.seen.ticks - before).toBeLessThan(TICKS);

  const second = await watching(home, id);
  const cut = () => second.seen.lost > 0;
  const at = await counted();
  const { connected } = await askDesk(relay.home, { method: "revoke", home: (await home.tunnel()).id });
  expect(connected).toBe(false);
  await until("it is cut off", cut, () => second.seen);
  expect(second.seen.ticks - at).toBeLessThan(TICKS);
  await until(
    "the home knows",
    async () => (await home.tunnel()).state === "Ended",
    () => home.tunnel(),
  );
  const { homes, tabs } = await askDesk(relay.home, { method: "status" });
  expect([homes.connected, homes.revoked, tabs]).toEqual([0, 1, 0]);
  expect(second.device.links.at(-1)?.kind).toBe("connecting"); // It is still paired: the home may enrol again.
});
