// What a person sees of an attempt whose end nobody saw, from files that may hold anything.
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tape } from "../../log/tape/tape.ts";
import { realDisk } from "../../world/real/disk.ts";
import { realProcesses } from "../../world/real/process.ts";
import { attemptEvidence } from "./attempt-evidence.ts";

const disk = realDisk();
const processes = realProcesses();
const homes: string[] = [];
afterAll(() => {
  for (const home of homes) rmSync(home, { recursive: true });
});

const [REPO, RUN] = ["shop", "982a3a029e274a19aa6423bacd9fdadb"];
const SPEC = {
  ...{ v: 1, generation: 1, mode: "pipe", size: { cols: 80, rows: 24 }, id: `${RUN}.3`, token: "SECRET" },
  argv: ["/bin/sh", "-e", "-c", 'upload "$HOLDFAST_VALUE_1"\u001b[2J'],
  cwd: "/shop",
  env: { PASSWORD: "SECRET", HOLDFAST_TRY: "2", HOLDFAST_VALUE_1: "a\nb" },
  ...{ socket: "/h/run/x.sock", tape: { segmentBytes: 1 << 20, maxBytes: 64 << 20 } },
};
const AT = "2026-11-17T10:00:00.000Z";
const CLAIM = { v: 1, generation: 1, by: "holder", pid: 4_000_000, startTime: 1, bootId: processes.bootId(), at: AT };

type Files = Readonly<Record<string, unknown>>;
type Outputs = { readonly stdout?: string; readonly stderr?: string };

function homeWith(files: Files, { stdout = "", stderr = "" }: Outputs = {}): string {
  const home = mkdtempSync("/tmp/hfe-");
  homes.push(home);
  const directory = join(home, `state/${REPO}/sessions/${RUN}/attempts/3`);
  mkdirSync(directory, { recursive: true });
  for (const [name, value] of Object.entries(files)) writeFileSync(join(directory, name), `${JSON.stringify(value)}\n`);
  for (const [name, text] of [
    ["tape", stdout],
    ["stderr-tape", stderr],
  ] as const) {
    mkdirSync(join(directory, name));
    const tape = Tape.open(disk, join(directory, name), SPEC.tape);
    tape.append(Buffer.from(text));
    tape.close();
  }
  return home;
}

function seen(home: string, repo = REPO, attempt = `${RUN}.3`) {
  return attemptEvidence({ disk, processes, home }, { repo, attempt });
}

test("AE1 AE2 the command, its values, and the end of its output, without control characters and without secrets", () => {
  const home = homeWith(
    { "holder.json": SPEC, "claim.json": CLAIM },
    { stdout: "\u001b[31mred\u001b[0m\nof \u202eend" },
  );
  const found = seen(home);
  expect(found).toEqual({
    ...{ number: 3, try: 2, cwd: "/shop", startedAt: AT },
    command: ["/bin/sh", "-e", "-c", 'upload "$HOLDFAST_VALUE_1"\\u001b[2J'],
    values: [{ name: "HOLDFAST_VALUE_1", value: "a\\u000ab" }],
    known: "Its holder, process 4000000, is gone and has left no exit code.",
    ...{ stdout: ["red", "of \\u202eend"], stderr: [], isOver: true },
  });
  expect(JSON.stringify(found)).not.toContain("SECRET");
});

test("AE1 however much was printed, the last lines are shown, and a long line is cut", () => {
  const lines = Array.from({ length: 5000 }, (_, at) => `line ${at}`);
  const home = homeWith({ "holder.json": SPEC }, { stdout: lines.join("\n"), stderr: "x".repeat(100_000) });
  const { stdout = [], stderr = [] } = seen(home) ?? {};
  expect([stdout.length, stdout.at(-1), stderr.length, stderr[0]?.length]).toEqual([20, "line 4999", 1, 501]);
  const more = attemptEvidence({ disk, processes, home }, { repo: REPO, attempt: `${RUN}.3`, lines: 400 });
  expect([more?.stdout.length, more?.stdout[0], more?.isOver]).toEqual([400, "line 4600", false]);
});

test("what is known depends on claim, exit and boot", () => {
  const known = (files: Files) => seen(homeWith({ "holder.json": SPEC, ...files }))?.known;
  const exit = { v: 1, generation: 1, code: 3, signal: null, bootId: "b", offset: 0, at: AT };
  const { pid } = processes;
  const alive = { ...CLAIM, pid, startTime: processes.startTime(pid) };
  expect([
    known({}),
    known({ "claim.json": { ...CLAIM, by: "cancel" } }),
    known({ "claim.json": { ...CLAIM, bootId: "another" } }),
    known({ "claim.json": alive }),
    known({ "claim.json": CLAIM, "exit.json": exit }),
    known({ "claim.json": "torn" }),
  ]).toEqual([
    "It was never started.",
    "Its start was called off before it began.",
    "The machine went down while it ran: nobody saw its end.",
    `Its holder, process ${pid}, is alive.`,
    `It ended with exit code 3 at ${AT}.`,
    "Its holder is gone and has left no exit code.",
  ]);
});

test("an attempt without files, and names that lead elsewhere, have no evidence", () => {
  const home = homeWith({ "holder.json": SPEC });
  expect(seen(home)).toBeDefined();
  for (const [repo, attempt] of [
    [REPO, `${RUN}.4`],
    [REPO, `${RUN}.`],
    [REPO, `${RUN}.x/../3`],
    [`../state/${REPO}`, `${RUN}.3`],
    [REPO, `../sessions/${RUN}.3`],
    ["", ""],
  ] as const)
    expect([repo, attempt, seen(home, repo, attempt)]).toEqual([repo, attempt, undefined]);
});
