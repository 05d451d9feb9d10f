import { expect, test } from "bun:test";
import { hashOf, type Route, routeIn } from "./route.ts";

test("every route survives the address", () => {
  const routes: Route[] = [
    { view: "now" },
    { view: "terminals" },
    { view: "access" },
    { view: "terminal", id: "a/b % ?" },
    { view: "terminal", id: "build", at: "2026-11-17T10:00:00.000+01:00" },
    { view: "workflows" },
    { view: "run", id: "982a3a02" },
    { view: "run", id: "982a3a02", at: "3" },
    { view: "agents" },
    { view: "agent", id: "a1" },
    { view: "agent", id: "a1", at: "123" },
    { view: "recovery", report: undefined },
    { view: "recovery", report: "2026-11-17T10.json" },
    { view: "search", words: "" },
    { view: "search", words: 'a? "b/c" &d=%' },
  ];
  for (const route of routes) expect(routeIn(hashOf(route))).toEqual(route);
});

test("an address that means nothing shows what waits", () => {
  for (const hash of ["", "#", "#/x/y", "#link=abc"]) expect(routeIn(hash)).toEqual({ view: "now" });
  expect(routeIn("#/terminals/%E0%A4%A")).toEqual({ view: "terminals" });
});
