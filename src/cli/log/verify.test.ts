import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { fakeConsole, type Looks } from "../../../tests/cli/fake-console.ts";
import * as homes from "../../../tests/cli/homes.ts";
import type { Disk, OpenFile } from "../../world/disk.ts";
import { realWatch } from "../../world/real/watch.ts";
import { realWorld } from "../../world/world.ts";
import type { CommandWorld } from "../command-world.ts";
import { runCli } from "../run.ts";

afterAll(homes.removeHomes);

async function run(argv: readonly string[], changes: Partial<CommandWorld> = {}, looks: Looks = {}) {
  const console = fakeConsole(looks);
  const load = async (): Promise<CommandWorld> => ({ ...realWorld(), console, watch: realWatch(), ...changes });
  const code = await runCli(argv, console, load);
  return { code, ...console.printed };
}

/** A disk on which the last bytes of files with this ending are missing for the first `times` opens. */
function halfWritten(ending: string, times: number): Disk {
  const disk = realWorld().disk;
  let left = times;
  return {
    ...disk,
    open: (path, how) => {
      const file = disk.open(path, how);
      return path.endsWith(ending) && left-- > 0 ? shorter(file) : file;
    },
  };
}

function shorter(file: OpenFile): OpenFile {
  const size = () => file.size() - 5;
  return { ...file, path: file.path, size, read: (into, at) => file.read(into, at), close: () => file.close() };
}

describe("reading while a daemon writes", () => {
  test("damage seen only by the first looks is not reported, damage seen by every look is", async () => {
    const home = await homes.closedHome(9);
    for (const times of [1, 2, 3]) {
      const { code, out } = await run(["log", "verify", "--home", home], {
        disk: halfWritten(`${homes.A}/events.jsonl`, times),
      });
      expect({ times, code }).toEqual({ times, code: 0 });
      expect(out).toEndWith("whole: 9 entries in 3 sessions\n");
    }
    const always = halfWritten(`${homes.A}/events.jsonl`, Number.POSITIVE_INFINITY);
    expect((await run(["log", "verify", "--home", home], { disk: always })).code).toBe(1);
  });

  test("real damage is still reported along with transient damage", async () => {
    const home = await homes.closedHome(9);
    homes.harm(join(home, homes.B, "events.jsonl"), "hello");
    const disk = halfWritten(`${homes.A}/events.jsonl`, 2);
    const { findings } = JSON.parse((await run(["log", "verify", "--json", "--home", home], { disk })).out);
    expect(findings.map(({ where }: { where: string }) => where)).toEqual(Array(2).fill(`${homes.B}/events.jsonl`));
  });
});

describe("words", () => {
  test("long work is announced only to a person, and only on stderr", async () => {
    const home = await homes.closedHome(9);
    const disk = realWorld().disk;
    const large: Disk = { ...disk, stat: (path) => grown(disk.stat(path)) };
    const told = await run(["log", "verify", "--home", home], { disk: large }, { tty: true });
    expect(told.err).toBe("holdfast: checking 192 MiB …\n");
    expect((await run(["log", "verify", "--home", home], { disk: large })).err).toBe("");
  });

  test("a long list of sessions is cut, with a hint where to find the rest", async () => {
    const sessions = Array.from({ length: 45 }, (_, i) => `agents/s${i}`);
    const { out } = await run(["log", "verify", "--home", await homes.closedHome(45, sessions)]);
    expect(out).toContain("… and 5 sessions more; --json lists all\n");
    expect(out).toContain("agents/s44  1        45–45  0\n");
    expect(out).not.toContain("agents/s4 ");
  });

  test("on a terminal an entry takes one row", async () => {
    const home = homes.emptyHome();
    const log = await homes.openLog(home);
    log.append([homes.entry(homes.A, "日本".repeat(1000))]);
    await log.close();
    for (const columns of [40, 81, 200]) {
      const { out } = await run(["log", "show", "--home", home], {}, { tty: true, columns });
      expect(out).toEndWith("…\n");
      expect(Bun.stringWidth(out)).toBeLessThanOrEqual(columns);
    }
  });
});

function grown(stat: ReturnType<Disk["stat"]>) {
  return stat?.kind === "file" ? { ...stat, size: 64 << 20 } : stat;
}
