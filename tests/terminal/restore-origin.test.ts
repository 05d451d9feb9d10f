// After a reboot only programs that are what they say are run again; the others are typed, and wait for a person.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { powerCut, Rebooting } from "../cli/power-cut.ts";
import { endAll } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

/** What each terminal is told, and what is said of it afterwards. */
const TERMINALS: Readonly<Record<string, readonly [typed: string, said: string]>> = {
  real: ["tail -f log", "continues with: tail -f log"],
  posing: ["bash -c 'exec -a tail sh -f log'", "tail -f log is typed at the prompt; press Enter to run it"],
  inside: ["unshare --user --map-root-user tail -f log", "tail -f log is typed at the prompt; press Enter to run it"],
};

test("RC3 a program is run again only if its PATH finds it, and if it ran where we run", async () => {
  const home = new Rebooting();
  appendFileSync(join(home.path, "config.toml"), "\n[checkpoint]\ninterval_ms = 1000\n");
  writeFileSync(join(home.path, "log"), "sleep 1000\n");
  const names = Object.keys(TERMINALS);
  for (const name of names) {
    await home.ok("new", "-d", name, "--", "bash", "--norc", "--noprofile");
    await home.ok("send", name, `${TERMINALS[name]?.[0]}\n`);
  }
  const checkpoint = join(home.path, "recovery/checkpoint.json");
  const seen = () => (existsSync(checkpoint) ? readFileSync(checkpoint, "utf8") : "");
  await until(
    "the checkpoint has all three in front",
    () => seen().split('"argv":["tail","-f","log"]').length === 1 + names.length,
    seen,
  );
  await powerCut(home);
  home.boot = 2;
  await home.ok("up");
  const { items } = await home.json("recovery", "report");
  for (const name of names) {
    const { reason } = items.find((item: { name: string }) => item.name === name);
    expect([name, reason]).toEqual([name, expect.stringContaining(TERMINALS[name]?.[1] ?? "")]);
  }
});
