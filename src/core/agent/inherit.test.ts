import { expect, test } from "bun:test";
import { type WantedPlaces, whyNotThere } from "./inherit.ts";

const SANDBOX = { read: ["/repo"], write: ["/srv/a", "/data"], git: null, network: false };
const PLAIN: WantedPlaces = { cwd: "/srv/a", read: [], write: [], network: false };

test("IN3 the sandbox of a child shows and lets change at most what its parent's does", () => {
  const said = (wanted: Partial<WantedPlaces>) => whyNotThere("lead", SANDBOX, { ...PLAIN, ...wanted })?.message ?? "";
  const within = [{}, { cwd: "/repo/src" }, { read: ["/data/x", "/repo"] }, { write: ["/data", "/srv/a/b"] }];
  expect(within.map(said)).toEqual(["", "", "", ""]);
  expect(said({ cwd: "/srv/ab" })).toContain("does not show /srv/ab");
  expect(said({ cwd: "/srv/a/../.." })).toContain("does not show");
  expect(said({ read: ["/home/me"] })).toContain("does not show /home/me");
  expect(said({ write: ["/repo"] })).toContain("/repo cannot be changed");
  expect(said({ network: true })).toContain("without a network");
  expect(whyNotThere("lead", { ...SANDBOX, network: true }, { ...PLAIN, network: true })).toBeUndefined();
});
