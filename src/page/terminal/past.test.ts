import { expect, test } from "bun:test";
import {
  axisOf,
  END,
  fromLocalInput,
  isQuiet,
  keyed,
  localInput,
  placeAt,
  placeIn,
  placeText,
  sliderValue,
} from "./past.ts";

const FIRST = Date.parse("2026-11-17T10:00:00.000Z");
const TIMED = {
  ...{ first: "2026-11-17T10:00:00.000Z", last: "2026-11-17T11:00:00.000Z", tape: { start: 5, end: 5_000 } },
  ...{ time: "2026-11-17T10:00:10.000Z", offset: 200 },
};
const UNTIMED = { ...TIMED, first: null, last: null, time: null };

test("a number in an address is an offset, a time is a time, and anything else means the end", () => {
  expect(placeIn("1234")).toEqual({ kind: "offset", offset: 1234 });
  expect(placeIn("2026-11-17T10:00:00.000Z")).toEqual({ kind: "time", ms: FIRST });
  for (const text of ["end", "", "x", "-3", "99999999999999999999"]) expect(placeIn(text)).toEqual(END);
  for (const text of ["1234", "2026-11-17T10:00:00.000Z", "end"]) expect(placeText(placeIn(text))).toBe(text);
});

test("the slider moves by time, and by bytes if no time is known", () => {
  const [times, bytes] = [axisOf(TIMED), axisOf(UNTIMED)];
  expect(times).toEqual({ by: "time", min: FIRST, max: FIRST + 3_600_000 });
  expect(bytes).toEqual({ by: "bytes", min: 5, max: 5_000 });
  expect(sliderValue(times, { kind: "time", ms: FIRST + 12_000 }, TIMED)).toBe(FIRST + 12_000);
  expect(sliderValue(times, { kind: "offset", offset: 200 }, TIMED)).toBe(FIRST + 10_000);
  expect(sliderValue(times, { kind: "time", ms: 0 }, TIMED)).toBe(FIRST);
  expect(sliderValue(bytes, { kind: "offset", offset: 9_999_999 }, UNTIMED)).toBe(5_000);
  expect(sliderValue(bytes, END, UNTIMED)).toBe(5_000);
  expect(placeAt(bytes, 77.4)).toEqual({ kind: "offset", offset: 77 });
});

test("keys move by a second, ten or a minute, to the beginning and the end, and never outside", () => {
  const axis = axisOf(TIMED);
  const at = (key: string, shiftKey = false) => {
    const place = keyed(axis, FIRST + 30_000, { key, shiftKey });
    return place?.kind === "time" ? place.ms - FIRST : place;
  };
  expect(["ArrowRight", "ArrowLeft", "PageUp", "Home", "End", "x"].map((key) => at(key))).toEqual([
    31_000,
    29_000,
    90_000,
    0,
    3_600_000,
    undefined,
  ]);
  expect([at("ArrowRight", true), at("PageDown")]).toEqual([40_000, 0]);
});

test("a pause of the program is noticed, but not at the end, and not without times", () => {
  const axis = axisOf(TIMED);
  expect(isQuiet(axis, FIRST + 11_000, TIMED)).toBe(false);
  expect(isQuiet(axis, FIRST + 12_500, TIMED)).toBe(true);
  expect(isQuiet(axis, axis.max, TIMED)).toBe(false);
  expect(isQuiet(axisOf(UNTIMED), 300, UNTIMED)).toBe(false);
});

test("a time survives its way through a field of the browser's own clock", () => {
  const ahead = () => 90;
  expect(localInput(FIRST, ahead)).toBe("2026-11-17T11:30:00");
  expect(fromLocalInput("2026-11-17T11:30:00", ahead)).toBe(FIRST);
  expect(fromLocalInput("", ahead)).toBeUndefined();
});
