// `holdfast fleet key rotate`: a new key seals from the next start on, and the old ones still open.
// KR1. The file is replaced whole, for this user alone, and has every key that it had.
import { ok, type Result, refused } from "../../base/result.ts";
import { visibleLine } from "../../base/visible.ts";
import { MAX_KEYS, readKeys } from "../../fleet/key-file.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { whyNotAllowed } from "../../home/callers.ts";
import { readWhole } from "../../log/file/file.ts";
import { EXIT, type Exit } from "../command-world.ts";
import { type DaemonCommandWorld, withDaemonWorld } from "../daemon-command-world.ts";
import type { DataFlags } from "../flags.ts";
import { meantHome } from "../home.ts";
import { printJson } from "../print.ts";
import { writePrivate } from "./own-table.ts";
import { configured } from "./reach.ts";

async function rotate(world: DaemonCommandWorld, flags: DataFlags): Promise<Exit> {
  const path = keyFile(world, flags);
  if (!path.ok) return path;
  const keys = readKeys(world.disk, path.value);
  if (!keys.ok) return keys;
  if (keys.value.length >= MAX_KEYS)
    return refused(
      "fleet-key",
      `${path.value} has ${MAX_KEYS} keys already.`,
      "Remove one that seals nothing any more.",
    );
  const old = new TextDecoder().decode(readWhole(world.disk, path.value));
  await writePrivate(world.disk, path.value, `${FleetSeal.newFile(world.random)}${old}`); // KR1
  const shown = { key: path.value, keys: keys.value.length + 1 };
  if (flags.json === true) await printJson(world.console, shown);
  else await world.console.out.write(`${wordsOf(shown).join("\n")}\n`);
  return ok(EXIT.ok);
}

function keyFile(world: DaemonCommandWorld, flags: DataFlags): Result<string> {
  const home = meantHome(world, flags.home);
  if (!home.ok) return home;
  const refusal = whyNotAllowed(world, home.value, "fleet key rotate");
  if (refusal !== undefined) return { ok: false, error: refusal };
  const config = configured(world);
  return config.ok ? ok(config.value.keyFile) : config;
}

function wordsOf({ key, keys }: { key: string; keys: number }): string[] {
  return [
    `${visibleLine(key)} has a new key above the old: ${keys} in all. Nothing is sealed with it yet.`,
    "next:       copy the file to every other host of the fleet: a host without it cannot read what it seals",
    "then there: holdfast down; holdfast up",
    "and here:   holdfast down; holdfast up",
    "The old key stays in the file: the log that is there was sealed with it.",
  ];
}

export const rotateCommand = withDaemonWorld(rotate);
