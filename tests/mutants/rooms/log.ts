// The mutants in src/log (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const LOG: readonly Mutant[] = [
  {
    mutant: "a journal that another process has used since is written again",
    file: "src/log/file/journal.ts",
    from: "if (isOurs && contentsOf(readAll(file, 0, JOURNAL_BYTES)).use === use.use - 1)",
    to: "if (isOurs)",
    killedBy: {
      file: "src/log/file/journal.test.ts",
      test: "J4 it is used by one process at a time, and only if it is as that one was told",
    },
  },
  {
    mutant: "a journal is written on after a failed flush",
    file: "src/log/file/journal.ts",
    from: "    this.#broken = true; // J5, until it is on the disk.\n",
    to: "",
    killedBy: {
      file: "src/log/file/journal.test.ts",
      test: "J5 after a failed flush, and when it is full, it takes nothing more",
    },
  },
  {
    mutant: "a checkpoint takes pages of another file, or damaged ones, for its own",
    file: "src/log/checkpoint/page-file.ts",
    from: "bytes.length === Number(length) && hashOf(bytes) === hash ?",
    to: "bytes.length === Number(length) ?",
    killedBy: {
      file: "tests/workflow/item-pages.test.ts",
      test: "PF2 UC-7(d) a damaged page, a page of another file, or none is never taken for it: an older one or the log is used",
    },
  },
  {
    mutant: "a checkpoint of a newer version is passed over for an older one",
    file: "src/log/checkpoint/load.ts",
    from: `    if (reading.kind === "newer")
      return { kind: "refused", refusal: refuseNewer(path, reading.version, expected.version).error }; // G2
`,
    to: '    if (reading.kind === "newer") continue;\n',
    killedBy: {
      file: "src/log/checkpoint/store.test.ts",
      test: "versions > TC-6(c) a newer one is refused with both numbers and a hint, and is never overwritten",
    },
  },
  {
    mutant: "the ballast is made although there is little room",
    file: "src/log/file/ballast.ts",
    from: "    if (disk.free(home) < COMFORT * bytes) return false; // B1\n",
    to: "",
    killedBy: {
      file: "src/log/file/ballast.test.ts",
      test: "none is made with less than four times its size free",
    },
  },
  {
    mutant: "a failed sync of a directory is repeated for the same names",
    file: "src/log/file/durable-directories.ts",
    from: "    if (this.#doubtful.has(level)) this.#removeDoubtful(level);\n",
    to: "",
    killedBy: {
      file: "src/log/file/durable-directories.test.ts",
      test: "DD3 names that were made before a failed sync are made anew; one that is in use gets the failure",
    },
    isSentinel: true,
  },
  {
    mutant: "the name of an existing directory is not made durable",
    file: "src/log/file/durable-directories.ts",
    from: "if (this.#disk.stat(level) !== undefined) return level.startsWith(this.#home);",
    to: "if (this.#disk.stat(level) !== undefined) return false;",
    killedBy: {
      file: "src/log/file/durable-directories.test.ts",
      test: "every level below the home is made and synced once, including existing ones",
    },
  },
  {
    mutant: "a clock that is set back puts a newer checkpoint below an older one",
    file: "src/log/checkpoint/keep.ts",
    from: "newest !== undefined && newest.stamp >= stamp",
    to: "newest !== undefined && newest.stamp === stamp",
    killedBy: {
      file: "src/log/checkpoint/store.test.ts",
      test: "UC-4(b) saves in the same millisecond, or after the clock was set back, keep their order",
    },
  },
  {
    mutant: "a tape drops the segment that is being written",
    file: "src/log/tape/tape.ts",
    from: "while (total > this.limits.maxBytes && this.segments.length > 1)",
    to: "while (total > this.limits.maxBytes && this.segments.length > 0)",
    killedBy: {
      file: "src/log/tape/tape.test.ts",
      test: "on a simulated disk > the oldest whole segments are dropped beyond the bound, and reading there reports it",
    },
  },
  {
    mutant: "a tape is written after its sync failed",
    file: "src/log/tape/tape.ts",
    from: "    if (isFailedSync(error)) this.broken = error; // T5\n",
    to: "",
    killedBy: {
      file: "src/log/tape/tape.test.ts",
      test: "a failed sync breaks the tape: nothing is synced again, and the next process reads what is there",
    },
  },
  {
    mutant: "a batch that did not fit is not wiped",
    file: "src/log/wal/wal.ts",
    from: "      return this.#wipe(padded, error);\n",
    to: "      return Promise.resolve(error);\n",
    killedBy: {
      file: "tests/sim/log/faults-full.test.ts",
      test: "ENOSPC in the middle of a line > EL-2 of a batch, at every ninth byte: the batch is refused as a whole, wiped, and never comes back",
      says: /^BrokenPromise: agents.* has /,
    },
  },
  {
    mutant: "the name of an exclusive file is announced before it is durable",
    file: "src/log/file/exclusive-file.ts",
    from: "  await disk.syncDirectory(parentOf(path)); // X2\n",
    to: "",
    killedBy: {
      file: "src/log/file/exclusive-file.test.ts",
      test: "X2 once it is announced, no crash takes it away: neither its name nor its bytes",
    },
  },
  {
    mutant: "an exclusive file gets its name before its bytes are synced",
    file: "src/log/file/exclusive-file.ts",
    from: "    await file.sync();\n",
    to: "",
    killedBy: {
      file: "src/log/file/exclusive-file.test.ts",
      test: "X2 once it is announced, no crash takes it away: neither its name nor its bytes",
    },
  },
  {
    mutant: "the ballast is a hole that reserves no room",
    file: "src/log/file/ballast.ts",
    from: "    for (let at = from; at < to; at += zeros.length) writeAll(file, zeros.subarray(0, to - at), at); // B2",
    to: "    writeAll(file, zeros.subarray(0, 1), to - 1);",
    killedBy: {
      file: "src/log/file/ballast.test.ts",
      test: "B2 it has real bytes: every one of them is written",
    },
  },
  {
    mutant: "corrupt bytes before a line that stays are dropped",
    file: "src/log/session/session-log.ts",
    from: "    kept.push(...harmed, line);",
    to: "    kept.push(line);",
    killedBy: {
      file: "src/log/session/session-log.test.ts",
      test: "the end of a session's log after a crash > S3 corrupt bytes before a line that stays are kept with it, where they were",
    },
  },
  {
    mutant: "what waits behind a failed sync waits for ever",
    file: "src/log/wal/wal.ts",
    from: "    for (const batch of this.#queue.splice(0)) fail(batch, error);\n",
    to: "",
    killedBy: {
      file: "tests/sim/log/faults-sync.test.ts",
      test: "W3 a batch that waits behind a failed sync is refused with it, and so is everything later",
    },
  },
  {
    mutant: "a checkpoint store is used after the sync of its directory failed",
    file: "src/log/checkpoint/store.ts",
    from: "      if (pastCommit && isFailedSync(error)) this.broken = error; // P6\n",
    to: "",
    killedBy: {
      file: "src/log/checkpoint/store.test.ts",
      test: "P6 after a failed sync that follows a rename, nothing more is saved in this process",
    },
  },
  {
    mutant: "a checkpoint store is used after the sync of a new directory failed",
    file: "src/log/checkpoint/store.ts",
    from: "      if (isFailedSync(error)) this.broken = error; // P6\n",
    to: "",
    killedBy: {
      file: "src/log/checkpoint/store.test.ts",
      test: "P6 after a failed sync that follows a makeDirectory, nothing more is saved in this process",
    },
  },
  {
    mutant: "times of bytes that the tape has lost are kept for other bytes at their offsets",
    file: "src/log/tape/time-log.ts",
    from: "new Uint8Array(), segment, this.#tapeEnd)",
    to: "new Uint8Array(), segment, Number.POSITIVE_INFINITY)",
    killedBy: {
      file: "src/log/tape/times.test.ts",
      test: "never trusted > moments of bytes that a power cut took from the tape do not count, also when the tape has grown again",
    },
  },
  {
    mutant: "the times of dropped segments stay on disk",
    file: "src/log/tape/time-log.ts",
    from: "      if (start < tapeStart) removeIfThere(",
    to: "      if (start < 0) removeIfThere(",
    killedBy: { file: "src/log/tape/times.test.ts", test: "what the tape drops, the times drop" },
  },
];
