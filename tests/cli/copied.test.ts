// A home that was copied beside its original: it is recognised, and on request becomes a home of its own, so that both
// work. A home that was moved, or whose original is gone, goes on as before.
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { rejects } from "./expect.ts";
import { endAll, Home } from "./terminal-home.ts";

afterAll(endAll, 180_000);

function copyOf(home: Home): Home {
  const copy = new Home();
  const { exitCode, stderr } = Bun.spawnSync(["cp", "-a", `${home.path}/.`, copy.path]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return copy;
}

const text = (home: Home, name: string) => readFileSync(join(home.path, name), "utf8");
const identity = (home: Home) => JSON.parse(text(home, "recovery/home.json"));

test("a copy beside the original is refused with the two choices; --as-copy makes it a home of its own, and both work", async () => {
  const home = new Home();
  await home.ok("new", "-d", "one", "--", "cat");
  await home.ok("agent", "new", "a", "--provider", "scripted", "--", "cat");
  await home.ok("agent", "send", "a", "work"); // It works for ever.
  const { pid } = await home.listed("one");
  const agentOf = async (place: Home) => (await place.json("agent", "inspect", "a")).pid;
  const agent = await until(
    "the agent has a process",
    async () => (await agentOf(home)) ?? undefined,
    () => home.run("agent", "tree"),
  );
  const copy = copyOf(home);

  rejects(await copy.run("up"), 1, `${copy.path} is a copy of ${home.path}, which is still there`);
  const { err } = await copy.run("new", "-d", "two", "--", "cat");
  expect(err).toContain(`holdfast up --as-copy --home ${copy.path}`);
  expect(err).toContain(`holdfast down --home ${home.path}`);
  const doctor = await copy.run("doctor", "--json");
  expect(doctor.code).toBe(1);
  const named = JSON.parse(doctor.out).checks.find(({ name }: { name: string }) => name === "home");
  expect([named.status, named.what]).toEqual(["problem", `${copy.path} is a copy of ${home.path}`]);

  const before = text(copy, "run/token");
  await copy.ok("up", "--as-copy");
  const restored = await copy.listed("one"); // As after a crash of the machine: with a program of its own.
  expect(restored.state).toBe("running");
  expect(restored.pid).not.toBe(pid);
  expect(await agentOf(copy)).not.toBe(agent);
  expect(text(copy, "run/token")).not.toBe(before);
  expect(text(home, "run/token")).toBe(before);
  expect(identity(copy).id).not.toBe(identity(home).id);
  await copy.ok("new", "-d", "two", "--", "cat");
  await home.ok("new", "-d", "three", "--", "cat");
  expect((await home.listed("one")).pid).toBe(pid);
  rejects(await copy.run("up", "--as-copy"), 75, `Holdfast is running on ${copy.path}.`);
  await copy.ok("down");
  await copy.ok("up"); // It is known now.
  expect((await copy.listed("one")).pid).toBe(restored.pid);
  await copy.run("down", "--kill");
  expect(await home.listed("one")).toMatchObject({ state: "running", pid });
  expect(await agentOf(home)).toBe(agent);
});

test("a moved home keeps its identity and works; so does a copy whose original is gone", async () => {
  const home = new Home();
  await home.ok("up");
  await home.ok("down");
  const { id } = identity(home);
  const [copy, moved] = [copyOf(home), new Home()];
  rmSync(moved.path, { recursive: true });
  renameSync(home.path, moved.path);
  await moved.ok("up");
  expect(identity(moved)).toMatchObject({ id, path: moved.path });
  await moved.ok("down");
  expect(existsSync(home.path)).toBe(false);
  await copy.ok("up"); // Nothing is left where the original was.
  expect(identity(copy)).toMatchObject({ id, path: copy.path });
});
