// What the launcher starts prints what the whole program prints, and no command runs from sources that have changed.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPrograms } from "../../scripts/build.ts";
import { PROGRAMS } from "../../src/world/built.ts";
import { BUN } from "../ours.ts";
import { until } from "../until.ts";
import { change, installation, removeInstallations } from "./installation.ts";

const scratch = mkdtempSync(join(tmpdir(), "hfq-"));
afterAll(() => {
  removeInstallations();
  rmSync(scratch, { recursive: true, force: true });
});

type Ended = { readonly code: number; readonly out: string; readonly err: string };

async function run(file: string, words: readonly string[]): Promise<Ended> {
  const env = { PATH: "/usr/bin:/bin", HOME: scratch, HOLDFAST_HOME: join(scratch, "none") };
  const argv = [BUN, "--config=/dev/null", "--no-env-file", "--no-install", file, ...words];
  const child = Bun.spawn(argv, { env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, out, err };
}

/** Built from sources that are older than the build. Nothing here starts another program, so these are short. */
async function built(): Promise<string> {
  const root = installation();
  const empty = Object.values(PROGRAMS).filter((path) => !path.startsWith("src/cli/"));
  for (const path of empty) writeFileSync(join(root, path), "");
  const newest = Math.max(...["tsconfig.json", ...empty].map((path) => statSync(join(root, path)).ctimeMs));
  const probe = join(scratch, "probe");
  const age = async () => {
    await Bun.write(probe, "");
    return statSync(probe).ctimeMs - newest;
  };
  await until("what is made next is younger than the sources", async () => (await age()) > 0, age);
  await buildPrograms(root);
  return root;
}

const LINES = [
  ...["--version", "ls --help", "ls --nope", "ls", "ls --home /dev/null", "status --json", "new one two", "attach x"],
  ...[
    "new -d --home /dev/null",
    "new --json a --home /dev/null",
    "ls --all",
    "prompts --all",
    "attach a/b",
    "send a/b x",
    "tail a/b",
  ],
  ...["answer a/b allow", "send", "answer x allow", "completions tcsh", "__complete -- agent se", "nonsense"],
];

test("each line prints the same from a small bundle and from the whole; an edit is seen by the next one", async () => {
  const root = await built();
  const [quick, whole] = [join(root, ".built/now/quick/main.js"), join(root, "src/cli/main.ts")];
  for (const line of LINES) {
    const words = line.split(" ");
    expect({ line, ...(await run(quick, words)) }).toEqual({ line, ...(await run(whole, words)) });
  }

  change(join(root, "src/cli/terminal/ls.ts"), "there are no terminals", "nowhere are terminals");
  expect((await run(quick, ["ls"])).err).toContain("nowhere are terminals");
  expect(statSync(join(root, ".built/outdated")).isFile()).toBe(true); // The launcher builds again.
  await buildPrograms(root);
  expect((await run(quick, ["ls"])).err).toContain("nowhere are terminals");
  expect(existsSync(join(root, ".built/outdated"))).toBe(false);
  change(join(root, "src/cli/frequent.ts"), "starts in half the time", "starts in a third of the time");
  expect((await run(quick, ["ls"])).err).toContain("nowhere are terminals"); // What starts it has changed.
  expect(existsSync(join(root, ".built/outdated"))).toBe(true);
  const then = new Date(0);
  utimesSync(join(root, "src/wire/version.ts"), then, then);
  change(join(root, "src/wire/version.ts"), 'VERSION = "0', 'VERSION = "8');
  expect((await run(quick, ["--version"])).out).toStartWith("8");
}, 180_000);
