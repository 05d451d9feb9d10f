// The flags of `agent new` about its workspace, and how the workspace is shown.
import { expect, test } from "bun:test";
import { type WorkspaceFlags, wantedWorkspace, workspaceLines, workspaceNotes } from "./workspace.ts";

const absolute = (path: string) => `/here/${path}`;

test("without flags nothing is requested; each flag requests its own part", () => {
  expect(wantedWorkspace({}, absolute)).toEqual({ ok: true, value: {} });
  expect(wantedWorkspace({ worktree: true }, absolute)).toEqual({
    ok: true,
    value: { workspace: { worktree: true, sandbox: null } },
  });
  expect(wantedWorkspace({ sandbox: true, bindRo: ["a"], bind: ["b"], noNetwork: true }, absolute)).toEqual({
    ok: true,
    value: { workspace: { worktree: false, sandbox: { read: ["/here/a"], write: ["/here/b"], network: false } } },
  });
  expect(wantedWorkspace({ sandbox: false }, absolute)).toEqual({
    ok: true,
    value: { workspace: { worktree: false, sandbox: null, unsandboxed: true } },
  });
});

test("the network of a sandbox is a proxy, with more hosts if they are named, or all of it, or none", () => {
  const reached = (flags: WorkspaceFlags) => {
    const wanted = wantedWorkspace({ sandbox: true, ...flags }, absolute);
    return wanted.ok ? wanted.value.workspace?.sandbox : wanted.error.code;
  };
  const none = { read: [], write: [] };
  expect(reached({})).toEqual({ ...none, network: false, egress: [] });
  expect(reached({ egress: ["a.org, b.org:80", "c.org"] })).toEqual({
    ...{ ...none, network: false, egress: ["a.org", "b.org:80", "c.org"] },
  });
  expect(reached({ network: true })).toEqual({ ...none, network: true });
  expect(reached({ noNetwork: true })).toEqual({ ...none, network: false });
  expect(reached({ network: true, egress: ["a.org"] })).toBe("usage");
  expect(reached({ egress: ["not a host"] })).toBe("bad-host");
});

test("flags about a sandbox ask for one, and are refused with --no-sandbox", () => {
  for (const flags of [{ bind: ["b"] }, { bindRo: ["a"] }, { noNetwork: true }, { network: true }, { egress: [] }]) {
    expect(wantedWorkspace(flags, absolute)).toEqual(wantedWorkspace({ ...flags, sandbox: true }, absolute));
    expect(wantedWorkspace({ ...flags, sandbox: false }, absolute)).toMatchObject({ error: { code: "usage" } });
  }
});

test("a workspace is shown in words", () => {
  expect(workspaceLines(null)).toEqual([
    ["worktree", null],
    ["clone", null],
    ["sandbox", null],
  ]);
  const worktree = { path: "/h/w", repository: "/r", branch: "holdfast/a" };
  const sandbox = { read: ["/ro"], write: ["/h/w", "/w"], git: null, network: false };
  expect(workspaceLines({ worktree, sandbox })).toEqual([
    ["worktree", "/h/w (branch holdfast/a)"],
    ["clone", null],
    ["sandbox", "writes /h/w, /w; reads /ro; no network"],
  ]);
  const [, , [, shown] = []] = workspaceLines({ worktree, sandbox: { ...sandbox, egress: ["a.org"] } });
  expect(shown).toBe("writes /h/w, /w; reads /ro; reaches its provider, a.org");
});

test("a new agent's clone, and a sandbox that it lacks, are told with the command that follows", () => {
  const sandbox = { read: [], write: ["/h/c"], git: null, network: true };
  const clone = { path: "/h/c", repository: "/r", git: "/r", branch: "holdfast/a" };
  const cloned = { worktree: null, sandbox, clone };
  expect(workspaceLines(cloned)[1]).toEqual(["clone", "/h/c (branch holdfast/a), of /r"]);
  expect(workspaceNotes({ name: "a", workspace: cloned }).join()).toContain("holdfast agent fetch a");
  const lacking = { worktree: null, sandbox: null, unsandboxed: "no bwrap" };
  expect(workspaceLines(lacking)[2]).toEqual(["sandbox", "none: no bwrap"]);
  expect(workspaceNotes({ name: "a", workspace: lacking })).toHaveLength(1);
  expect(workspaceNotes({ name: "a", workspace: null })).toEqual([]);
});
