// `holdfast __about`: one line of JSON about this version (wire/about.ts).
import { ok } from "../../base/result.ts";
import { aboutUs } from "../../wire/about.ts";
import { PLATFORM } from "../../world/real/runtime.ts";
import { type CommandWorld, command, EXIT, type Exit } from "../command-world.ts";
import { printJson } from "../print.ts";

async function about({ console }: CommandWorld): Promise<Exit> {
  await printJson(console, aboutUs(PLATFORM));
  return ok(EXIT.ok);
}

export const aboutCommand = command(about);
