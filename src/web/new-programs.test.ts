import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { ok } from "../base/result.ts";
import { newAgent, newTerminal } from "./new-programs.ts";

const disk = new SimDisk();
disk.makeDirectory("/work");
disk.makeDirectory("/ann");
const world = { disk, self: { environment: () => ({ HOME: "/ann", SHELL: "/bin/zsh", KEY: "s3cret", TMUX: "x" }) } };

function daemon() {
  const asked: Record<string, unknown>[] = [];
  return { asked, call: async (_: string, params: object) => ok(asked.push({ ...params })) };
}

const AGENT = { id: "a".repeat(32), name: "one", parent: null, instructions: "", provider: "", model: "" };

test("NP1 NP2 an agent gets the host's environment, the user's directory and the provider's own program", async () => {
  const link = daemon();
  await newAgent(world, { ...AGENT, cwd: "", command: " " }, link);
  await newAgent(world, { ...AGENT, provider: "scripted", cwd: "/work", command: "run me" }, link);
  expect(link.asked).toMatchObject([
    { provider: null, model: null, cwd: "/ann", command: [], env: { KEY: "s3cret", TERM: "dumb" } },
    { provider: "scripted", cwd: "/work", command: ["/bin/zsh", "-c", "run me"], env: { HOME: "/ann" } },
  ]);
  expect(JSON.stringify(link.asked)).not.toContain("TMUX");
});

test("a directory that is not there, and what is not a request, are refused before the daemon is asked", async () => {
  const link = daemon();
  const terminal = { name: "t", lane: "main", command: "" };
  for (const cwd of ["/none", "work", "../work"]) {
    expect(await newAgent(world, { ...AGENT, cwd, command: "" }, link)).toMatchObject({ ok: false });
    expect(await newTerminal(world, { ...terminal, cwd }, link)).toMatchObject({ ok: false });
  }
  for (const params of [{}, { ...AGENT, cwd: 3, command: "" }])
    expect(await newAgent(world, params, link)).toMatchObject({ error: { code: "bad-params" } });
  expect(link.asked).toEqual([]);
});
