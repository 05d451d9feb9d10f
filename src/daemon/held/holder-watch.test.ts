// Reports about a directory, from a simulated system that the test controls.
import { expect, test } from "bun:test";
import { Fault } from "../../base/fault.ts";
import { HolderWatch } from "./holder-watch.ts";

/** A system that watches one directory at a time, or none if its limit is reached. */
class System {
  readonly seen = { begun: 0, ended: 0 };
  enough = false;
  tell: (name: string) => void = () => undefined;

  directory(path: string, changed: (name: string) => void): () => void {
    if (this.enough) throw new Fault({ code: "ENOSPC", operation: "watch", path });
    this.seen.begun += 1;
    this.tell = changed;
    return () => {
      this.seen.ended += 1;
    };
  }
}

test("sockets are reported, other files are not; it is watched once, and again on request", () => {
  const system = new System();
  const told: string[] = [];
  const watch = new HolderWatch(system, "/h/run", (socket) => told.push(socket));
  expect([watch.open(), watch.open(), system.seen]).toEqual([true, true, { begun: 1, ended: 0 }]);
  for (const name of ["a.sock", "seen.json", "b.sock"]) system.tell(name);
  expect(told).toEqual(["a.sock", "b.sock"]);
  watch.renew();
  expect(system.seen).toEqual({ begun: 2, ended: 1 });
  watch.close();
  expect(system.seen).toEqual({ begun: 2, ended: 2 });
});

test("a system whose limit of watches is reached is asked again later", () => {
  const system = new System();
  const watch = new HolderWatch(system, "/h/run", () => undefined);
  system.enough = true;
  expect(watch.open()).toBe(false);
  system.enough = false;
  expect(watch.open()).toBe(true);
});
