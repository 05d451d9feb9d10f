// The flags of `agent new` about its workspace, and how the workspace is shown.
import { expect, test } from "bun:test";
import { wantedWorkspace, workspaceLines } from "./workspace.ts";

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
});

test("sandbox flags are refused without --sandbox", () => {
  for (const flags of [{ bind: ["b"] }, { bindRo: ["a"] }, { noNetwork: true }])
    expect(wantedWorkspace(flags, absolute)).toMatchObject({ ok: false, error: { code: "usage" } });
});

test("a workspace is shown in words", () => {
  expect(workspaceLines(null)).toEqual([
    ["worktree", null],
    ["sandbox", null],
  ]);
  const worktree = { path: "/h/w", repository: "/r", branch: "holdfast/a" };
  const sandbox = { read: ["/ro"], write: ["/h/w", "/w"], git: null, network: false };
  expect(workspaceLines({ worktree, sandbox })).toEqual([
    ["worktree", "/h/w (branch holdfast/a)"],
    ["sandbox", "writes /h/w, /w; reads /ro; no network"],
  ]);
});
