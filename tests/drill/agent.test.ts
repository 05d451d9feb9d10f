// The program of a drill's agents, driven through the scripted protocol.
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AGENT_WORDS, LINES_VARIABLE } from "../../src/drill/agent-program.ts";

test("FI-1(a) the drill's agent executes each command once, waits for the answers to its requests, and then is done", async () => {
  const place = mkdtempSync(join(tmpdir(), "hf-agent-"));
  const path = join(place, "lines");
  const child = Bun.spawn([...AGENT_WORDS], {
    env: { PATH: "/usr/bin:/bin", [LINES_VARIABLE]: path },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const hear = async () => {
    while (!rest.includes("\n")) rest += (await reader.read()).value ?? "";
    const [line = "", ...more] = rest.split("\n");
    rest = more.join("\n");
    return JSON.parse(line);
  };
  const tell = (message: object) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    child.stdin.flush();
  };
  try {
    tell({ type: "open", session: "s", resume: false });
    tell({ type: "prompt", id: "u", text: "[Message]\n@note.a1@ and\n@ask.a2@ @ask.a3@ @tell.kid.a4@ @spawn.kid@" });
    for (const decision of ["allow", "deny"]) {
      const { type, request } = await hear();
      expect(type).toBe("ask");
      tell({ type: "answer", request: "another", decision: "allow", message: "" });
      tell({ type: "answer", request, decision, message: "" });
    }
    const told = await hear();
    expect(told).toMatchObject({ type: "call", tool: "send_message", args: { to: "kid", text: "@note.a4@" } });
    tell({ type: "result", call: told.call, ok: true, result: {} });
    const spawned = await hear();
    expect(spawned).toMatchObject({ tool: "spawn_agent", args: { name: "kid", instructions: "@note.born-kid@" } });
    tell({ type: "result", call: spawned.call, ok: true, result: {} });
    expect(await hear()).toEqual({ type: "done", response: "done" });
    expect(readFileSync(path, "utf8")).toBe("a1\na2 allow\na3 deny\n");
    child.stdin.end();
    expect(await child.exited).toBe(0);
  } finally {
    child.kill();
    rmSync(place, { recursive: true });
  }
});
