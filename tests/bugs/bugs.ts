// The deliberate bugs: how each is put into the sources as they are loaded, which check must catch it, and what that
// check then says.
// B1. A change replaces a text that occurs in its file exactly once. If it does not, the source has moved and the bug
//     must follow.
// B2. `source` breaks our own code; `world` makes the simulated disk lie. Production code has no switch for either.
// B3. `says` is part of the broken promise, so that a bug which is caught for another reason does not count.
import { AGENT_BUGS } from "./agent-bugs.ts";
import type { CheckName } from "./checks.ts";
import { FLEET_BUGS } from "./fleet-bugs.ts";

export type Change = { readonly file: string; readonly from: string; readonly to: string };

export type Bug = {
  readonly bug: string;
  readonly how: "source" | "world";
  readonly what: string;
  readonly changes: readonly Change[];
  readonly caughtBy: CheckName;
  readonly says: RegExp;
};

const TOO_FEW = /\d+ transactions were acknowledged, \d+ are there/;
const HALF = /agents\/\d+ has \[[\d,]*\], expected \[[\d,]*\]/;
/** Its outcome depends on whether a later line of the same session is there to miss it. */
const LINE_LOST =
  /"seq \d+ follows \d+, but the last unharmed line is \d+"|\d+ transactions were acknowledged, \d+ are there/;
const NOT_WHOLE = /the checkpoint is whole, but/;
const NOT_NEWEST = /checkpoint \d+ was promised, the newest is \d+/;

