// A holder says beside its tape how large the terminal was, and from which byte on.
import { afterEach, expect, test } from "bun:test";
import { readSizes } from "../../src/log/tape/sizes.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { until } from "../until.ts";
import { endAll, terminal } from "./terminal.ts";

afterEach(endAll);

test("the size at the start and each change are recorded at the tape's offset", async () => {
  const made = await terminal(["sh"], { size: { cols: 70, rows: 20 } });
  await made.ear.type("stty size\n");
  await made.ear.hears("20 70");
  made.ear.client.resize({ cols: 100, rows: 30 });
  await made.ear.type("stty size\n");
  await made.ear.hears("30 100");
  const sizes = () => readSizes(realDisk(), made.directory);
  await until(
    "the second size",
    () => sizes().length === 2,
    () => sizes().length,
  );
  const [first, second] = sizes();
  expect(first).toEqual({ offset: 0, cols: 70, rows: 20 });
  expect(second).toMatchObject({ cols: 100, rows: 30 });
  expect(second?.offset).toBeGreaterThanOrEqual(made.ear.text.indexOf("20 70"));
  expect(second?.offset).toBeLessThanOrEqual(made.ear.text.indexOf("30 100"));
});

test("a command on pipes has no size", async () => {
  const made = await terminal(["sh", "-c", "read -r line"], { mode: "pipe" });
  await made.ear.type("\n");
  await made.ear.hearsEnd();
  expect(readSizes(realDisk(), made.directory)).toEqual([]);
});
