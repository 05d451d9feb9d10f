import { expect, test } from "bun:test";
import { programWords, readLine, TICK_VARIABLE } from "./program.ts";

test("the program's script does what it says: it gets ready, counts, and echoes each line once", async () => {
  for (const stubborn of [false, true]) {
    const env = { PATH: "/usr/bin:/bin", [TICK_VARIABLE]: "0.1" };
    const child = Bun.spawn([...programWords(stubborn)], { env, stdio: ["pipe", "pipe", "ignore"], detached: true });
    child.stdin.write('i1\ni2 it\'s "quoted" $HOME *\n');
    await child.stdin.flush();
    let text = "";
    for await (const bytes of child.stdout) {
      text += Buffer.from(bytes).toString();
      if (text.includes("o 1\n") && text.includes("t 9\n")) break;
    }
    process.kill(-child.pid, "SIGKILL"); // It counts in a separate process.
    await child.exited;
    const lines = text.split("\n").slice(0, -1);
    expect(lines.filter((line) => readLine(line) === undefined)).toEqual([]);
    expect(lines.filter((line) => /^[er]/.test(line))).toEqual(["ready", "e i1", 'e i2 it\'s "quoted" $HOME *']);
    expect(lines.filter((line) => line.startsWith("o "))).toEqual(["o 0", "o 1"]);
    expect(lines.filter((line) => line.startsWith("t ")).slice(0, 10)).toEqual(
      Array.from({ length: 10 }, (_, n) => `t ${n}`),
    );
  }
});
