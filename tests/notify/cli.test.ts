// `holdfast notify`, and what `doctor` says of calls that failed.
import { afterEach, expect, test } from "bun:test";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";

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
