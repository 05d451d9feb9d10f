// cli.start: `holdfast --version`, from the launcher's start to its end, in milliseconds; the peer is an empty script
// under the same Bun.
// On standard error: the same without the launcher (a shell script), and `holdfast ls` on a home that has no terminals.
// Not measured: the first start, which installs; a cold page cache.
import { commandMs, direct, EMPTY, emptyScript, environment, Home, launcher } from "./home.ts";
import { inTurn, median } from "./rounds.ts";
import { type Row, timeRow } from "./row.ts";
import { type Bench, makePlace } from "./scratch.ts";

const NAME = "cli.start";

export async function cliStart(_: readonly string[], bench: Bench, emit: (row: Row) => void): Promise<void> {
  const place = makePlace(bench, "start");
  const empty = emptyScript(place);
  const rounds = bench.quick ? 2 : 31;
  bench.say(`${NAME}: ${rounds} of each`);
  const home = await Home.start(bench, "c");
  try {
    const env = environment(place);
    const commands = [
      { words: [...launcher(bench), "--version"], env },
      empty,
      { words: [...direct(), "--version"], env },
    ];
    const works = [...commands.map((one) => () => commandMs(one.words, one.env)), () => home.run("ls")];
    const [value = 0, peerValue = 0, bare = 0, ls = 0] = (await inTurn(rounds, works)).map(median);
    bench.say(`  without the launcher ${bare.toFixed(1)} ms; ls without terminals ${ls.toFixed(1)} ms`);
    emit(timeRow({ name: NAME, value, peer: EMPTY, peerValue }));
  } finally {
    await home.end();
  }
}
