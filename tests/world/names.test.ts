// Claims about names (rename, link), and any script of calls at all: the simulated disk answers as the machine's own.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Disk } from "../../src/world/disk.ts";
import { bytes, DISKS, faultOf, get, places, put } from "./places.ts";

const fresh = places();

for (const [name, make] of Object.entries(DISKS)) {
  describe(`the ${name} disk`, () => {
    test("renames over an existing file, also into another directory", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "new");
      put(disk, `${root}/b`, "old");
      disk.rename(`${root}/a`, `${root}/b`);
      expect([disk.list(root), get(disk, `${root}/b`)]).toEqual([["b"], "new"]);
      disk.makeDirectory(`${root}/d`);
      disk.rename(`${root}/b`, `${root}/d/b`);
      expect([disk.list(root), get(disk, `${root}/d/b`)]).toEqual([["d"], "new"]);
      expect(faultOf(() => disk.rename(`${root}/b`, `${root}/c`))).toBe("rename b ENOENT");
      expect(faultOf(() => disk.rename(`${root}/d/b`, `${root}/e/b`))).toEndWith("ENOENT");
    });

    test("renames directories with all they hold, and never over something that is not an empty directory", () => {
      const { disk, root } = fresh(make);
      for (const directory of ["d", "e", "f"]) disk.makeDirectory(`${root}/${directory}`);
      put(disk, `${root}/d/a`, "1");
      put(disk, `${root}/f/b`, "2");
      put(disk, `${root}/file`, "3");
      expect(faultOf(() => disk.rename(`${root}/d`, `${root}/f`))).toEndWith("ENOTEMPTY");
      expect(faultOf(() => disk.rename(`${root}/d`, `${root}/file`))).toEndWith("ENOTDIR");
      expect(faultOf(() => disk.rename(`${root}/file`, `${root}/e`))).toEndWith("EISDIR");
      disk.rename(`${root}/d`, `${root}/e`);
      expect(get(disk, `${root}/e/a`)).toBe("1");
    });

    test("links a second name to one file, and a rename of one onto the other does nothing", () => {
      const { disk, root } = fresh(make);
      put(disk, `${root}/a`, "1");
      disk.link(`${root}/a`, `${root}/b`);
      put(disk, `${root}/b`, "2");
      expect(get(disk, `${root}/a`)).toBe("2");
      expect(faultOf(() => disk.link(`${root}/a`, `${root}/b`))).toBe("link b EEXIST");
      expect(faultOf(() => disk.link(`${root}/none`, `${root}/c`))).toEndWith("ENOENT");
      disk.rename(`${root}/a`, `${root}/b`);
      expect(disk.list(root).sort()).toEqual(["a", "b"]);
      disk.unlink(`${root}/a`);
      expect(get(disk, `${root}/b`)).toBe("2");
    });
  });
}

type Step = { readonly what: string; readonly one: string; readonly two: string; readonly size: number };

function perform(disk: Disk, root: string, { what, one, two, size }: Step): unknown {
  const [from, to] = [`${root}/${one}`, `${root}/${two}`];
  const acts: Record<string, () => unknown> = {
    put: () => put(disk, from, "x".repeat(size)),
    get: () => get(disk, from),
    truncate: () => {
      const file = disk.open(from, "write");
      file.truncate(size);
      file.close();
    },
    exclusive: () => disk.open(from, "exclusive").close(),
    sparse: () => {
      const file = disk.open(from, "write");
      file.write(bytes("*"), size);
      file.close();
    },
    list: () => disk.list(from).sort(),
    stat: () => disk.stat(from)?.kind,
    makeDirectory: () => disk.makeDirectory(from),
    removeDirectory: () => disk.removeDirectory(from),
    rename: () => disk.rename(from, to),
    link: () => disk.link(from, to),
    unlink: () => disk.unlink(from),
  };
  let answer: unknown;
  const fault = faultOf(() => {
    answer = acts[what]?.();
  });
  // Linux opens a directory for reading and refuses the read; the simulated disk refuses at once.
  return fault === "none" ? answer : fault.replace(/^read (.* EISDIR)$/, "open $1");
}

test("any script of calls gets the same answers from both disks", () => {
  const path = fc.constantFrom("a", "b", "d", "d/a", "d/b", "e", "e/a");
  const what = fc.constantFrom(
    ...["put", "get", "truncate", "exclusive", "sparse", "list", "stat", "makeDirectory"],
    ...["removeDirectory", "rename", "link", "unlink", "makeDirectory", "put", "rename"],
  );
  const step = fc.record({ what, one: path, two: path, size: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 40, size: "max" }), (steps) => {
      const [real, simulated] = Object.values(DISKS).map((make) => {
        const { disk, root } = fresh(make);
        for (const directory of ["d", "e"]) disk.makeDirectory(`${root}/${directory}`);
        return steps.map((one) => perform(disk, root, one));
      });
      expect(simulated).toEqual(real);
    }),
    { numRuns: 150, seed: 7 },
  );
});
