// What each bundle of frequent commands is made with (scripts/build.ts).
// FQ1. What a bundle lacks is only loaded before the command has printed or changed anything: then it starts again as
//      the whole program. What may be loaded later is in it.
import type { Quick } from "../src/world/built.ts";

/**
 * `has`: of what the command tree and plain.ts load late. `lacks`: of what the commands load late. Both below src/cli/.
 */
export type Parts = { readonly has: readonly string[]; readonly lacks: readonly string[] };

/** Only command lines that are not plain (src/cli/plain.ts) need it. */
const PARSER = "understand.ts";
/** The database of a fleet (`--all`, and what is meant for other hosts). */
const FLEET = ["fleet/all.ts", "fleet/answer.ts", "fleet/there.ts"];
/** Without a daemon they read the disk, or start one. */
const DAEMONLESS = ["start.ts", "terminal/list-from-disk.ts", "disk-reader.ts"];
const ROUTES = [
  ...[
    "agent/permission-routes.ts",
    "agent/provider-routes.ts",
    "agent/routes.ts",
    "bench/routes.ts",
    "log/routes.ts",
    "notify/routes.ts",
  ],
  ...["relay/routes.ts", "system/drill-routes.ts", "system/page-routes.ts", "system/recovery-routes.ts"],
  ...["system/routes.ts", "terminal/routes.ts", "tmux/routes.ts", "top/routes.ts", "tunnel/routes.ts"],
  ...["system/backup-routes.ts", "upgrade/routes.ts"],
  "workflow/routes.ts",
];

export const PARTS: Readonly<Record<Quick, Parts>> = {
  "quick-ls": { has: ["terminal/ls.ts"], lacks: [PARSER, ...DAEMONLESS, ...FLEET] },
  "quick-send": {
    has: ["terminal/routes.ts", "terminal/send.ts", "terminal/tail.ts"],
    lacks: [...DAEMONLESS, ...FLEET],
  },
  "quick-attach": { has: ["terminal/attach.ts"], lacks: [PARSER, ...DAEMONLESS, ...FLEET, "terminal/create.ts"] },
  // A daemon may be gone when it has accepted the request, and another one is started.
  "quick-new": {
    has: ["terminal/new.ts", "terminal/attach.ts"],
    lacks: [PARSER, "terminal/list-from-disk.ts", ...FLEET],
  },
  "quick-status": { has: ["system/routes.ts", "system/status.ts"], lacks: [] },
  "quick-prompts": {
    has: ["agent/permission-routes.ts", "agent/prompts.ts", "agent/rules.ts"],
    lacks: ["disk-reader.ts", ...FLEET],
  },
  "quick-complete": { has: [...ROUTES, "system/complete.ts", "system/completions.ts"], lacks: DAEMONLESS },
};
