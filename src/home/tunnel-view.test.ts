import { afterEach, expect, test } from "bun:test";
import { cleanUp, newHome, world } from "../../tests/web/host.ts";
import { put } from "../../tests/world/places.ts";
import { tunnelView } from "./tunnel-view.ts";

afterEach(cleanUp);

const PEM = "-----BEGIN none";
const ENROLLED = {
  ...{ v: 1, relay: { host: "relay.example.org", port: 7443 }, id: "h1", enrolledAt: "" },
  ...{ authority: PEM, certificate: PEM, key: PEM },
};

class Place {
  readonly home = newHome();

  has(path: string, value: object): this {
    world.disk.makeDirectory(`${this.home}/tunnel`);
    put(world.disk, `${this.home}/${path}`, JSON.stringify(value));
    return this;
  }

  enrolled(): this {
    return this.has("tunnel/identity.json", ENROLLED);
  }

  does(state: string, why = "", pid = process.pid): this {
    const at = "2026-11-18T06:00:00.000Z";
    return this.has("run/tunnel.json", { pid, state, since: at, failures: 0, dialAt: null, why, url: "" });
  }

  get view() {
    return tunnelView(world, this.home);
  }
}

test("what to do next follows from the state, and is empty only while the home is connected", () => {
  const next = (place: Place) => place.view.next;
  expect(next(new Place())).toContain("tunnel enroll");
  expect(next(new Place().enrolled().does("Connected"))).toBe("");
  expect(next(new Place().enrolled().does("BackoffWait"))).toContain("by itself");
  expect(next(new Place().enrolled().does("Ended"))).toContain("with a new token");
  const off = new Place().enrolled().does("Disconnected").has("tunnel/wanted.json", { v: 1, wanted: "off" });
  expect([off.view.wanted, next(off)]).toEqual(["off", "`holdfast tunnel on` connects it again."]);
});

test("TV1 a state that a dead web host has written does not count", () => {
  const { view } = new Place().enrolled().does("Connected", "", 2 ** 22 + 1);
  expect(view).toMatchObject({ state: "Disconnected", since: null, relay: "relay.example.org:7443" });
  expect([view.why, view.next]).toEqual(["The web host does not run.", "`holdfast up`"]);
  const safe = new Place().enrolled().has("recovery/safe-mode.json", { v: 1, active: true, reason: "x", since: "" });
  expect([safe.view.why, safe.view.next].join(" ")).toContain("safe mode");
});
