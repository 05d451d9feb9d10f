// Programs that are installed where no sandbox looks: each starts in one, and nothing beside it is shown.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { TRIAL } from "../../src/core/agent/bwrap.ts";
import { bwrapWords } from "../../src/core/agent/workspace.ts";
import { programPlaces } from "../../src/daemon/agent/program-places.ts";
import { realDisk } from "../../src/world/real/disk.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-programs-")));
afterAll(() => rmSync(scratch, { recursive: true }));
const works = Bun.which("bwrap") !== null && Bun.spawnSync([...TRIAL]).exitCode === 0;
const SYSTEM_PATH = "/usr/bin:/bin";

let user = "";
beforeEach(() => {
  user = mkdtempSync(join(scratch, "user-"));
});

function put(name: string, text: string, mode = 0o755): string {
  const path = join(user, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
  return path;
}

function link(name: string, to: string): void {
  mkdirSync(dirname(join(user, name)), { recursive: true });
  symlinkSync(to, join(user, name));
}

/** Something to run scripts with that is not part of the system. */
function interpreter(name: string): void {
  mkdirSync(dirname(join(user, name)), { recursive: true });
  copyFileSync("/bin/sh", join(user, name));
}

function placesOf(program: string, directories: readonly string[], write: readonly string[] = []) {
  const path = [...directories.map((name) => join(user, name)), SYSTEM_PATH].join(":");
  return { path, ...programPlaces(realDisk(), { read: [], write }, { program, path }) };
}

/** Runs it in a sandbox, and returns what it says. */
function run(program: string, directories: readonly string[]): string {
  const { path, programs, links } = placesOf(program, directories);
  for (const name of ["h/run/door", "w"]) mkdirSync(join(user, name), { recursive: true });
  put("h/token", "t");
  const door = { from: join(user, "h/run/door"), at: join(user, "h/run") };
  const token = join(user, "h/token");
  const tools = { home: join(user, "h"), programs, links, door, token, state: null, proxy: null };
  const sandbox = { read: [], write: [join(user, "w")], git: null, network: true };
  const argv = [...bwrapWords(sandbox, join(user, "w"), tools), "--", program];
  const done = Bun.spawnSync(argv, { env: { PATH: path, KEY: join(user, ".ssh/key") } });
  return `${done.stdout}${done.stderr}`;
}

const HELLO = 'echo hello from $(basename "$0"); cat "$KEY" 2>&- || echo no key\n';

const INSTALLED = [
  [
    "npm in the user's home, with a Node of nvm's",
    ["nvm/v22/bin"],
    () => {
      interpreter("nvm/v22/bin/node");
      put("nvm/v22/lib/node_modules/@a/claude/part.sh", HELLO);
      put(
        "nvm/v22/lib/node_modules/@a/claude/cli.js",
        '#!/usr/bin/env node\n. "$(dirname "$(readlink -f "$0")")/part.sh"\n',
      );
      link("nvm/v22/bin/claude", "../lib/node_modules/@a/claude/cli.js");
    },
  ],
  [
    "npm with a prefix, and a Node elsewhere",
    [".npm/bin", "node/bin"],
    () => {
      interpreter("node/bin/node");
      put(".npm/lib/node_modules/claude/cli.js", `#!/usr/bin/env node\n${HELLO}`);
      link(".npm/bin/claude", "../lib/node_modules/claude/cli.js");
    },
  ],
  [
    "node_modules of a project",
    ["project/node_modules/.bin"],
    () => {
      put("project/node_modules/claude/cli.js", `#!/bin/sh\n${HELLO}`);
      link("project/node_modules/.bin/claude", "../claude/cli.js");
    },
  ],
  [
    "one file behind a link, as its own installer leaves it",
    [".local/bin"],
    () => {
      put(".local/share/claude/versions/2.1", `#!/bin/sh\n${HELLO}`);
      link(".local/bin/claude", join(user, ".local/share/claude/versions/2.1"));
    },
  ],
  [
    "Homebrew, with what its program needs elsewhere in it",
    ["brew/bin"],
    () => {
      put("brew/opt/part.sh", HELLO);
      put("brew/Cellar/claude/2.1/bin/claude", `#!/bin/sh\n. ${join(user, "brew/opt/part.sh")}\n`);
      link("brew/bin/claude", "../Cellar/claude/2.1/bin/claude");
    },
  ],
  [
    "an environment of Python",
    [".local/bin"],
    () => {
      put("venvs/claude/pyvenv.cfg", "");
      interpreter("venvs/claude/bin/python");
      put("venvs/claude/lib/part.sh", HELLO);
      put(
        "venvs/claude/bin/claude",
        `#!${join(user, "venvs/claude/bin/python")}\n. "${join(user, "venvs/claude/lib/part.sh")}"\n`,
      );
      link(".local/bin/claude", join(user, "venvs/claude/bin/claude"));
    },
  ],
] as const;

for (const [name, directories, install] of INSTALLED)
  test.skipIf(!works)(`${name}: it starts, and sees no key (needs bwrap)`, () => {
    put(".ssh/key", "the key\n", 0o600);
    install();
    expect(run("claude", directories)).toMatch(/^hello from .*\nno key\n$/);
  });

test("PP2 what the agent can change leads nowhere", () => {
  put(".ssh/key", "the key\n", 0o700);
  link("w/bin/claude", join(user, ".ssh/key"));
  put("w/bin/script", `#!${join(user, ".ssh/key")}\n`);
  const nothing = { programs: [], links: [] };
  expect(placesOf("claude", ["w/bin"], [join(user, "w")])).toMatchObject(nothing);
  expect(placesOf("script", ["w/bin"], [join(user, "w")])).toMatchObject(nothing);
  expect(placesOf(join(user, "w/bin/script"), [], [join(user, "w")])).toMatchObject(nothing);
  link("bin/claude", join(user, "w/bin/script"));
  expect(placesOf("claude", ["bin"], [join(user, "w")])).toMatchObject(nothing);
});

test("a program of the system, or one that is missing, needs nothing more", () => {
  const nothing = { programs: [], links: [] };
  for (const program of ["sh", "/bin/sh", "no-such-program", "./claude", join(user, "none")])
    expect(placesOf(program, [])).toMatchObject(nothing);
});
