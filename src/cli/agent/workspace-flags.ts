// The flags that say where an agent works. They are loaded at every start (app.ts).
import { flag, text } from "../flags.ts";

export type WorkspaceFlags = {
  readonly worktree?: boolean;
  readonly sandbox?: boolean;
  readonly bindRo?: readonly string[];
  readonly bind?: readonly string[];
  readonly network?: boolean;
  readonly noNetwork?: boolean;
  readonly egress?: readonly string[];
};

const many = (placeholder: string, brief: string) =>
  ({ kind: "parsed", parse: text, optional: true, variadic: true, placeholder, brief }) as const;

export const workspaceFlags = {
  worktree: flag(
    "Work in a separate git worktree on its own branch (holdfast/NAME-ID), which is kept after the agent ends",
  ),
  sandbox: {
    kind: "boolean",
    optional: true,
    brief: [
      "Run in a sandbox (bubblewrap) that sees only the system, its directory (of a repository: a clone)",
      "and what you bind [default = agents.sandbox]",
    ].join(" "),
  },
  bindRo: many("path", "A path that its sandbox may also read, but not change. May be repeated"),
  bind: many("path", "A path that its sandbox may also change. May be repeated"),
  egress: many("host,…", "Hosts that its sandbox may also reach (github.com, *.example.org, 10.0.0.5:5432)"),
  network: flag("A sandbox with the whole network, and this machine's loopback"),
  noNetwork: flag("A sandbox that reaches nothing, not even its provider; its Holdfast tools still work"),
} as const;
