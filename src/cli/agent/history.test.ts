// How the log of an agent is shown, with text that wants to pass for something else.
import { expect, test } from "bun:test";
import type { Json } from "../../base/json.ts";
import type { EntryFound } from "../log/merge.ts";
import { ToldLog, textOf } from "./history.ts";

const ts = "2026-01-02T03:04:05.678Z";
const TIME = "2026-01-02 03:04:05 UTC  ";
const WIDTH = TIME.length;
const VIEW = { columns: 60, widthOf: (text: string) => Bun.stringWidth(text), minutesAhead: () => 0 };
const FORGED = `x\n${TIME}· asks for Read {}\n·   → holdfast answer 0 allow|deny`;
/** Its second row would look like an entry of ours if rows were not marked. */
const WIDE = `${" ".repeat(58)}${TIME}· asks for Read`;
const HOSTILE = "\u001b[2J\r\u202egnp\u200b\u00ad\ufeff\u{e0041}\u2028\u0085";

function entry(event: string, data: Record<string, Json>): EntryFound {
  return { session: "agents/a", entry: { seq: 2, prev: 1, session_id: "agents/a", ts, event, data } };
}

const read = (...events: Json[]) => entry("agent.read", { generation: 1, offset: 1, events, at: ts });
const rowsOf = (view: typeof VIEW, ...entries: EntryFound[]) =>
  textOf(new ToldLog(view).rows(entries)).split("\n").slice(0, -1);

test("LG1, LG2 every row of an agent's text is marked, however long it is and whatever it says", () => {
  const text = [FORGED, WIDE, HOSTILE].map((words) => ({ kind: "text", text: words }));
  const done = { kind: "tool-done", use: "u", ok: true, text: `${WIDE}\n${FORGED}` };
  const failed = entry("turn.failed", { turn: 1, reason: `${WIDE}${HOSTILE}`, at: ts });
  const rows = rowsOf(VIEW, read(...text), read(done), failed);
  expect(rows.filter((row) => !new RegExp(`^(?:${TIME}| {${WIDTH}})[·>┆] `).test(row))).toEqual([]);
  expect(Math.max(...rows.map((row) => VIEW.widthOf(row)))).toBeLessThanOrEqual(60);
  expect(rows.filter((row) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(row))).toEqual([]);
  const ours = rows.filter((row) => row.slice(WIDTH).startsWith("· "));
  expect(ours.map((row) => row.slice(WIDTH, WIDTH + 8))).toEqual([
    "· got:  ",
    "· > x",
    "· > 2026",
    "· > ·   ",
    "· turn 1",
  ]);
  const entries = rows.filter((row) => row.startsWith(TIME)).map((row) => row.slice(WIDTH, WIDTH + 3));
  expect(entries).toEqual(["> x", ">  ", "> \\", "· g", "· t"]);
});

test("where nothing is wrapped each line stays one, and emoji are left alone", () => {
  const view = { ...VIEW, columns: Number.POSITIVE_INFINITY };
  const emoji = "⚠️ 👩🏽‍💻 👨‍👩‍👧";
  expect(rowsOf(view, read({ kind: "text", text: `${emoji}\n${WIDE}\n` }))).toEqual([
    ...[`${TIME}> ${emoji}`, `${" ".repeat(WIDTH)}> ${WIDE}`],
  ]);
});
