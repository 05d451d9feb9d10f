import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGAIN, AGENT_WORDS } from "./agent-program.ts";

const OPEN = '{"type":"open","session":"s1","resume":true,"instructions":""}';

/** Runs one process of it with these input lines, and returns its output. */
async function life(lines: string, ...told: readonly string[]): Promise<string[]> {
  const stdin = new Blob([[OPEN, ...told, ""].join("\n")]);
  const child = Bun.spawn([...AGENT_WORDS], { env: { PATH: "/usr/bin:/bin", DRILL_LINES: lines }, stdin });
  return (await child.stdout.text()).split("\n").filter(Boolean);
}

const prompt = (text: string) => JSON.stringify({ type: "prompt", id: "p", text });
const done = '{"type":"done","response":"done"}';

test("an agent of a drill continues where its last process was killed, and does nothing twice", async () => {
  const place = mkdtempSync(join(tmpdir(), "hfda-"));
  const lines = join(place, "lines");
  const left = () => readFileSync(lines, "utf8").trim().split("\n");
  expect(await life(lines, prompt("@note.m1@ @tell.one.c1@"))).toEqual([
    expect.stringContaining('"call":"tell.one.c1"'),
  ]);
  // It was killed in the middle of its call; then once more, after it had left a line and before it could note that.
  const again = await life(lines, prompt(AGAIN), '{"type":"result","call":"tell.one.c1","ok":true,"result":{}}');
  expect(again).toEqual([expect.stringContaining('"call":"tell.one.c1"'), done]);
  expect(left()).toEqual(["m1"]);
  writeFileSync(lines, "m2\np3 allow\n", { flag: "a" });
  expect(await life(lines, prompt(`${AGAIN} @note.m2@ @ask.p3@ @note.m4@`))).toEqual([done]);
  expect(left()).toEqual(["m1", "m2", "p3 allow", "m4"]);
  expect(await life(lines, prompt("@note.m1@"))).toEqual([done]);
  expect(left().filter((line) => line === "m1")).toHaveLength(2); // A new request is carried out again.
  rmSync(place, { recursive: true });
});
