// Backups that were changed, cut, mixed up or made by somebody else: each is refused, and nothing is written outside
// the directory that was named.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { BodyReader, BodyWriter } from "../../src/home/backup/body.ts";
import { sealerOf } from "../../src/home/backup/seal.ts";
import { NotWhole } from "../../src/home/backup/stopped.ts";
import { openRetrying, readWhole, writeAll } from "../../src/log/file/file.ts";
import { CHUNK_BYTES, footerText, headerOf, headerText, indexOf } from "../../src/wire/backup.ts";
import { crc32, sha256 } from "../../src/world/hash.ts";
import { compress } from "../../src/world/real/zstd.ts";
import {
  AGENT,
  append,
  backUp,
  FILE,
  filesBelow,
  HOME,
  isWhole,
  opened,
  openLog,
  put,
  restoreTo,
  smallHome,
} from "./backup.ts";
import { SimDisk } from "./disk.ts";
import { parameters, sampleOf } from "./fuzz/profile.ts";
import { SimRandom } from "./random.ts";

const ID = "3f2a9c0d11224e55a6677889900aabbc";
const SECRET = "a very secret word";

function write(disk: SimDisk, path: string, bytes: Uint8Array): void {
  const file = openRetrying(disk, path, "create");
  file.truncate(0);
  writeAll(file, bytes, 0);
  file.close();
}

