// A home is taken in its fleet's database by a daemon whose disk has no room.
import { expect, test } from "bun:test";
import { SimClock } from "../../../tests/sim/clock.ts";
import { SimDisk } from "../../../tests/sim/disk.ts";
import { driven, SimPostgres } from "../../../tests/sim/postgres.ts";
import { SimRandom } from "../../../tests/sim/random.ts";
import { FleetSeal } from "../../fleet/seal.ts";
import { readOwner } from "../../home/fleet-files.ts";
import { keepBallast } from "../../log/file/ballast.ts";
import { realSelf } from "../../world/self.ts";
import { realWorld } from "../../world/world.ts";
import { FleetMember, type MemberPorts } from "./member.ts";

const HOME = "/h";
const SIZE = 16_384;

function made() {
  const [clock, disk, random] = [new SimClock(), new SimDisk(), new SimRandom(1)];
  disk.plant(`${HOME}/fleet/x`, new Uint8Array());
  disk.plant("/key", Buffer.from(FleetSeal.newFile(random)));
  const postgres = new SimPostgres({ clock, random, mode: "sync", rate: 0 });
  const config: MemberPorts["config"] = {
    ...{ url: "postgres://a@/b?host=/s", keyFile: "/key", host: "", ssh: "", page: "", leaseS: 10, takeover: "auto" },
    ...{ take: [], mirror: [], homes: "/homes", labels: [], capacity: 0, tapeBytes: 0, carryBytes: 0 },
  };
  const world = { ...realWorld(), disk, clock, random, home: HOME, self: realSelf() };
  const said: string[] = [];
  const member = FleetMember.of({
    ...{ world: world as never, postgres, config, home: "1", host: "one" },
    say: (words) => void said.push(words),
    gone: () => undefined,
  });
  if (!member.ok) throw new Error(member.error.message);
  return { clock, disk, said, member: member.value };
}

test("FM6 on a full disk a home is taken with the room that was set aside", async () => {
  const { clock, disk, member } = made();
  disk.capacity = SIZE * 5;
  expect(await keepBallast(disk, HOME, SIZE)).toBe(true);
  disk.plant(`${HOME}/more`, new Uint8Array(SIZE * 4));
  expect(await driven(clock, member.begin())).toBe("owner");
  expect(disk.stat(`${HOME}/ballast`)).toBeUndefined();
  member.close();
});

test("FM6 if there is none, it waits until there is room, and says so", async () => {
  const { clock, disk, said, member } = made();
  disk.capacity = 0;
  const begun = member.begin();
  for (let seconds = 0; seconds < 60; seconds += 1) {
    await clock.settle();
    clock.advance(1_000);
  }
  expect(member.status()).toMatchObject({ role: "waiting", why: expect.stringContaining("this disk is full") });
  expect(said).toHaveLength(1);
  expect(readOwner({ disk, home: HOME })).toBeUndefined();
  disk.capacity = SIZE * 5;
  expect(await driven(clock, begun)).toBe("owner");
  member.close();
});