export const BUGS: readonly Bug[] = [
  {
    bug: "page cache trusted after a kill (write-ahead log)",
    how: "source",
    what: "recovery brings what a killed writer left in the page cache into the session logs, without writing it anew first",
    changes: [
      {
        file: "src/log/recover.ts",
        from: "  await writeAtomic(disk, path, anew(wal));\n",
        to: "  await disk.syncDirectory(joinPath(home, WAL_DIRECTORY));\n",
      },
    ],
    caughtBy: "crash sweep inside recovery",
    says: HALF,
  },
  {
    bug: "page cache trusted after a kill (session logs)",
    how: "source",
    what: "lines that a session's log shows already are not written again",
    changes: [
      {
        file: "src/log/recover.ts",
        from: "    const { verdict, again, before } = judgeLog(disk, joinPath(home, name), drained, live.get(name) ?? []);",
        to: `    const tail = tailOf(disk, eventsPath(home, name), Number.POSITIVE_INFINITY);
    const there = tail.findLast((line) => line.head !== undefined)?.head?.seq ?? 0;
    const rest = (live.get(name) ?? []).filter(({ head }) => head.seq > there);
    const { verdict, again, before } = judgeLog(disk, joinPath(home, name), Math.max(drained, there), rest);`,
      },
    ],
    caughtBy: "crash sweep",
    says: LINE_LOST,
  },
  {
    bug: "old lines of a recycled segment accepted",
    how: "source",
    what: "every line of a segment counts as one of its newest generation",
    changes: [
      {
        file: "src/log/wal/segment-scan.ts",
        from: "if (!old || start === last?.start || isNext(start, last) || (breaks && isHarmed(bytes, start)))",
        to: "if (!old || start >= 0)",
      },
      {
        file: "src/log/wal/segment-scan.ts",
        from: "decodeFrame(bytes.subarray(at, line.end), top)",
        to: "decodeFrame(bytes.subarray(at, line.end), 0)",
      },
      {
        file: "src/log/wal/segment-scan.ts",
        from: "found.frames.push({ ...frame, ",
        to: "found.frames.push({ ...frame, gen: Math.max(top, frame.gen), ",
      },
    ],
    caughtBy: "crash sweep",
    says: TOO_FEW,
  },
  {
    bug: "a torn batch taken for damage",
    how: "source",
    what: "a seq that is missing above every durable mark is reported as lost instead of being cut",
    changes: [
      {
        file: "src/log/wal/wal-fold.ts",
        from: "if (missing.to > durable && missing.to >= missing.from) {",
        to: "if (Number.isNaN(durable)) {",
      },
    ],
    caughtBy: "torn batch sweep",
    says: /nothing is lost, but/,
  },
  {
    bug: "acknowledge early",
    how: "source",
    what: "a batch is announced when it is written, and synced after that",
    changes: [
      {
        file: "src/log/wal/wal.ts",
        from: "        const syncing = this.elsewhere === undefined ?",
        to: "        batch.done.resolve();\n        await new Promise<void>((go) => this.#clock.soon(go));\n        const syncing = this.elsewhere === undefined ?",
      },
    ],
    caughtBy: "crash sweep",
    says: TOO_FEW,
  },
  {
    bug: "no fsync (write-ahead log)",
    how: "source",
    what: "a batch is announced without a sync",
    changes: [
      {
        file: "src/log/wal/wal.ts",
        from: "const syncing = this.elsewhere === undefined ? this.#sync() :",
        to: "const syncing = this.elsewhere === undefined ? undefined :",
      },
    ],
    caughtBy: "crash sweep",
    says: TOO_FEW,
  },
  {
    bug: "no fsync (session logs)",
    how: "source",
    what: "segments are used again although the session logs were never synced",
    changes: [
      {
        file: "src/log/session/session-writer.ts",
        from: "    await Promise.all(files.map((file) => file.datasync()));\n",
        to: "",
      },
    ],
    caughtBy: "crash sweep",
    says: LINE_LOST,
  },
  {
    bug: "no fsync (a disk that lies)",
    how: "world",
    what: "the disk says that it has synced a file, and has not",
    changes: [
      {
        file: "tests/sim/file.ts",
        from: "    this.disk.finishSync(sync, this.disk.tree.lastSeq, choice);\n",
        to: "    this.disk.finishSync(sync, 0, choice);\n",
      },
    ],
    caughtBy: "crash sweep",
    says: TOO_FEW,
  },
  {
    bug: "rename without fsync",
    how: "source",
    what: "an atomic file takes its name before its bytes are synced",
    changes: [{ file: "src/log/file/atomic-file.ts", from: "    await temp.sync(); // A1\n", to: "" }],
    caughtBy: "checkpoint crash sweep",
    says: NOT_WHOLE,
  },
  {
    bug: "no directory fsync (atomic file)",
    how: "source",
    what: "an atomic file is announced although its new name is not durable",
    changes: [
      {
        file: "src/log/file/atomic-file.ts",
        from: "  await Promise.all([...directories].map((directory) => disk.syncDirectory(directory))); // A2\n",
        to: "",
      },
    ],
    caughtBy: "checkpoint crash sweep",
    says: NOT_NEWEST,
  },
  {
    bug: "no directory fsync (session logs)",
    how: "source",
    what: "segments are used again although the names of new session logs are not durable",
    changes: [
      {
        file: "src/log/session/session-writer.ts",
        from: "    for (const directory of unsyncedNames(home, writes)) await disk.syncDirectory(directory);\n",
        to: "",
      },
    ],
    caughtBy: "crash sweep",
    says: LINE_LOST,
  },
  {
    bug: "no directory fsync (a disk that lies)",
    how: "world",
    what: "the disk says that it has synced a directory, and has not",
    changes: [
      {
        file: "tests/sim/disk.ts",
        from: `    await this.syncGated({ operation: "syncDirectory", path, id });\n`,
        to: `    this.enter("syncDirectory", path);\n`,
      },
    ],
    caughtBy: "checkpoint crash sweep",
    says: NOT_NEWEST,
  },
  {
    bug: "checkpoint in place",
    how: "source",
    what: "a checkpoint is written over the one before it, then synced",
    changes: [
      {
        file: "src/log/checkpoint/store.ts",
        from: "await writeAtomic(disk, options.path, bytes, {",
        to: "await writeInPlace({ disk, path: options.path, bytes }, {",
      },
      {
        file: "src/log/checkpoint/store.ts",
        from: "function verify(",
        to: `async function writeInPlace({ disk, path, bytes }, { beforeCommit }) {
  const file = disk.open(path, "create");
  file.truncate(0);
  file.write(bytes, 0);
  await file.sync();
  await beforeCommit(file);
  file.close();
  await disk.syncDirectory(parentOf(path));
}
function verify(`,
      },
    ],
    caughtBy: "checkpoint crash sweep",
    says: NOT_WHOLE,
  },
  {
    bug: "torn tail left",
    how: "source",
    what: "a half line at the end of a session's log stays, and the next line is written behind it",
    changes: [
      {
        file: "src/log/session/session-log.ts",
        from: "  return { from, kept, torn: harmed, last, broken };",
        to: "  return { from, kept: [...kept, ...harmed], torn: [], last, broken };",
      },
    ],
    caughtBy: "crash sweep",
    says: /reads clean, but has \{"kind":"harmed"/,
  },
  {
    bug: "fsync retried",
    how: "source",
    what: "a sync that failed is repeated, and the second one succeeds",
    changes: [
      {
        file: "src/log/wal/sync-pace.ts",
        from: "    file.datasyncBlocking();\n",
        to: `    try {
      file.datasyncBlocking();
    } catch {
      file.datasyncBlocking();
    }
`,
      },
    ],
    caughtBy: "failed sync sweep",
    says: TOO_FEW,
  },
  {
    bug: "short write ignored",
    how: "source",
    what: "a write that took a part counts as one that took all",
    changes: [{ file: "src/log/file/file.ts", from: "    done += taken;\n", to: "    done = bytes.length;\n" }],
    caughtBy: "short write sweep",
    says: /"its last bytes are harmed"/,
  },
  {
    bug: "no checksum (log)",
    how: "source",
    what: "lines of the write-ahead log and of session logs are believed whatever their checksum says",
    changes: [
      {
        file: "src/log/wal/frame.ts",
        from: "  if (sum !== crc32(line.subarray(start), gen.value) >>> 0) return undefined; // F1\n",
        to: "",
      },
      {
        file: "src/log/session/entry.ts",
        from: "return sum !== undefined && sum === crc32(line.subarray(0, at)) >>> 0;",
        to: "return sum !== undefined;",
      },
    ],
    caughtBy: "bit rot in the log",
    says: /a flipped bit in .* is not believed, but/,
  },
  {
    bug: "no checksum (checkpoint)",
    how: "source",
    what: "a checkpoint is believed whatever its SHA-256 says",
    changes: [
      {
        file: "src/log/checkpoint/envelope.ts",
        from: "if (!ends || hashOf(bytes, bodyFrom, form) !== head.sha256)",
        to: "if (!ends)",
      },
    ],
    caughtBy: "bit rot in a checkpoint",
    says: /a flipped bit at \d+ is not believed, but/,
  },
  {
    bug: "dedupe off",
    how: "source",
    what: "recovery appends what the write-ahead log has, also where the session's log has it already",
    changes: [
      {
        file: "src/log/session/session-log.ts",
        from: "  return { from, kept, torn: harmed, last, broken };",
        to: "  const end = lines.at(-1)?.end ?? from;\n  return { from: end, kept: [], torn: [], last, broken };",
      },
    ],
    caughtBy: "crash sweep",
    says: /reads clean, but has \{"kind":"double"/,
  },
  {
    bug: "a record of a journal is confirmed before it is durable",
    how: "source",
    what: "a program is started, and an end is told, when the record was only written",
    changes: [{ file: "src/log/file/journal.ts", from: "    await this.#pace.sync(this.#file); // J1\n", to: "" }],
    caughtBy: "journal crash sweep",
    says: /attempt \d was started, but is unclaimed|the end of attempt \d was told, but it is/,
  },
  {
    bug: "a step is started before its claim is durable",
    how: "source",
    what: "the file of the claim alone counts, which a power cut removes",
    changes: [
      {
        file: "src/holder/records.ts",
        from: 'assert(await journal.append({ of: nameOf(directory, journal), claim: facts }), "there is room for a claim");',
        to: "nameOf(directory, journal);",
      },
    ],
    caughtBy: "journal crash sweep",
    says: /attempt \d was started, but is unclaimed/,
  },
  {
    bug: "the end of a step is told before it is durable",
    how: "source",
    what: "the file of the exit alone counts, which a power cut removes",
    changes: [
      {
        file: "src/holder/records.ts",
        from: "    if (!(await journal.append({ of: nameOf(directory, journal), exit }))) return false;\n",
        to: "",
      },
    ],
    caughtBy: "journal crash sweep",
    says: /the end of attempt \d was told, but it is/,
  },
  {
    bug: "a torn record of a journal is believed",
    how: "source",
    what: "records are read whatever their checksum says",
    changes: [
      {
        file: "src/log/file/journal.ts",
        from: 'if (use === "" || hex8(crc32(text, Number(use))) !== sum) return undefined; // J2',
        to: 'if (use === "") return undefined;',
      },
    ],
    caughtBy: "journal crash sweep",
    says: /only what was recorded is read, but/,
  },
  {
    bug: "the output of a step is durable, and its directory is not",
    how: "source",
    what: "the name of the attempt's directory is not synced before the end is told",
    changes: [
      {
        file: "src/holder/records.ts",
        from: "    if (hasTapes) await disk.syncDirectory(parentOf(directory)); // The tapes are durable, but in which directory?\n",
        to: "",
      },
    ],
    caughtBy: "journal crash sweep",
    says: /attempt \d has its output/,
  },
  ...AGENT_BUGS,
  ...FLEET_BUGS,
];
