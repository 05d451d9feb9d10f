// Which hosts and addresses a list allows.
import { expect, test } from "bun:test";
import { egressOf, hostIn, isListed, mayReach } from "./egress.ts";

test("a host is a name or an address, with or without a port", () => {
  expect(hostIn("GitHub.com")).toEqual({ host: "github.com", port: 443 });
  expect(hostIn("github.com.:22")).toEqual({ host: "github.com", port: 22 });
  expect(hostIn("10.0.0.5:5432")).toEqual({ host: "10.0.0.5", port: 5432 });
  expect(hostIn("::1")).toEqual({ host: "::1", port: 443 });
  expect(hostIn("[::1]:80")).toEqual({ host: "::1", port: 80 });
  expect(hostIn("*.a.org")).toEqual({ host: "*.a.org", port: 443 });
  for (const text of ["", " ", "a b", "a.org:", "a.org:0", "a.org:65536", "http://a.org", "a.org/x", "*", "a.*.org"])
    expect([text, hostIn(text)]).toEqual([text, undefined]);
  for (const text of ["u@a.org", "[a.org]:80", "-a.org", "a..org", "a.org\n", `${"a".repeat(254)}`])
    expect([text, hostIn(text)]).toEqual([text, undefined]);
});

test("lists are taken apart, and the first word that is no host is named", () => {
  expect(egressOf(["a.org, b.org:80", "a.org"])).toEqual({ ok: true, value: ["a.org", "b.org:80"] });
  expect(egressOf([])).toEqual({ ok: true, value: [] });
  expect(egressOf(["a.org,"])).toMatchObject({ ok: false, error: { code: "bad-host" } });
});

test("EG1 host and port must both be listed; a star stands for subdomains only", () => {
  const listed = (word: string, host: string, port = 443) => isListed([word], { host, port });
  expect(listed("a.org", "a.org")).toBe(true);
  expect(listed("a.org", "a.org", 80)).toBe(false);
  expect(listed("a.org:80", "a.org", 80)).toBe(true);
  expect(listed("a.org", "b.a.org")).toBe(false);
  expect(listed("*.a.org", "c.b.a.org")).toBe(true);
  expect(listed("*.a.org", "a.org")).toBe(false);
  expect(listed("*.a.org", "evila.org")).toBe(false);
});

test("EG2 an address of this machine or of a private network is reached only if it is listed itself", () => {
  const own = ["203.0.114.7"];
  const may = (egress: readonly string[], host: string, port = 443) => mayReach(egress, { host, port }, own);
  expect(may(["a.org"], "8.8.8.8")).toBe(true);
  for (const host of ["127.0.0.1", "::1", "169.254.169.254", "10.0.0.5", "203.0.114.7"]) {
    expect([host, may(["a.org", "localhost"], host)]).toEqual([host, false]);
    expect([host, may([host], host)]).toEqual([host, true]);
    expect([host, may([host], host, 80)]).toEqual([host, false]);
  }
});
