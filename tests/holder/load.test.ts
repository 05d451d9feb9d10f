// What a holder costs, measured and printed. The bounds are generous: a busy machine must not fail them, a mistake of
// ours must.
import { afterEach, expect, test } from "bun:test";
import { until } from "../until.ts";
import { attach, endAll, memoryOf, newTerminal, startHolder } from "./terminal.ts";

afterEach(endAll);

const FLOOD_BYTES = 60_000_000;
/** It stays afterwards: a holder leaves with its program. How fast that is, is measured in bench/terminal-flood.ts. */
const FLOOD = ["sh", "-c", `stty -opost; read -r go; head -c ${FLOOD_BYTES} /dev/zero; exec sleep 1000`];

test("an idle holder is small", async () => {
  const made = newTerminal(["sleep", "1000"]);
  const holder = startHolder(made);
  await attach(made);
  // Measured before it goes to rest (rest.test.ts), which frees some 150 kB.
  const dirty = memoryOf(holder.pid, "Private_Dirty");
  console.log(`idle holder: ${dirty} kB private dirty, ${memoryOf(holder.pid, "Pss")} kB PSS`);
  expect(dirty).toBeLessThan(8000);
});

test("a flood through a holder arrives whole, and leaves nothing of it in its memory", async () => {
  const made = newTerminal(FLOOD);
  const holder = startHolder(made);
  let heard = 0;
  const output = (_offset: number, bytes: Uint8Array) => {
    heard += bytes.length;
  };
  const ear = await attach(made, { from: 0 }, { output });
  await ear.type("\n");
  await until(
    "it is all there",
    () => heard >= FLOOD_BYTES,
    () => heard,
  );
  const memory = memoryOf(holder.pid, "VmRSS");
  console.log(`flood: holder's RSS ${memory} kB after ${FLOOD_BYTES / 1e6} MB`);
  expect(ear.holes).toEqual([]);
  expect(memory).toBeLessThan(150_000);
});
