// What a machine crash leaves of secrets, and of the checkpoint before it.
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { until } from "../until.ts";
import { type DaemonHome, daemonHomes } from "./home.ts";
import { boot, powerCut } from "./power-cut.ts";

const newHome = daemonHomes();
const SHELL = ["bash", "--norc", "--noprofile"];

/** Prints its pid and its arguments, and waits. */
function program(home: DaemonHome, name: string): string {
  mkdirSync(home.file("bin"), { recursive: true });
  writeFileSync(home.file(`bin/${name}`), `#!/bin/sh\necho "$0 $*" >> ${home.file(`${name}-ran`)}\nexec sleep 1000\n`);
  chmodSync(home.file(`bin/${name}`), 0o755);
  return home.file(`bin/${name}`);
}

test("secrets reach the program but no disk; after a crash they are unset, and the report names them", async () => {
  const home = newHome();
  const tail = program(home, "tail");
  writeFileSync(tail, `#!/bin/sh\necho "key=$MY_KEY plain=$PLAIN" >> ${home.file("tail-ran")}\nexec sleep 1000\n`);
  await home.live(boot(1));
  const env = { PATH: "/usr/bin:/bin", MY_KEY: "hunter2", PLAIN: "yes" };
  const { id } = await home.must("terminal.new", { ...home.wish("t", [tail, "-f", "x"]), env });
  await home.is(id, "running");
  await until(
    "it said it",
    () => home.text("tail-ran") === "key=hunter2 plain=yes\n",
    () => home.text("tail-ran"),
  );
  const leaks = [...home.files()].filter(([, bytes]) => bytes.includes("hunter2"));
  expect(leaks.map(([path]) => path)).toEqual(["tail-ran"]);
  await powerCut(home);
  await home.live(boot(2));
  await until(
    "it said it again",
    () => home.text("tail-ran").endsWith("key= plain=yes\n"),
    () => home.text("tail-ran"),
  );
  expect((await home.report()).items[0]?.reason).toContain("not stored, and so unset: MY_KEY");
});

test("the last checkpoint before the crash is kept under a name of its own", async () => {
  const home = newHome();
  await home.live(boot(1));
  await home.is(await home.open("t", SHELL), "running");
  await powerCut(home);
  writeFileSync(home.file("recovery/checkpoint.json"), "good");
  await home.live(boot(2));
  const kept = readdirSync(home.file("recovery")).filter((name) => name.startsWith("checkpoint.before-"));
  expect(kept.map((name) => home.text(`recovery/${name}`))).toEqual(["good"]);
});
