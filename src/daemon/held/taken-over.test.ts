// What is claimed for the host that a home was taken over from, and when.
import { expect, test } from "bun:test";
import { nothing } from "../../../tests/sim/survive.ts";
import { afterPowerCut, simWorld } from "../../../tests/sim/world.ts";
import { readTaken, removeTaken, writeTaken } from "../../home/fleet-files.ts";
import { readHeld } from "../../home/held/held-state.ts";
import type { Aside, BegunProgram } from "../part.ts";
import { claimTaken } from "./taken-over.ts";

const RECORD = { from: "atlas", at: "2026-01-01T00:00:00.000Z", seq: 7, epoch: 2 };

function begun(session: string, number = 1): BegunProgram {
  return { session, directory: `/h/terminals/${session}${number}`, generation: 1 };
}

/** A part with these programs, of which some sessions are set aside. */
function part(programs: readonly BegunProgram[], ...asides: readonly string[]) {
  const aside: Aside = {
    item: { what: "terminal", id: "", name: "", fate: "needs you", reason: "", next: "" },
    session: "",
    bytes: undefined,
    isOver: () => false,
  };
  return { begun: () => programs, asides: new Map(asides.map((id) => [id, aside])) };
}

function home() {
  let world = { ...simWorld(1), home: "/h" };
  let steps = 0;
  return {
    world: () => world,
    claim: (...parts: Parameters<typeof claimTaken>[1]) =>
      claimTaken(world, parts, () => {
        steps += 1;
      }),
    steps: () => steps,
    kindOf: ({ directory }: BegunProgram) => readHeld({ ...world, directory }, 1).kind,
    /** What is not synced is gone. */
    crash: () => {
      world = { ...afterPowerCut(world, nothing), home: "/h" };
    },
  };
}

test("TO1 every program that was begun is claimed for the other host, once: later ones are this host's", async () => {
  const { world, claim, kindOf, steps, crash } = home();
  const [a, b, later] = [begun("a"), begun("b"), begun("a", 2)];
  await claim(part([a]));
  expect([kindOf(a), steps()]).toEqual(["unclaimed", 0]); // It was not taken over.
  await writeTaken(world(), RECORD);
  await claim(part([a]), part([b]));
  crash();
  expect([kindOf(a), kindOf(b), steps()]).toEqual(["lost", "lost", 2]);
  expect(readTaken(world())).toMatchObject({ from: "atlas", claimed: true });
  await claim(part([a, later]), part([b]));
  expect(kindOf(later)).toBe("unclaimed");
});

test("TO2 the programs of a session that was set aside are claimed when it can be read, long after the report", async () => {
  const { world, claim, kindOf, crash } = home();
  const [a, b, later] = [begun("a"), begun("b"), begun("a", 2)];
  await writeTaken(world(), RECORD);
  await claim(part([a, b], "b")); // What is shown of it may be anything.
  await removeTaken(world());
  crash();
  expect([kindOf(a), kindOf(b)]).toEqual(["lost", "unclaimed"]);
  await claim(part([later], "b")); // It still cannot be read.
  await claim(part([later, b]));
  crash();
  expect([kindOf(b), kindOf(later)]).toEqual(["lost", "unclaimed"]);
  await claim(part([begun("b", 3)]));
  expect(kindOf(begun("b", 3))).toBe("unclaimed");
});
