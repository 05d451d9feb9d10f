// What lies in the directory of a holder on pipes, read while the holder writes it.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readHeld } from "../../src/home/held/held-files.ts";
import { realClock } from "../../src/world/real/clock.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { realProcesses } from "../../src/world/real/process.ts";

test("a claim that is made at any moment of a look is none yet, or its holder's: never a loss", () => {
  const directory = mkdtempSync(join(tmpdir(), "hfheld-"));
  const processes = realProcesses();
  const { pid } = processes;
  const claim = {
    v: 1,
    generation: 1,
    by: "holder",
    pid,
    startTime: processes.startTime(pid),
    bootId: processes.bootId(),
  };
  const text = `${JSON.stringify({ ...claim, at: new Date(0).toISOString() })}\n`;
  for (let moment = 0; moment < 12; moment += 1) {
    rmSync(join(directory, "claim.json"), { force: true });
    let calls = 0;
    const disk = new Proxy(realDisk(), {
      get: (real, name, receiver) => {
        const call = Reflect.get(real, name, receiver);
        if (typeof call !== "function") return call;
        return (...words: unknown[]) => {
          if (calls++ === moment) writeFileSync(join(directory, "claim.json"), text);
          return Reflect.apply(call, real, words);
        };
      },
    });
    const found = readHeld({ disk, processes, clock: realClock(), home: directory }, directory);
    if (found.kind !== "unclaimed") expect(found).toMatchObject({ kind: "claimed", holder: { pid } });
  }
  rmSync(directory, { recursive: true });
});
