// `holdfast log tail` beside real writers: durable entries are printed once each, in order, whatever happens to the
// writer.
import { afterAll, describe, expect, test } from "bun:test";
import { runCli } from "../../src/cli/run.ts";
import { realWatch } from "../../src/world/real/watch.ts";
import { realWorld } from "../../src/world/world.ts";
import { fakeConsole } from "../cli/fake-console.ts";
import * as homes from "../cli/homes.ts";

const { A, B, cli } = homes;
afterAll(homes.removeHomes);

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The lines of a stream, with a method to wait for one. */
function reader(stream: ReadableStream<Uint8Array>) {
  const lines: string[] = [];
  const iterator = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  const more = async (): Promise<boolean> => {
    const { value, done } = await iterator.read();
    const pieces = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = pieces.pop() ?? "";
    lines.push(...pieces);
    return !done;
  };
  const until = async (enough: (line: string) => boolean): Promise<string[]> => {
    while (!lines.some(enough) && (await more()));
    return lines;
  };
  return { lines, until };
}

const seqOf = (line: string): number => JSON.parse(line).seq;

describe("log tail", () => {
  test("the last entries of all sessions, or of one, in order, drained or not", async () => {
    const home = await homes.killedHome(30, 10);
    const seqs = async (...args: string[]) =>
      JSON.parse((await cli(["log", "tail", "--json", "--home", home, ...args])).out).map(
        ({ seq }: { seq: number }) => seq,
      );
    expect(await seqs()).toEqual(upTo(21, 40));
    expect(await seqs("-n", "3")).toEqual([38, 39, 40]);
    expect(await seqs("-n", "100")).toEqual(upTo(1, 40));
    expect(await seqs("-n0")).toEqual([]);
    expect(await seqs(B, "--lines", "5")).toEqual([26, 29, 32, 35, 38]);
    const plain = await cli(["log", "tail", "--home", home, "-n", "1"], { TZ: "UTC" });
    expect(plain.out).toBe('40  2026-01-02 03:04:05 UTC  3f2a9c0d  message.enqueued      {"i":39,"text":"hello"}\n');
  });

  test("an empty home has nothing to show, and a message says it", async () => {
    const home = homes.emptyHome();
    expect(await cli(["log", "tail", "--home", home])).toEqual({
      code: 0,
      out: "",
      err: "holdfast: there are no sessions yet.\n",
    });
    expect((await cli(["log", "tail", "--json", "--home", home])).out).toBe("[]\n");
  });
});

describe("log tail --follow", () => {
  test("every entry of a writer that is killed and restarted is printed once, in order; Ctrl-C is exit 0", async () => {
    const home = homes.emptyHome();
    const tail = homes.startCli(["log", "tail", "-f", "-n", "10000", "--json", "--home", home]);
    const followed = reader(tail.stdout);
    for (let life = 0; life < 3; life++) {
      const writer = homes.startWriter(home, "on");
      const acknowledged = reader(writer.stdout);
      const goal = (life + 1) * 400;
      await acknowledged.until((line) => Number(line) >= goal);
      writer.kill("SIGKILL");
      await writer.exited;
    }
    const log = await homes.openLog(home);
    await homes.write(log, 0, 1);
    const last = log.durable;
    await followed.until((line) => seqOf(line) >= last);
    tail.kill("SIGINT");
    expect({ code: await tail.exited, err: await tail.stderr.text() }).toEqual({ code: 0, err: "" });
    expect(followed.lines.map(seqOf)).toEqual(upTo(1, last));
    await log.close();
  });

  test("one session is followed alone, starting with its last entries", async () => {
    const home = await homes.closedHome(9);
    const tail = homes.startCli(["log", "tail", "3f2b", "--follow", "--json", "-n", "1", "--home", home]);
    const followed = reader(tail.stdout);
    await followed.until((line) => seqOf(line) === 8);
    const log = await homes.openLog(home);
    await homes.write(log, 0, 6);
    await followed.until((line) => seqOf(line) === 14);
    tail.kill("SIGINT");
    expect(await tail.exited).toBe(0);
    expect(followed.lines.map(seqOf)).toEqual([8, 11, 14]);
    await log.close();
  });

  test("a single entry is shown as soon as it is drained, without waiting for another one", async () => {
    const home = homes.emptyHome();
    const log = await homes.openLog(home);
    const release = homes.pretendDaemon(home);
    const console = fakeConsole();
    const outside = { ...realWorld(), console, watch: realWatch() };
    const ended = runCli(["log", "tail", "-f", "--home", home], console, async () => outside);
    for (const seq of [1, 2, 3]) {
      log.append([homes.entry(A, seq)]);
      await console.seen((out) => out.endsWith(` ${seq}\n`));
    }
    console.interrupt();
    expect(await ended).toBe(0);
    expect(console.printed.out.split("\n").map((line) => Number.parseInt(line, 10))).toEqual([1, 2, 3, Number.NaN]);
    release();
    await log.close();
  });
});
