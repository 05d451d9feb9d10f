// Claims about our own process: how it announces its exit.
import { expect, test } from "bun:test";

const PROGRAM = `${import.meta.dir}/../../src/world/real/program.ts`;

/** The code that was announced, and the one that the parent saw. */
async function leave(how: string): Promise<[announced: string, seen: number | string | null]> {
  const script = `
    import { realProgram } from "${PROGRAM}";
    const program = realProgram();
    program.onExit((code) => require("node:fs").writeSync(1, String(code)));
    setTimeout(() => { ${how} }, 1);
  `;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
  const announced = await child.stdout.text();
  await child.exited;
  return [announced, child.signalCode ?? child.exitCode];
}

test("WD-5(a,b) every exit is announced with the code that the parent sees, also after an error that nothing caught", async () => {
  expect(await leave("program.exit(7)")).toEqual(["7", 7]);
  expect(await leave("program.exit(0)")).toEqual(["0", 0]);
  expect(await leave("throw new Error()")).toEqual(["1", 1]);
  expect(await leave("Promise.reject(new Error())")).toEqual(["1", 1]);
});

test("WD-5(d) an end by a signal is announced by nobody", async () => {
  expect(await leave("process.kill(process.pid, 'SIGKILL')")).toEqual(["", "SIGKILL"]);
});
