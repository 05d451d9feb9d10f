// cli.start: `holdfast --version`, from the launcher's start to its end, in milliseconds; the peer is an empty script
// under the same Bun.
// On standard error: the same without the launcher (a shell script), and `holdfast ls` on a home that has no terminals.
// Not measured: the first start, which installs; a cold page cache.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandMs, direct, environment, Home, launcher } from "./home.ts";
import { inTurn, median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const NAME = "cli.start";

export async function cliStart(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const place = makePlace(bench, "start");
  const empty = join(place, "empty.ts");
  writeFileSync(empty, "");
  const rounds = bench.quick ? 2 : 31;
  bench.say(`${NAME}: ${rounds} of each`);
  const home = await Home.start(bench, "c");
  try {
    const env = environment(place);
    const commands = [
      [...launcher(bench), "--version"],
      [process.execPath, "--config=/dev/null", "--no-env-file", "--no-install", empty],
      [...direct(), "--version"],
    ];
    const works = [...commands.map((argv) => () => commandMs(argv, env)), () => home.run("ls")];
    const [value = 0, peerValue = 0, bare = 0, ls = 0] = (await inTurn(rounds, works)).map(median);
    bench.say(`  without the launcher ${bare.toFixed(1)} ms; ls without terminals ${ls.toFixed(1)} ms`);
    emit(timeRow({ name: NAME, value, peer: "an empty script, same Bun", peerValue }));
  } finally {
    await home.end();
  }
}
