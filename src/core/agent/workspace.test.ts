// The command line of an agent's program in a worktree and in a sandbox, and what its end says about them.
import { expect, test } from "bun:test";
import { bwrapWords, inherited, placed, type Sandbox, whyNotBegun } from "./workspace.ts";

const WORKTREE = { path: "/h/worktrees/r-1", repository: "/r o", branch: "holdfast/a-1" };
const CLONE = { path: "/h/clones/r-1", repository: "/r o", git: "/r o", branch: "holdfast/a-1" };
const SANDBOX: Sandbox = { read: ["/ro"], write: ["/r o", "/w"], git: null, network: false };
const TOOLS = {
  home: "/h",
  programs: ["/bun", "/src"],
  door: { from: "/h/run/door", at: "/h/run" },
  token: "/h/agents/1/token",
  state: null,
  proxy: null,
  links: [{ at: "/home/me/bin/claude", to: "/home/me/claude/cli.js" }],
};
const START = { argv: ["claude", "--flag", "two words; $(no)"], cwd: "/r o" };

function follows(words: readonly string[], ...some: readonly string[]): number {
  return words.findIndex((_, at) => some.every((word, by) => words[at + by] === word));
}

test("without a workspace the command is unchanged", () => {
  expect(placed(null, START, TOOLS)).toBe(START);
  expect(placed({ worktree: null, sandbox: null }, START, TOOLS)).toEqual(START);
});

test("a sandbox shows the system, the given paths and what tools need; later arguments win over earlier ones", () => {
  const { argv, cwd } = placed({ worktree: null, sandbox: SANDBOX }, START, TOOLS);
  expect(cwd).toBe("/h"); // Not where the agent can exchange what is there.
  expect(argv[0]).toBe("bwrap");
  expect(argv.slice(argv.indexOf("--"))).toEqual(["--", ...START.argv]);
  for (const word of ["--die-with-parent", "--unshare-pid", "--unshare-net"]) expect(argv).toContain(word);
  expect(follows(argv, "--cap-drop", "ALL")).toBeGreaterThan(0);
  expect(follows(argv, "--symlink", "/home/me/claude/cli.js", "/home/me/bin/claude")).toBeGreaterThan(0);
  const tmp = follows(argv, "--tmpfs", "/tmp");
  const ro = follows(argv, "--ro-bind", "/ro", "/ro");
  const write = follows(argv, "--bind", "/r o", "/r o");
  expect([tmp, ro, write].every((at) => at > 0)).toBe(true);
  expect([tmp, ro, write]).toEqual([tmp, ro, write].toSorted((a, b) => a - b));
  expect(follows(argv, "--ro-bind", "/h/run/door", "/h/run")).toBeGreaterThan(write);
  expect(follows(argv, "--chdir", "/r o")).toBeGreaterThan(0);
});

test("a path above our home does not show the home, but given paths inside it are shown", () => {
  const words = bwrapWords({ read: [], write: ["/", "/h/worktrees/r-1"], git: null, network: true }, "/", TOOLS);
  const hidden = words.lastIndexOf("--tmpfs");
  expect(words[hidden + 1]).toBe("/h");
  expect(follows(words, "--bind", "/", "/")).toBeLessThan(hidden);
  const shown = words.slice(hidden + 2);
  expect(follows(shown, "--bind", "/h/worktrees/r-1", "/h/worktrees/r-1")).toBe(0);
  expect(follows(shown, "--ro-bind", "/h/run/door", "/h/run")).toBe(3);
});

test("with a network there is one", () => {
  expect(bwrapWords({ ...SANDBOX, network: true }, "/w", TOOLS)).not.toContain("--unshare-net");
});

test("a worktree is created first, from the repository, and every value stays one argument", () => {
  const { argv, cwd } = placed({ worktree: WORKTREE, sandbox: null }, { ...START, cwd: "/h/worktrees/r-1/sub" }, TOOLS);
  expect(cwd).toBe("/r o");
  const at = argv.indexOf("claude");
  expect(argv.slice(at - 4, at)).toEqual(["/r o", "/h/worktrees/r-1", "holdfast/a-1", "/h/worktrees/r-1/sub"]);
  expect(argv[2]).not.toContain("/r o");
});

test("a clone is made first, outside of it, and every value stays one argument", () => {
  const sandbox = { ...SANDBOX, write: [CLONE.path] };
  const workspace = { worktree: null, sandbox, clone: CLONE };
  const { argv, cwd } = placed(workspace, { ...START, cwd: `${CLONE.path}/sub` }, TOOLS);
  expect(cwd).toBe("/h");
  const at = argv.indexOf("bwrap");
  expect(argv.slice(at - 6, at - 1)).toEqual([CLONE.path, "/r o", "/r o", "holdfast/a-1", "/sub"]);
  expect([argv[2], argv[at - 1]].join()).not.toContain("/r o");
});

test("WS4 a sandbox of an older version, which could change the user's repository, is not started", () => {
  const sandbox = { ...SANDBOX, git: "/r o/.git" };
  for (const worktree of [null, WORKTREE]) {
    const { argv } = placed({ worktree, sandbox }, START, TOOLS);
    const { exitCode, stderr } = Bun.spawnSync([...argv]);
    expect(exitCode).toBe(125);
    expect(whyNotBegun({ worktree, sandbox }, exitCode, stderr.toString())).toContain("lets it change /r o/.git");
  }
});

test("children get the sandbox, and the worktree stays with the parent", () => {
  expect(inherited(null)).toBeNull();
  expect(inherited({ worktree: WORKTREE, sandbox: null })).toBeNull();
  expect(inherited({ worktree: WORKTREE, sandbox: SANDBOX })).toEqual({ worktree: null, sandbox: SANDBOX });
});

test("only a failure of the setup means that the program never started", () => {
  const both = { worktree: WORKTREE, sandbox: SANDBOX };
  expect(whyNotBegun(null, 125, "x")).toBeUndefined();
  expect(whyNotBegun(both, null, "x")).toBeUndefined();
  expect(whyNotBegun(both, 1, "its own trouble")).toBeUndefined();
  expect(whyNotBegun({ ...both, sandbox: null }, 1, "bwrap: x")).toBeUndefined();
  expect(whyNotBegun(both, 125, "The worktree was not made: x\n")).toBe("The worktree was not made: x");
  expect(whyNotBegun(both, 1, "bwrap: Can't find source path /x")).toBe("bwrap: Can't find source path /x");
  expect(whyNotBegun(both, 1, "bwrap: No permissions to create a new namespace")).toContain("user namespaces");
  expect(whyNotBegun(both, 1, "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted")).toContain("--network");
  expect(whyNotBegun(both, 1, "bwrap: execvp /x/claude: No such file or directory")).toContain("--bind-ro");
});
