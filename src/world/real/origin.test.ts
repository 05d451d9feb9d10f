import { afterEach, expect, test } from "bun:test";
import { realpathSync } from "node:fs";
import { until } from "../../../tests/until.ts";
import { origin } from "./origin.ts";

const children: { kill(): void }[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

const SLEEP = realpathSync(Bun.which("sleep", { PATH: "/usr/bin:/bin" }) ?? "");

/** The pid of a program that has begun. */
async function begun(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = Bun.spawn([...argv], { env: { ...env }, stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const runs = () => origin(child.pid)?.executable;
  await until("it runs", () => runs() === SLEEP, runs);
  return child.pid;
}

test("a process is described by the file it runs and by its own PATH, of which only full paths count", async () => {
  const pid = await begun(["/bin/sh", "-c", "exec sleep 1000"], { PATH: ".:relative:/usr/bin:/bin" });
  const found = origin(pid);
  expect([found?.elsewhere, found?.find("sleep"), found?.find("no-such"), found?.real(SLEEP)]).toEqual([
    ...[false, SLEEP, undefined, SLEEP],
  ]);
  expect(found?.find("../sbin")).toBeUndefined();
  expect(found?.real("/no/such")).toBeUndefined();
});

test("a name that a process gives itself does not change what it runs", async () => {
  const pid = await begun(["/bin/bash", "-c", "exec -a vim sleep 1000"], { PATH: "/usr/bin:/bin" });
  expect(origin(pid)?.executable).toBe(SLEEP);
});

test("a process in namespaces of its own is elsewhere (needs unshare)", async () => {
  const pid = await begun(["/usr/bin/unshare", "--user", "--map-root-user", "sleep", "1000"], {
    PATH: "/usr/bin:/bin",
  });
  expect(origin(pid)?.elsewhere).toBe(true);
});

test("there is no origin of a process that is gone", () => {
  expect(origin(2 ** 22 + 1)).toBeUndefined();
});
