// What a holder costs, measured and printed. The bounds are generous: a busy machine must not fail them, a mistake of ours must.
import { afterEach, expect, test } from "bun:test";
import { until } from "../until.ts";
import { attach, endAll, memoryOf, newTerminal, startHolder } from "./terminal.ts";

afterEach(endAll);

const FLOOD_BYTES = 60_000_000;
const FLOOD = ["sh", "-c", `stty -opost; read -r go; head -c ${FLOOD_BYTES} /dev/zero`];

test("an idle holder is small", async () => {
  const made = newTerminal(["sleep", "1000"]);
  const holder = startHolder(made);
  await attach(made);
  const dirty = memoryOf(holder.pid, "Private_Dirty"); // Also before it has come to rest (rest.test.ts), which frees some 150 kB.
  console.log(`idle holder: ${dirty} kB private dirty, ${memoryOf(holder.pid, "Pss")} kB PSS`);
  expect(dirty).toBeLessThan(8000);
});

test("a flood through a holder comes at the pace of a terminal", async () => {
  const raw = await rawSeconds();
  const made = newTerminal(FLOOD);
  const holder = startHolder(made);
  let heard = 0;
  const output = (_offset: number, bytes: Uint8Array) => {
    heard += bytes.length;
  };
  const ear = await attach(made, { from: 0 }, { output });
  const began = performance.now();
  await ear.type("\n");
  await until("it is all there", () => heard >= FLOOD_BYTES);
  const held = (performance.now() - began) / 1000;
  const pace = (seconds: number) => `${(FLOOD_BYTES / 1e6 / seconds).toFixed(0)} MB/s`;
  const memory = memoryOf(holder.pid, "VmRSS");
  console.log(
    `flood: raw ${pace(raw)}, held ${pace(held)}, ratio ${(raw / held).toFixed(2)}, holder's RSS ${memory} kB`,
  );
  expect(ear.holes).toEqual([]);
  expect(held).toBeLessThan(raw * 20);
  expect(memory).toBeLessThan(150_000);
}, 60_000);

/** The same flood through a bare terminal whose reader throws it away. */
async function rawSeconds(): Promise<number> {
  let heard = 0;
  const done = Promise.withResolvers<void>();
  const data = (_: unknown, bytes: Uint8Array) => {
    heard += bytes.length;
    if (heard >= FLOOD_BYTES) done.resolve();
  };
  const child = Bun.spawn(FLOOD, { env: { PATH: "/usr/bin:/bin" }, terminal: { cols: 80, rows: 24, data } });
  const began = performance.now();
  child.terminal?.write("\n");
  await done.promise;
  const seconds = (performance.now() - began) / 1000;
  await child.exited;
  return seconds;
}
