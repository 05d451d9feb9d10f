// A program prints sequences that ask for far more than a screen has: history and the screen program stay well.
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, Home } from "../cli/terminal-home.ts";
import { until } from "../until.ts";

afterAll(endAll, 180_000);

const ESC = "\u001b";
const TIMES = 20_000;
/** A second on a quiet machine. Without limits, history takes hours, and the screen program all memory there is. */
const LIMIT_MS = 60_000;

test("PL5 X3 eight bytes that ask for 65,536 blanks, or for two billion repeats, cost eight bytes' worth", async () => {
  const home = new Home();
  appendFileSync(join(home.path, "config.toml"), "\n[checkpoint]\ninterval_ms = 1000\n");
  const forever = `a\b${`${ESC}[65536@${ESC}[65535C.`.repeat(TIMES)}\r\n`;
  writeFileSync(join(home.path, "bytes"), `${forever}x${ESC}[2147483647b${ESC}[2147483647L${ESC}[Hthe end\r\n`);
  await home.ok("new", "-d", "rude", "--", "sh", "-c", "cat bytes; exec sleep 1000");
  const checkpoint = join(home.path, "recovery/checkpoint.json");
  const seen = () => (existsSync(checkpoint) ? readFileSync(checkpoint, "utf8") : "");
  await until(
    "its screen is in a checkpoint",
    () => seen().includes("the end"),
    () => seen().slice(0, 500),
  );
  await home.says("rude", "the end");
  const start = performance.now();
  const text = await home.ok("history", "rude");
  expect(performance.now() - start).toBeLessThan(LIMIT_MS);
  expect(text.length).toBeLessThan(17 * forever.length + (64 << 10));
});
