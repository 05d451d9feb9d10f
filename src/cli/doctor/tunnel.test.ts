// What `doctor` says of a home's tunnel.
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificates } from "../../../tests/tunnel/certificates.ts";
import { TUNNEL_STATUS } from "../../home/layout.ts";
import { writeEnrolment, writeTunnelWanted } from "../../home/tunnel-files.ts";
import { realWorld } from "../../world/world.ts";
import type { Site } from "./check.ts";
import { checkTunnel } from "./tunnel.ts";

const DAY = 86_400_000;
const world = realWorld();
const homes: string[] = [];

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true });
});

type Given = {
  readonly state?: string;
  readonly why?: string;
  readonly certificateDays?: number;
  readonly authorityDays?: number;
};

async function enrolled(given: Given): Promise<string> {
  const { state = "Connected", certificateDays = 20, authorityDays = 3_000 } = given;
  const { why = state === "Connected" ? "" : "why not" } = given;
  const home = mkdtempSync(join(tmpdir(), "holdfast-doctor-"));
  homes.push(home);
  for (const name of ["run", "recovery"]) mkdirSync(join(home, name));
  const lasting = (days: number) => ({ notBefore: Date.now() - DAY, notAfter: Date.now() + days * DAY });
  const authority = await certificates.newAuthority("relay", lasting(authorityDays));
  const { key, request } = await certificates.newRequest();
  const issue = { serial: "40", name: "home", ...lasting(certificateDays) };
  const certificate = (await certificates.issue(authority, request, issue)) ?? "";
  const relay = { host: "relay.test", port: 7443 };
  const at = new Date().toISOString();
  const identity = { relay, id: "1", authority: authority.certificate, certificate, key, enrolledAt: at };
  await writeEnrolment(world.disk, home, identity);
  const status = { pid: process.pid, state, since: at, failures: 0, dialAt: null, why, url: "" };
  writeFileSync(join(home, TUNNEL_STATUS), JSON.stringify(status));
  return home;
}

async function finding(home: string): Promise<string> {
  const [found] = await checkTunnel({ world, home } as unknown as Site);
  const why = found?.status === "warning" ? ` (${found.why})` : "";
  return found === undefined ? "nothing" : `${found.status}: ${found.what}${why}`;
}

test("a tunnel that is well is so; one that is not, or soon will not be, is reported with its reason", async () => {
  expect(await finding(await enrolled({}))).toStartWith("ok: connected to relay.test:7443; certificate until");
  expect(await finding(await enrolled({ certificateDays: 2 }))).toStartWith("warning: the certificate for relay.test");
  expect(await finding(await enrolled({ authorityDays: 80 }))).toStartWith("warning: the authority of relay.test");
  expect(await finding(await enrolled({ state: "BackoffWait" }))).toContain("warning: not connected to relay.test");
  expect(await finding(await enrolled({ state: "Ended" }))).toContain("does not let this home in");
});

test("clocks that differ, and whatever else the relay has said to a home that is connected, are a warning", async () => {
  const why = "One of two clocks is wrong.";
  expect(await finding(await enrolled({ why }))).toBe(
    "warning: connected to relay.test:7443, but something is wrong (One of two clocks is wrong.)",
  );
});

test("a home that is not enrolled is not looked at, and one that is turned off is well", async () => {
  const home = await enrolled({ state: "Disconnected" });
  await writeTunnelWanted(world.disk, home, "off");
  expect(await finding(home)).toBe("ok: turned off; enrolled at relay.test:7443");
  expect(await finding("/none/such/home")).toBe("nothing");
});
