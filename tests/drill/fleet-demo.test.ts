// `holdfast fleet demo`, run for real: a private PostgreSQL, three hosts with all their programs, and one that dies.
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { postgresPrograms } from "../../scripts/postgres-server.ts";
import { realProcesses } from "../../src/world/real/process.ts";
import { rejects } from "../cli/expect.ts";
import { cli, emptyHome } from "../cli/homes.ts";
import { ours } from "../ours.ts";
import { isInSample } from "../sim/fuzz/profile.ts";
import { until } from "../until.ts";
import { drillPlace, processesIn } from "./place.ts";

const DEMO_MS = 240_000;
const place = drillPlace();
chmodSync(place, 0o711); // As root, its PostgreSQL is another user's.

/** What it has left: files, its own processes, and those of its PostgreSQL. */
function left(): unknown[] {
  const processes = realProcesses();
  const servers = processes.list().filter(({ pid }) => processes.kin(pid)?.argv.some((word) => word.includes(place)));
  return [...readdirSync(place), ...processesIn(place), ...servers];
}

/** What a shell gets from the file that a kept demonstration has for each host. */
function environmentOf(host: string): Record<string, string> {
  const lines = readFileSync(join(host, "environment"), "utf8").trimEnd().split("\n");
  return Object.fromEntries(lines.map((line) => /^export (\w+)='(.*)'$/.exec(line)?.slice(1) ?? []));
}

/** Of a test that failed. */
afterEach(async () => {
  for (const name of readdirSync(place)) {
    await cli(["fleet", "demo", "--end", join(place, name)], { TMPDIR: place });
    rmSync(join(place, name), { recursive: true, force: true });
  }
});

describe.skipIf(postgresPrograms() === undefined)("fleet demo (needs postgresql)", () => {
  test(
    "shows a takeover in which nothing is lost or done twice, goes on until it is ended, and leaves the user's home alone",
    async () => {
      const home = emptyHome();
      const config = join(home, "config.toml");
      const env = { HOLDFAST_HOME: home, HOLDFAST_CONFIG: config, TMPDIR: place };
      const { code, out, err } = await cli(["fleet", "demo", "--json", "--keep"], env);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const { takeover, found, killed, ...rest } = JSON.parse(out);
      expect(rest).toEqual({
        ...{
          hosts: ["ann", "bob", "cid"],
          follows: true,
          lost: 0,
          doubled: 0,
          violations: [],
          kept: expect.stringContaining(place),
        },
      });
      expect(killed).toMatchObject({ ours: expect.any(Number), holders: 5 });
      expect(killed.programs).toBeGreaterThanOrEqual(5);
      expect(["bob", "cid"]).toContain(takeover.by);
      expect(takeover.liveMs).toBeGreaterThanOrEqual(takeover.takenMs);
      const fates = takeover.items.map(({ what, name, fate }: Record<string, string>) => `${what} ${name}: ${fate}`);
      expect(fates.toSorted()).toEqual([
        "agent helper: back as it was",
        ...["clock", "server", "shell"].map((name) => `terminal ${name}: restarted`),
        "workflow release: needs you",
      ]);
      expect(found).toMatchObject({ terminals: 3, screens: 3, run: "uncertain" });
      expect(found.effects).toEqual({
        steps: ["charged", "build begun", "notified"],
        agent: ["hello", "deploy allow", "later"],
      });
      const host = environmentOf(join(rest.kept, takeover.by));
      const listed = JSON.parse((await cli(["ls", "--json", "--home", takeover.home], host)).out);
      expect(listed.map(({ name }: { name: string }) => name).toSorted()).toEqual(["clock", "server", "shell"]);
      const homes = JSON.parse((await cli(["fleet", "ls", "--json"], host)).out);
      expect(homes.find(({ name }: { name: string }) => name === "ann-home").owner).toBe(takeover.by);
      expect(await cli(["fleet", "demo", "--end", rest.kept], env)).toEqual({ code: 0, out: "", err: "" });
      expect([...readdirSync(home), ...left()]).toEqual([]);
    },
    DEMO_MS,
  );

  // For every second commit: each demonstration takes six seconds of processor time.
  if (isInSample(2))
    test(
      "Ctrl-C in the middle of the takeover ends everything and removes it",
      async () => {
        const child = Bun.spawn(ours("src/cli/main.ts", "fleet", "demo"), {
          env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", TMPDIR: place },
          stdio: ["ignore", "pipe", "pipe"],
        });
        let seen = "";
        for await (const bytes of child.stdout) {
          seen += Buffer.from(bytes).toString();
          if (seen.includes("of Holdfast,")) child.kill("SIGINT");
        }
        expect({ code: await child.exited, err: await child.stderr.text() }).toEqual({ code: 130, err: "" });
        await until("nothing of it is left", () => left().length === 0, left);
      },
      DEMO_MS,
    );
});

test("without a PostgreSQL, it says what to install; another directory than its own is not ended", async () => {
  const env = { HOLDFAST_HOME: emptyHome(), TMPDIR: place };
  rejects(await cli(["fleet", "demo", "--postgres", "/nowhere"], env), 1, "There is no initdb in /nowhere");
  const other = join(place, "hff-00000000");
  mkdirSync(other);
  rejects(await cli(["fleet", "demo", "--end", other], env), 1, "is not the directory of a demonstration");
  expect(readdirSync(place)).toContain("hff-00000000");
});
