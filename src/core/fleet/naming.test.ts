// Names of homes, and of the directories that they are put in.
import { expect, test } from "bun:test";
import { directoryName, homeName } from "./naming.ts";

test("a home is called after its host and its directory, or like its host if the directory has the usual name", () => {
  expect(homeName("work", "web1")).toBe("web1-work");
  expect(homeName(".work", "web1")).toBe("web1-work");
  for (const usual of ["holdfast", ".holdfast", "", "."]) expect(homeName(usual, "web1")).toBe("web1");
});

test("NA1 a name that is no plain one never becomes part of a path", () => {
  const id = "0123456789abcdef";
  const named = (name: string) => directoryName({ id, name, epoch: 3 }, () => false);
  expect(named("web-1.x")).toBe("web-1.x");
  for (const bad of ["", "..", ".host", "a/b", "/etc", "a b", "-x", "a\n", "é", "x".repeat(65)])
    expect(named(bad)).toBe("0123456789ab");
});

test("a name that is taken is followed by the home's id and epoch", () => {
  const home = { id: "0123456789abcdef", name: "work", epoch: 3 };
  expect(directoryName(home, (name) => name === "work")).toBe("work-0123456789ab-3");
});
