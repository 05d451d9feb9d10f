import { expect, test } from "bun:test";
import { may, mayType, rights, thisDevice, welcomed } from "./rights.ts";

test("RG1 a browser of this machine may do everything at once, a device only what its home has said", () => {
  expect([may("terminal.rename"), mayType.value]).toEqual([true, true]);
  rights.value = undefined;
  expect([may("status"), mayType.value]).toEqual([false, undefined]);
  welcomed({ device: "d", rights: "answer" });
  expect([may("prompt.answer"), may("terminal.rename"), mayType.value]).toEqual([true, false, false]);
  expect(thisDevice.value).toBe("d");
  rights.value = "type";
});
