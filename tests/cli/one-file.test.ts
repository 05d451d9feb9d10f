// The daemon runs from the single file bundled from its sources, however it is started; once a source changes, from the
// sources.
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { buildPrograms } from "../../scripts/build.ts";
import { VERSION } from "../../src/wire/version.ts";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import { change, installation, removeInstallations } from "./installation.ts";
import { endAll, Home } from "./terminal-home.ts";

afterEach(async () => {
  await endAll();
  removeInstallations();
});

test("a killed daemon comes back from its bundle, and from the sources after a source was changed", async () => {
  const home = new Home();
  const root = installation();
  await until(
    "what is made next is younger than the sources",
    () => touched(root) > statSync(join(root, "tsconfig.json")).ctimeMs,
    () => touched(root),
  );
  const before = join(root, ".built/build-before"); // Of a daemon that still runs; the link to it is gone (BU3).
  mkdirSync(before, { recursive: true });
  await buildPrograms(root);
  expect(existsSync(before)).toBe(true); // BC2: it reads yaml.js when it first needs it.
  const ofDaemon = readdirSync(join(root, ".built/now/daemon")).sort(); // Few starts need yaml: it is beside the rest.
  expect(ofDaemon).toEqual(["main.js", "main.js.jsc", "sources.json", "yaml.js", "yaml.js.jsc"]);
  const file = join(root, ".built/now/daemon/main.js");
  change(file, `"${VERSION}"`, '"8.8.8"'); // So that its status identifies it.
  rmSync(`${file}.jsc`);
  // Runs without coverage, which would need the sources.
  const up = [BUN, "--no-env-file", "--no-install", join(root, "src/cli/main.ts"), "up"];
  expect(await Bun.spawn(up, { env: home.env, stdio: ["ignore", "ignore", "inherit"] }).exited).toBe(0);
  const first = await home.status();
  expect(first.version).toBe("8.8.8");
  await home.ok("new", "one", "--", "sleep", "1000");
  const { pid } = await home.listed("one");

  const second = await killed(home, first.daemon.pid);
  expect(second.version).toBe("8.8.8");
  touched(join(root, "src/daemon/daemon.ts"));
  const third = await killed(home, second.daemon.pid);
  expect(third.version).toBe(VERSION);
  expect((await home.listed("one")).pid).toBe(pid);
});

/** The modification time by the file system's clock. */
function touched(path: string): number {
  const now = new Date();
  utimesSync(path, now, now);
  return statSync(path).ctimeMs;
}

type Status = {
  readonly version: string;
  readonly daemon: { readonly pid: number };
  readonly recovery: { readonly stage: string };
};

/** The status that its successor reports. */
async function killed(home: Home, pid: number): Promise<Status> {
  process.kill(pid, "SIGKILL");
  let status: Status = await home.status();
  await until(
    "the next one answers",
    async () => {
      status = await home.status();
      return status.recovery?.stage === "LIVE" && status.daemon.pid !== pid;
    },
    () => status,
  );
  return status;
}
