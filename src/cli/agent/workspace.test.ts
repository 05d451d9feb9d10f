// The flags of `agent new` about its workspace, and how the workspace is shown.
import { expect, test } from "bun:test";
import type { Workspace } from "../../core/agent/workspace.ts";
import { wantedWorkspace, workspaceLines, workspaceNotes } from "./workspace.ts";
import type { WorkspaceFlags } from "./workspace-flags.ts";

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

const placed = (workspace: Workspace | null) => ({ workspace, provider: "claude", command: [] });

test("a workspace is shown in words", () => {
  expect(workspaceLines(placed(null))).toEqual([
    ["worktree", null],
    ["clone", null],
    ["sandbox", null],
  ]);
  const worktree = { path: "/h/w", repository: "/r", branch: "holdfast/a" };
  const sandbox = { read: ["/ro"], write: ["/h/w", "/w"], git: null, network: false };
  expect(workspaceLines(placed({ worktree, sandbox }))).toEqual([
    ["worktree", "/h/w (branch holdfast/a)"],
    ["clone", null],
    ["sandbox", "writes /h/w, /w; reads /ro; no network"],
  ]);
  const reached = (egress: string[], provider = "claude", command: string[] = []) => {
    const [, , [, shown] = []] = workspaceLines({
      workspace: { worktree, sandbox: { ...sandbox, egress } },
      provider,
      command,
    });
    return shown?.split("; ").at(-1);
  };
  expect(reached(["a.org"])).toBe("reaches its provider, a.org");
  expect(reached([])).toBe("reaches its provider");
  expect(reached([], "acp", ["/usr/bin/codex-acp"])).toBe("reaches its provider");
  expect(reached([], "scripted", ["sh", "agent.sh"])).toBe("no network");
  expect(reached(["a.org"], "scripted", ["sh"])).toBe("reaches a.org");
});

test("a new agent's clone, and a sandbox that it lacks, are told with the command that follows", () => {
  const sandbox = { read: [], write: ["/h/c"], git: null, network: true };
  const clone = { path: "/h/c", repository: "/r", git: "/r", branch: "holdfast/a" };
  const cloned = { worktree: null, sandbox, clone };
  expect(workspaceLines(placed(cloned))[1]).toEqual(["clone", "/h/c (branch holdfast/a), of /r"]);
  expect(workspaceNotes({ name: "a", workspace: cloned }).join()).toContain("holdfast agent fetch a");
  const lacking = { worktree: null, sandbox: null, unsandboxed: "no bwrap" };
  expect(workspaceLines(placed(lacking))[2]).toEqual(["sandbox", "none: no bwrap"]);
  expect(workspaceNotes({ name: "a", workspace: lacking })).toHaveLength(1);
  expect(workspaceNotes({ name: "a", workspace: null })).toEqual([]);
});