/** A backup with this index, whose contents are one block. */
function craft(
  disk: SimDisk,
  lines: readonly unknown[],
  { packed = compress(Buffer.from("12345")), length = 5 } = {},
): void {
  const header = Buffer.from(headerText({ id: ID, at: "", base: null, seal: null }));
  const top = { seq: 1, version: "", home: { id: null, path: "" }, bases: [], length, blocks: [packed.length] };
  const index = Buffer.from([top, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const block = (bytes: Uint8Array, raw: number) => {
    const head = Buffer.alloc(12);
    head.writeUInt32BE(bytes.length, 0);
    head.writeUInt32BE(raw, 4);
    head.writeUInt32BE(crc32(bytes), 8);
    return Buffer.concat([head, bytes]);
  };
  const contents = block(packed, length);
  const digest = sha256(Buffer.concat([header, index]));
  const foot = footerText({ tail: contents.length, bytes: index.length, digest });
  write(disk, FILE, Buffer.concat([header, contents, block(compress(index), index.length), Buffer.from(foot)]));
}

const entry = (path: string, at = [[0, 0, 5]], size = 5) => ({ path, size, sha256: sha256("12345"), at });

async function outcome(work: () => Promise<unknown>): Promise<"fine" | "refused"> {
  try {
    await work();
    return "fine";
  } catch (error) {
    if (
      error instanceof NotWhole ||
      (error instanceof Error && /^(?:This is not a backup|This backup is of a newer)/.test(error.message))
    )
      return "refused";
    throw error;
  }
}

test("each byte of a backup counts: with any of them changed it is refused", async () => {
  const disk = new SimDisk();
  await smallHome(disk, 6);
  expect((await backUp(disk)).ok).toBe(true);
  const bytes = readWhole(disk, FILE) ?? new Uint8Array();
  const places = sampleOf([...bytes.keys()], 8, 0);
  for (const at of places) {
    const changed = bytes.slice();
    changed[at] = (changed[at] ?? 0) ^ 1;
    write(disk, FILE, changed);
    expect([at, await outcome(() => isWhole(disk))]).toEqual([at, "refused"]);
  }
  for (const length of places) {
    write(disk, FILE, bytes.subarray(0, length));
    expect([length, await outcome(() => isWhole(disk))]).toEqual([length, "refused"]);
  }
});

test("an encrypted backup shows nothing, opens only with its passphrase, and is not opened if its header was changed", async () => {
  const disk = new SimDisk();
  const log = await smallHome(disk, 2);
  await append(log, AGENT, SECRET);
  expect((await backUp(disk, { passphrase: "correct horse" })).ok).toBe(true);
  const bytes = readWhole(disk, FILE) ?? new Uint8Array();
  for (const word of [SECRET, AGENT.slice(7), "events.jsonl", "terminals", HOME])
    expect([word, Buffer.from(bytes).includes(word)]).toEqual([word, false]);
  await expect(opened(disk, FILE, "battery staple")).rejects.toThrow(`This passphrase does not open ${FILE}`);
  const text = new TextDecoder("latin1").decode(bytes);
  write(disk, FILE, Buffer.from(text.replace(/"at":"2/, '"at":"3'), "latin1"));
  await expect(opened(disk, FILE, "correct horse")).rejects.toThrow(NotWhole);
});

test("sealed chunks that were swapped, doubled, left out, cut off or appended do not open", async () => {
  const disk = new SimDisk();
  const random = new SimRandom(7);
  const sealer = sealerOf(Uint8Array.from(random.bytes(32)), Buffer.from("header"));
  const plain = random.bytes(3 * CHUNK_BYTES + 100);
  const file = openRetrying(disk, "/sealed", "create");
  const writer = new BodyWriter(file, 0, sealer);
  await writer.write(plain);
  await writer.finish();
  const read = async (bytes: Uint8Array, by = sealer) => {
    write(disk, "/changed", bytes);
    const body = new BodyReader(openRetrying(disk, "/changed", "read"), 0, by);
    return body.read(0, body.length);
  };
  const all = readWhole(disk, "/sealed") ?? new Uint8Array();
  expect(Buffer.compare(await read(all), plain)).toBe(0);
  const size = CHUNK_BYTES + 16;
  const chunks = [0, 1, 2, 3].map((n) => all.subarray(n * size, (n + 1) * size));
  const orders = [[1, 0, 2, 3], [0, 1, 1, 3], [0, 1, 1, 2, 3], [0, 1, 3], [0, 1, 2], [0], [0, 1, 2, 3, 3], [3]];
  for (const order of orders)
    expect([order, await outcome(() => read(Buffer.concat(order.flatMap((n) => chunks[n] ?? []))))]).toEqual([
      order,
      "refused",
    ]);
  expect(await outcome(() => read(all.subarray(0, -1)))).toBe("refused");
  expect(await outcome(() => read(Buffer.concat([all, Buffer.alloc(5)])))).toBe("refused");
  const other = sealerOf(Uint8Array.from(random.bytes(32)), Buffer.from("header"));
  expect(await outcome(() => read(all, other))).toBe("refused");
});

test("an index that names a place outside, a place twice, or bytes that are not there is refused; so is a bomb", async () => {
  const disk = new SimDisk();
  disk.makeDirectory("/out");
  const good = entry("recovery/a.json");
  craft(disk, [
    good,
    entry("recovery/b.json", [
      [0, 0, 2],
      [0, 2, 3],
    ]),
  ]);
  expect((await restoreTo(disk)).ok).toBe(true);
  expect(filesBelow(disk, "/restored")).toMatchObject({ "recovery/a.json": "12345", "recovery/b.json": "12345" });
  const paths = [
    ...[
      "../x",
      "/etc/passwd",
      "recovery/../../x",
      "recovery/./x",
      "recovery//x",
      "recovery/",
      "",
      ".",
      "run/token",
      "x",
    ],
    ...[
      "recovery",
      "recovery/a\0b",
      `recovery/${"x".repeat(256)}`,
      `recovery/${"x/".repeat(100)}y`,
      "wal.lock",
      "Recovery/x",
    ],
  ];
  const lines = [
    ...paths.map((path) => [entry(path)]),
    ...[
      [good, good],
      [good, entry("recovery/a.json/b")],
      [entry("recovery/x/y"), entry("recovery/x")],
    ],
    ...[[entry("recovery/x", [[0, 0, 6]], 6)], [entry("recovery/x", [[1, 0, 5]])], [entry("recovery/x", [[0, -1, 5]])]],
    ...[[entry("recovery/x", [[0, 0, 5]], 4)], [{}], ["x"], [null]],
  ];
  for (const hostile of lines) {
    craft(disk, hostile);
    expect([hostile, await outcome(() => isWhole(disk))]).toEqual([hostile, "refused"]);
  }
  craft(disk, [{ ...good, sha256: sha256("12346") }]);
  expect(await restoreTo(disk, "/other")).toMatchObject({ ok: false, error: { code: "backup.damaged" } });
  for (const bomb of [
    { packed: compress(new Uint8Array(64 << 20)), length: 5 },
    { packed: compress(new Uint8Array(5)), length: 1 << 30 },
  ]) {
    craft(disk, [good], bomb);
    expect(await outcome(() => isWhole(disk))).toBe("refused");
  }
  expect(disk.list("/").sort()).toEqual(["out", "restored"]);
});

test("whatever a header or an index says, it is taken as one or refused; no path leads out", () => {
  const word = fc.constantFrom("recovery", "..", ".", "", "agents", "\0", "a", "/", "\\", "wal", "é");
  const path = fc.array(word, { maxLength: 5 }).map((words) => words.join("/"));
  const line = fc.oneof(
    fc.json(),
    fc
      .record({
        path,
        size: fc.nat(9),
        sha256: fc.constant(sha256("")),
        at: fc.array(fc.array(fc.integer(), { maxLength: 4 })),
      })
      .map((one) => JSON.stringify(one)),
  );
  const top = JSON.stringify({ seq: 1, version: "", home: { id: null, path: "" }, bases: [], length: 9, blocks: [1] });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), fc.string(), (lines, text) => {
      headerOf(text);
      const index = indexOf([top, ...lines, ""].join("\n"));
      for (const { path } of index.ok ? index.value.entries : []) {
        expect(
          path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && !name.includes("\0")),
        ).toBe(true);
        expect(path.startsWith("/")).toBe(false);
      }
    }),
    parameters(1),
  );
});

test("one that builds on others has only what they have not, and is restored with them and with no others", async () => {
  const disk = new SimDisk();
  const log = await smallHome(disk, 6);
  const printed = "x".repeat(1 << 21);
  const tape = `${HOME}/terminals/77778c0d11224e55a6677889900aabbc/tape/0000000000000000.seg`;
  put(disk, tape, printed);
  await log.drain();
  expect((await backUp(disk)).ok).toBe(true);
  const second = "/out/b.backup";
  put(disk, tape, `${printed}, and more`);
  await append(log, AGENT, "the seventh");
  const base = await opened(disk);
  const done = await backUp(disk, { path: second, base });
  expect(done.ok && done.value.own).toBeLessThan(10_000);
  const third = "/out/c.backup";
  await append(log, AGENT, "the eighth");
  disk.rename(`${HOME}/terminals`, `${HOME}/tmux`); // What has another name is not repeated either.
  const last = await backUp(disk, { path: third, base: await opened(disk, second) });
  expect(last.ok && last.value.own).toBeLessThan(10_000);
  disk.rename(`${HOME}/tmux`, `${HOME}/terminals`);
  expect((await restoreTo(disk, "/two", second)).ok).toBe(true);
  expect((await restoreTo(disk, "/three", third)).ok).toBe(true);
  const restored = filesBelow(disk, "/two");
  expect(restored[tape.slice(HOME.length + 1)]).toBe(`${printed}, and more`);
  expect(Object.values(filesBelow(disk, "/three")).join("")).toContain("the eighth");
  expect(Object.values(restored).join("")).not.toContain("the eighth");
  expect((await backUp(disk, { force: true })).ok).toBe(true); // The same name, but another backup.
  await expect(opened(disk, third)).rejects.toThrow("builds on another backup (a.backup,");
});

test("a log that is held can be closed", async () => {
  const disk = new SimDisk();
  const log = await openLog(disk);
  await log.still.hold();
  const closed = log.close(); // A backup that holds it does not keep the daemon from ending.
  await closed;
});
