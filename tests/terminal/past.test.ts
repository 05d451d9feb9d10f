// `terminal.screenAt`: past screens by offset and by time, drawn by the screen program, for the page.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { terminalFiles } from "../../src/home/held/holder-files.ts";
import { timesOf } from "../../src/home/held/past.ts";
import { realDisk } from "../../src/world/real/disk.ts";
import { daemonHomes } from "../daemon/home.ts";
import { until } from "../until.ts";

const home = daemonHomes();

test("the screen of an offset or a time is that of the tape up to there; what has no times or no terminal is refused", async () => {
  const site = home();
  await site.live();
  const printing =
    "printf 'one\\033[31m'; until [ -e go ]; do sleep 0.05; done; printf '\\033[2J\\033[Htwo'; exec sleep 1000";
  const id = await site.open("t", ["sh", "-c", printing]);
  const moments = () => [...timesOf(terminalFiles(realDisk(), site.path, id)).from(0)];
  const first = await until("the first moment", () => moments()[0], moments);
  await until(
    "another moment is due",
    () => Date.now() > first.time + 600,
    () => Date.now(),
  );
  writeFileSync(site.file("go"), "");
  const second = await until("the second moment", () => moments()[1], moments);
  const at = (wish: object) => site.ask("terminal.screenAt", { id, ...wish });
  const before = new Date(second.time - 1).toISOString();
  expect(await at({ time: before })).toMatchObject({
    ok: true,
    value: {
      ...{ offset: second.offset, cols: 80, rows: 24, exact: true, vt: expect.stringContaining("one") },
      ...{ time: new Date(first.time).toISOString(), first: new Date(first.time).toISOString() },
      ...{ last: new Date(second.time).toISOString(), tape: { start: 0, end: 18 } },
    },
  });
  expect(await at({})).toMatchObject({ ok: true, value: { offset: 18, vt: expect.stringContaining("two") } });
  expect(await at({ offset: 2 })).toMatchObject({ ok: true, value: { offset: 2, vt: expect.stringContaining("on") } });
  expect(await at({ offset: 9999 })).toMatchObject({ ok: true, value: { offset: 18 } });
  expect(await at({ time: new Date(first.time - 1).toISOString() })).toMatchObject({ error: { code: "no-times" } });
  expect(await at({ time: "soon" })).toMatchObject({ error: { code: "bad-params" } });
  expect(await at({ id: "f".repeat(32) })).toMatchObject({ error: { code: "unknown" } });
});

test("of a flood that no checkpoint has seen, the first screen is not exact, and soon it is", async () => {
  const site = home();
  await site.live();
  const id = await site.open("flood", ["seq", "1", "800000"]);
  await site.is(id, "ended");
  const at = () => site.must("terminal.screenAt", { id });
  const first = await at();
  expect([first.exact, first.vt]).toEqual([false, expect.stringContaining("800000")]);
  const exact = async () => (await at()).exact;
  await until("its key frames are made", exact, exact);
  expect((await at()).vt).toBe(first.vt);
});
