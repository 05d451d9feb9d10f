// A really full disk: a tiny tmpfs. The program and attached clients continue; the tape records the gap.
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { attach, claimOf, endAll, exitOf, newTerminal, startHolder } from "./terminal.ts";

/** Says "ready" and a newline, then as many NULs as it is asked for, and a newline. */
const ZEROS = ["sh", "-c", "stty -echo -opost; echo ready; while read -r n; do head -c $n /dev/zero; echo; done"];
const mounts: string[] = [];
const mayMount = tryMount();

afterEach(async () => {
  await endAll();
  for (const place of mounts.splice(0)) unmount(place);
});

test.skipIf(!mayMount)(
  "output continues in memory, and the tape continues at the right offset with a gap (needs mount)",
  async () => {
    const { made, fill, free } = onTinyDisk(ZEROS);
    startHolder(made);
    const ear = await attach(made);
    await ear.hears("ready\n");
    await ear.type("994\n");
    await until(
      "it is there",
      () => ear.client.offset === 1001,
      () => ear.client.offset,
    );
    fill();
    await ear.type("3000000\n");
    await until(
      "the client has everything",
      () => ear.client.offset === 3_001_002,
      () => ear.client.offset,
    );
    expect(ear.holes).toEqual([]);
    const full = await ear.status();
    expect(full.trouble).toContain("ENOSPC");
    expect(full.tape.end).toBe(3_001_002);
    const late = await attach(made, { writer: "late" });
    await until(
      "a late one gets what memory has",
      () => late.client.offset === 3_001_002,
      () => late.client.offset,
    );
    expect(late.resyncs).toHaveLength(1);
    expect(late.holes).toEqual([]);
    free();
    await until(
      "the tape is written again",
      async () => (await ear.status()).trouble === null,
      async () => (await ear.status()).trouble,
    );
    await ear.type("10\n");
    await until(
      "more comes",
      () => ear.client.offset === 3_001_013,
      () => ear.client.offset,
    );
    const healed = await ear.status();
    expect(healed.tape).toMatchObject({ start: 0, end: 3_001_013, gaps: 1 });
    const names = readdirSync(join(made.directory, "tape")).sort();
    expect(names).toHaveLength(2);
    expect(Number(names[1]?.slice(0, 16))).toBeGreaterThan(1001);
    expect(Number(names[1]?.slice(0, 16)) + statSync(join(made.directory, "tape", names[1] ?? "")).size).toBe(
      3_001_013,
    );
  },
);

test.skipIf(!mayMount)("a short shortage leaves no gap at all (needs mount)", async () => {
  const { made, fill, free } = onTinyDisk(ZEROS);
  startHolder(made);
  const ear = await attach(made);
  await ear.hears("ready\n");
  await ear.type("9994\n");
  await until(
    "it is there",
    () => ear.client.offset === 10_001,
    () => ear.client.offset,
  );
  fill();
  await ear.type("500000\n");
  await until(
    "the client has everything",
    () => ear.client.offset === 510_002,
    () => ear.client.offset,
  );
  expect((await ear.status()).trouble).toContain("ENOSPC");
  free();
  await until(
    "the tape is written again",
    async () => (await ear.status()).trouble === null,
    async () => (await ear.status()).trouble,
  );
  expect((await ear.status()).tape).toEqual({ start: 0, end: 510_002, gaps: 0 });
});

test.skipIf(!mayMount)("an end on a full disk is announced once it could be recorded (needs mount)", async () => {
  const { made, fill, free } = onTinyDisk(["sh", "-c", "read -r line; exit 5"]);
  const holder = startHolder(made);
  const ear = await attach(made);
  fill();
  await ear.type("\n");
  await until(
    "the child is gone",
    async () => (await ear.status()).child === null,
    async () => (await ear.status()).child,
  );
  expect({ exit: ear.exit, kept: exitOf(made), holder: holder.exitCode }).toEqual({
    exit: undefined,
    kept: undefined,
    holder: null,
  });
  free();
  expect((await ear.hearsEnd()).code).toBe(5);
  expect(exitOf(made)?.code).toBe(5);
});

test.skipIf(!mayMount)(
  "on a disk that is full from the start nothing is claimed and nothing started (needs mount)",
  async () => {
    const { made, fill, free } = onTinyDisk(["sh", "-c", "echo x > started"]);
    fill();
    const holder = startHolder(made);
    expect(await holder.exited).not.toBe(0);
    expect(claimOf(made)).toBeUndefined();
    free();
    expect(await startHolder(made).exited).toBe(0); // The next try is the first.
    expect(exitOf(made)?.code).toBe(0);
  },
);

function onTinyDisk(argv: readonly string[]) {
  const place = mount();
  const made = newTerminal(argv, {}, place);
  const ballast = join(place, "ballast");
  return { made, fill: () => fillUp(ballast), free: () => rmSync(ballast) };
}

function fillUp(ballast: string): void {
  for (let size = 8 << 20; size >= 1; size = Math.floor(size / 2)) {
    try {
      writeFileSync(ballast, Buffer.alloc(size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes("ENOSPC")) throw error;
    }
  }
}

function mount(): string {
  const place = mkdtempSync(join(tmpdir(), "hf-"));
  const done = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", place]);
  if (done.exitCode !== 0) {
    rmSync(place, { recursive: true });
    throw new Error(`cannot mount: ${done.stderr.toString()}`);
  }
  mounts.push(place);
  return place;
}

function unmount(place: string): void {
  Bun.spawnSync(["umount", "-l", place]);
  rmSync(place, { recursive: true, force: true });
}

function tryMount(): boolean {
  try {
    unmount(mount());
    mounts.length = 0;
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
