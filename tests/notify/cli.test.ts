// `holdfast notify`, and what `doctor` says of calls that failed.
import { afterEach, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { ACTOR } from "../agent/agent-home.ts";
import { endAll, Home } from "../cli/terminal-home.ts";
import { ours } from "../ours.ts";
import { until } from "../until.ts";

const MAIN = ours("src/cli/main.ts");

afterEach(endAll);

function homeThatCalls(script: string): Home {
  const home = new Home();
  const command = JSON.stringify(["/bin/sh", "-c", script]);
  const more = `[notify]\ncommand = ${command}\nquiet = "00:00-00:01"\nmute = ["noise-*"]\n`;
  appendFileSync(join(home.path, "config.toml"), more);
  return home;
}

test("notify shows who is called, calls them now, and says what failed and what to do; doctor too", async () => {
  const home = homeThatCalls('test -e "$HOME/reachable" || { echo no phone; exit 1; }');
  await home.ok("up");
  expect(await home.ok("notify", "status")).toMatch(/called +\/bin\/sh\nquiet hours +00:00-00:01.*\nmuted +noise-\*/);
  const failed = await home.run("notify", "test");
  expect([failed.code, failed.out]).toEqual([1, "could not call /bin/sh: the command exited with 1: no phone\n"]);
  const status = await home.run("notify", "status");
  expect(status).toMatchObject({ code: 1, out: expect.stringContaining("no phone (1 time in a row") });
  const checks = JSON.parse((await home.run("doctor", "--json")).out).checks;
  const found = checks.find(({ name }: { name: string }) => name === "notifications");
  expect(found).toMatchObject({
    status: "warning",
    why: "the command exited with 1: no phone",
    next: "holdfast notify test",
  });
  await Bun.write(join(home.path, "reachable"), "");
  expect(JSON.parse(await home.ok("notify", "test", "--json"))).toEqual([
    { id: "command", name: "/bin/sh", ok: true, why: "" },
  ]);
  expect(await home.ok("notify", "ls")).toContain("/bin/sh");
  expect(JSON.parse(await home.ok("notify", "ls", "--json"))).toMatchObject([
    { id: "command", failures: 0, waiting: 0 },
  ]);
  expect(await home.ok("notify", "status")).toContain("no call has failed");
  expect((await home.run("doctor")).out).toContain("the last calls arrived");
});

test("a home that calls nobody says how to be called", async () => {
  const home = new Home();
  await home.ok("up");
  expect(await home.ok("notify", "status")).toContain("nobody is called");
  for (const word of ["ls", "test"]) expect((await home.run("notify", word)).err).toContain("nobody is called");
});

test("agents are in the lane of their terminal, their parent or their flag; each lane and agent is muted, for a time too", async () => {
  const home = new Home();
  await home.ok("up");
  const started = ["--provider", "scripted", "--json", "--", ...ACTOR];
  const lane = async (...args: readonly string[]) => JSON.parse(await home.ok("agent", "new", ...args)).lane;
  expect(await lane("plain", ...started)).toBe("main");
  expect(await lane("owl", "--lane", "night", ...started)).toBe("night");
  expect(await lane("owlet", "--parent", "owl", ...started)).toBe("night");
  expect((await home.run("agent", "new", "bad", "--lane", "a b", ...started)).err).toContain(
    "is not a valid name for a lane",
  );
  const words = [...MAIN, "agent", "new", "typed", ...started].map((word) => `'${word}'`).join(" ");
  await home.ok("new", "shell", "-d", "--lane", "deep", "--", "/bin/sh", "-c", `${words}; exec cat`);
  const typed = async () => (await home.json("agent", "tree")).find(({ name }: { name: string }) => name === "typed");
  expect((await until("the terminal has started an agent", typed, typed)).lane).toBe("deep");

  expect((await home.run("notify", "mute")).err).toContain("Name one agent, a lane, or everything.");
  expect(await home.run("notify", "mute", "owl", "--all")).toMatchObject({ code: 2 });
  expect((await home.run("notify", "mute", "nobody")).code).toBe(4);
  expect((await home.run("notify", "mute", "--all", "--for", "40d")).code).toBe(2);
  expect((await home.run("notify", "mute", "plain")).err).toBe("holdfast: muted: plain\n");
  await home.ok("notify", "mute", "--lane", "night");
  const mutes = JSON.parse(await home.ok("notify", "mute", "--all", "--for", "2h", "--json"));
  expect(mutes).toMatchObject([
    { of: "agent", name: "plain", until: null },
    { of: "lane", key: "night", name: "night", until: null },
    { of: "all", key: "" },
  ]);
  expect(Date.parse(mutes[2].until) - Date.now()).toBeWithin(7_000_000, 7_200_001);
  process.kill((await home.json("status")).daemon.pid, "SIGKILL"); // What was acknowledged is on disk.
  expect(await home.json("notify", "status")).toMatchObject({ muted: [mutes[0].key], mutes });
  expect(await home.ok("notify", "status")).toMatch(/muted +plain, the lane night, everything until 20/);
  for (const args of [["plain"], ["--lane", "night"]]) await home.ok("notify", "unmute", ...args);
  expect((await home.run("notify", "unmute", "--all")).err).toBe("holdfast: nothing is muted\n");
});
