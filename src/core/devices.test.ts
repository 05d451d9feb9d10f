import { expect, test } from "bun:test";
import {
  current,
  DEVICE_RIGHTS,
  type DeviceRights,
  type Devices,
  deviceMay,
  deviceMayType,
  deviceOf,
  NO_DEVICES,
  redeemed,
  revoked,
  usedNow,
  withLink,
} from "./devices.ts";
import { RIGHTS } from "./principal.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function device(name: string) {
  return { id: `id of ${name}`, name, hash: `hash of ${name}` };
}

function withDevice(before: Devices, name: string, now = NOW): Devices {
  const done = redeemed(withLink(before, `link of ${name}`, now), `link of ${name}`, device(name), now);
  if (!done.ok) throw new Error(done.error.message);
  return done.value;
}

test("DV1 a link lets one browser in, once, and not after ten minutes", () => {
  const linked = withLink(NO_DEVICES, "link", NOW);
  const done = redeemed(linked, "link", device("a"), NOW + 9 * MINUTE);
  if (!done.ok) throw new Error(done.error.message);
  expect(deviceOf(done.value, "hash of a", NOW)?.id).toBe("id of a");
  expect(done.value.links).toEqual([]);
  const refusals = [
    redeemed(done.value, "link", device("b"), NOW + 9 * MINUTE), // Used.
    redeemed(linked, "link", device("b"), NOW + 11 * MINUTE), // Too old.
    redeemed(linked, "another", device("b"), NOW),
  ];
  for (const refusal of refusals) expect(!refusal.ok && refusal.error.code).toBe("no-link");
});

test("DV3 a browser that does not use the page for a month has to get in again", () => {
  const made = withDevice(NO_DEVICES, "a");
  expect(deviceOf(made, "hash of a", NOW + 29 * DAY)?.name).toBe("a");
  expect(deviceOf(made, "hash of a", NOW + 31 * DAY)).toBeUndefined();
  expect(current(made, NOW + 31 * DAY)).toEqual(NO_DEVICES);
  const used = usedNow(made, "id of a", NOW + 29 * DAY);
  expect(deviceOf(used, "hash of a", NOW + 31 * DAY)?.name).toBe("a");
});

test("DV3 of too many browsers, the one that was not used for longest has to get in again", () => {
  let all = NO_DEVICES;
  for (let at = 0; at < 64; at += 1) all = withDevice(all, `${at}`, NOW + at * MINUTE);
  all = usedNow(all, "id of 0", NOW + 2 * 60 * MINUTE);
  all = withDevice(all, "new", NOW + 3 * 60 * MINUTE);
  expect(all.devices).toHaveLength(64);
  expect(all.devices.some(({ name }) => name === "1")).toBe(false);
  expect(all.devices.some(({ name }) => name === "0")).toBe(true);
});

test("DV4 another use within the hour changes nothing", () => {
  const made = withDevice(NO_DEVICES, "a");
  expect(usedNow(made, "id of a", NOW + 59 * MINUTE)).toBe(made);
  expect(usedNow(made, "nobody", NOW + DAY)).toBe(made);
  expect(usedNow(made, "id of a", NOW + 61 * MINUTE).devices[0]?.usedAt).toBe("2026-11-17T13:01:00.000Z");
});

test("a browser that was signed out is not known any more; the others are", () => {
  const both = withDevice(withDevice(NO_DEVICES, "a"), "b");
  const left = revoked(both, "id of a");
  expect(deviceOf(left, "hash of a", NOW)).toBeUndefined();
  expect(deviceOf(left, "hash of b", NOW)?.name).toBe("b");
});

test("links that nobody uses do not pile up, and a long name is cut", () => {
  let all = NO_DEVICES;
  for (let at = 0; at < 100; at += 1) all = withLink(all, `${at}`, NOW);
  expect(all.links).toHaveLength(16);
  const done = redeemed(all, "99", { ...device("a"), name: "x".repeat(10_000) }, NOW);
  expect(done.ok && done.value.devices[0]?.name).toHaveLength(200);
});

test("DV5 a pairing makes a device with a key and its rights; a link for a browser pairs nothing, and neither the other", () => {
  const both = withLink(withLink(NO_DEVICES, "link", NOW), "pairing", NOW, {
    ...{ rights: "answer", name: "My phone" },
  });
  const key = "0".repeat(64);
  const done = redeemed(both, "pairing", { ...device("phone"), key }, NOW);
  if (!done.ok) throw new Error(done.error.message);
  expect(deviceOf(done.value, "hash of phone", NOW)).toMatchObject({ key, rights: "answer", name: "My phone" });
  expect(done.value.links).toMatchObject([{ hash: "link" }]);
  const wrong = [
    redeemed(both, "pairing", device("browser"), NOW),
    redeemed(both, "link", { ...device("phone"), key }, NOW),
    redeemed(done.value, "pairing", { ...device("second"), key: "1".repeat(64) }, NOW), // Used.
  ];
  for (const refusal of wrong) expect(!refusal.ok && refusal.error.code).toBe("no-link");
  expect(wrong.map((one) => !one.ok && one.error.hint)).toEqual([
    "Get a new one: holdfast open",
    "Get a new one: holdfast pair",
    "Get a new one: holdfast pair",
  ]);
});

test("DV5 look changes nothing, answer also answers and decides, type is everything; a browser of this machine has all", () => {
  const methods = (rights: DeviceRights | undefined) =>
    Object.entries(RIGHTS).flatMap(([method, right]) => (deviceMay(rights, method, right) ? [method] : []));
  const isLook = (method: string, right: string) => /look|inspect/.test(right) || method.startsWith("push.");
  const looks = Object.entries(RIGHTS).flatMap(([method, right]) => (isLook(method, right) ? [method] : []));
  expect(methods("look")).toEqual(looks);
  expect(methods("answer").filter((method) => !looks.includes(method))).toEqual(["workflow.resolve", "prompt.answer"]);
  expect(methods("type")).toEqual(Object.keys(RIGHTS));
  expect(methods(undefined)).toEqual(Object.keys(RIGHTS));
  expect(deviceMay("answer", "not in the table", undefined)).toBe(false);
  expect(DEVICE_RIGHTS.map(deviceMayType)).toEqual([false, false, true]);
});

test("DV6 the device that a link has paired may use it again while it would be valid, and nobody else", () => {
  const linked = withLink(NO_DEVICES, "link", NOW, { rights: "answer", name: "phone" });
  const paired = redeemed(linked, "link", { ...device("a"), key: "key of a" }, NOW);
  if (!paired.ok) throw new Error(paired.error.message);
  const again = redeemed(paired.value, "link", { ...device("b"), key: "key of a" }, NOW + 9 * MINUTE);
  if (!again.ok) throw new Error(again.error.message);
  expect(again.value.devices).toMatchObject([{ id: "id of a", hash: "hash of b", name: "phone", rights: "answer" }]);
  expect(deviceOf(again.value, "hash of a", NOW)).toBeUndefined();
  const refusals = [
    redeemed(paired.value, "link", { ...device("b"), key: "key of b" }, NOW),
    redeemed(paired.value, "link", device("b"), NOW),
    redeemed(paired.value, "link", { ...device("b"), key: "key of a" }, NOW + 11 * MINUTE),
    redeemed(revoked(paired.value, "id of a"), "link", { ...device("b"), key: "key of a" }, NOW),
  ];
  for (const refusal of refusals) expect(!refusal.ok && refusal.error.code).toBe("no-link");
});
