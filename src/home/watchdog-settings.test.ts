import { expect, test } from "bun:test";
import { SimDisk } from "../../tests/sim/disk.ts";
import { put } from "../../tests/world/places.ts";
import { keepSettings, settingsText } from "./watchdog-settings.ts";

function atHome(): SimDisk {
  const disk = new SimDisk();
  for (const directory of ["/h", "/h/run"]) disk.makeDirectory(directory);
  return disk;
}

test("the given settings, else the last ones, else none; what we did not write is none", async () => {
  const disk = atHome();
  expect(settingsText(disk, "/h", undefined)).toBe("{}");
  await keepSettings(disk, "/h", '{"crashes":5}');
  expect(settingsText(disk, "/h", undefined)).toBe('{"crashes":5}');
  expect(settingsText(disk, "/h", '{"crashes":6}')).toBe('{"crashes":6}');
  for (const strange of ["{", "null", '{"given":1}', '"given"']) {
    const other = atHome();
    put(other, "/h/run/watchdog.json", strange);
    expect(settingsText(other, "/h", undefined)).toBe("{}");
  }
});

test.each(["open", "read"])(
  "WS1 if they are there and %s fails, that is a Fault, and not a watchdog without programs",
  async (operation) => {
    const disk = atHome();
    await keepSettings(disk, "/h", '{"crashes":5}');
    disk.fault = (call) => (call.operation === operation ? { kind: "fail", code: "EIO" } : undefined);
    expect(() => settingsText(disk, "/h", undefined)).toThrow("EIO");
  },
);
