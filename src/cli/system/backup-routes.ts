// The commands on backups: their names, flags and arguments.
import { buildCommand, buildRouteMap } from "@stricli/core";
import type { Context } from "../command-world.ts";
import { described, flag, home, proposeFiles, text, textFlag } from "../flags.ts";
import type { BackupFlags, BackupReadFlags } from "./backup.ts";

const file = { parse: text, placeholder: "file", brief: "A backup", proposeCompletions: proposeFiles } as const;
const base = {
  kind: "parsed",
  parse: text,
  optional: true,
  variadic: true,
  placeholder: "file",
  brief: "A backup that it builds on, if that is not beside it under its name; may be repeated",
  proposeCompletions: proposeFiles,
} as const;
const passphraseFile = textFlag(
  "file",
  "Read the passphrase from the first line of this file; - is the standard input",
);
const FACTS = "file, home, id, seq, files, bytes, own, size, since, encrypted";

const write = buildCommand<BackupFlags, [file: string], Context>({
  loader: async () => (await import("./backup.ts")).backupCommand,
  parameters: {
    flags: {
      home,
      since: textFlag("file", "Only what this older backup does not have; both are needed to restore it"),
      base,
      encrypt: flag("Encrypt it with a passphrase, which is asked for"),
      passphraseFile,
      force: flag("Replace the file if it exists"),
      json: flag(`One JSON object {${FACTS}, lost}`),
    },
    positional: { kind: "tuple", parameters: [{ ...file, brief: "The file to write" }] },
  },
  docs: described(
    "Write one consistent state of the home to a file, while everything runs",
    "It has everything that was acknowledged up to a position of the log, the checkpoints, what programs printed, and",
    "all secrets and keys of the home, so keep it as safe as the home, or encrypt it. Not in it are clones and",
    "worktrees. It is read back and verified before it counts. Terminals, agents and workflows go on meanwhile.",
    "While Holdfast is down, it starts nothing.",
  ),
});

const verify = buildCommand<BackupReadFlags, [file: string], Context>({
  loader: async () => (await import("./backup-verify.ts")).backupVerifyCommand,
  parameters: {
    flags: { home, base, passphraseFile, json: flag(`One JSON object {${FACTS}, at, version}`) },
    positional: { kind: "tuple", parameters: [file] },
  },
  docs: { brief: "Read a backup, and all that it builds on, and compare every hash" },
});

const restore = buildCommand<BackupReadFlags, [file: string, dir: string], Context>({
  loader: async () => (await import("./backup-restore.ts")).backupRestoreCommand,
  parameters: {
    flags: { home, base, passphraseFile, json: flag("One JSON object {home, seq, files, bytes}") },
    positional: {
      kind: "tuple",
      parameters: [
        file,
        {
          parse: text,
          placeholder: "dir",
          brief: "The new home: empty, or not there yet",
          proposeCompletions: proposeFiles,
        },
      ],
    },
  },
  docs: described(
    "Make a home of a backup; starts nothing",
    "The home is a copy, with an identity of its own, and starts in safe mode: its agents and workflows wait until",
    "`holdfast safe-mode exit`, because the original may have gone on. If the original is gone, start it with",
    "`holdfast up --replace-original`: then everything continues, as after a crash of the machine.",
  ),
});

export const backup = buildRouteMap<"write" | "verify" | "restore", Context>({
  routes: { write, verify, restore },
  defaultCommand: "write",
  docs: { brief: "Backups of the home: write, verify, restore" },
});
