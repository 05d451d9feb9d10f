// The deliberate bugs of a fleet, by the invariants of docs/FLEET.md; bugs.ts defines what a bug is, and its rules.
import type { Bug } from "./bugs.ts";

const LIVES = "fleet: lives of the whole daemon";
const BOTH = "fleet: both places of a log";
const OWNERS = "fleet: owners of one home";
const WATCHERS = "fleet: hosts that watch each other";

const LOST = /was confirmed to|is acknowledged, and the database ends at|is at another place|ends at \d+, not at/;

export const FLEET_BUGS: readonly Bug[] = [
  {
    bug: "1: acknowledged before the database has committed",
    how: "source",
    what: "a batch is acknowledged once the disk has it, and the database is not waited for",
    changes: [
      {
        file: "src/log/wal/wal.ts",
        from: "    await Promise.all([committing, sent.then(() => this.#sync())]);\n",
        to: "    committing.catch(() => undefined);\n    await sent.then(() => this.#sync());\n",
      },
    ],
    caughtBy: BOTH,
    says: /is acknowledged, and the database ends at/,
  },
  {
    bug: "1: acknowledged before the local sync",
    how: "source",
    what: "a batch is acknowledged once the database has it, and the disk is not waited for",
    changes: [
      {
        file: "src/log/wal/wal.ts",
        from: "    await Promise.all([committing, sent.then(() => this.#sync())]);\n",
        to: "    await committing;\n",
      },
    ],
    caughtBy: BOTH,
    says: /is acknowledged, and the disk has \d+ entries/,
  },
  {
    bug: "1: a batch that was not appended counts as committed",
    how: "source",
    what: "a fenced write that finds the log where it was says that the batch is there",
    changes: [
      {
        file: "src/core/fleet/settle.ts",
        from: `  if (lastSeq === first - 1) return "next";\n`,
        to: `  if (lastSeq === first - 1) return "there";\n`,
      },
    ],
    caughtBy: OWNERS,
    says: LOST,
  },
  {
    bug: "2: a batch is encoded again when it is sent again",
    how: "source",
    what: "what is sent again is sealed anew",
    changes: [
      {
        file: "src/daemon/fleet/second-log.ts",
        from: "    const end = await this.#ports.remote.append(last, sealed);\n",
        to: `    const [first, opened] = [this.#ports.remote.lastSeq + 1, { bytes: sealed }];
    const plain = this.#ports.seal.openBatches(this.#ports.home, { first, last, ...opened });
    const again = () => this.#ports.seal.batch(this.#ports.home, first, last, plain.value[0].bytes);
    const end = await this.#ports.remote.append(last, again);
`,
      },
      {
        file: "src/fleet/remote-log.ts",
        from: "    const set = batch && (() => database.call(APPEND, { take, batch, leaseMs }));\n",
        to: "    const set = batch && (() => database.call(APPEND, { take, batch: { ...batch, bytes: batch.again() }, leaseMs }));\n",
      },
      {
        file: "src/fleet/remote-log.ts",
        from: "bytes: new Uint8Array(bytes) }",
        to: "again: bytes }",
      },
    ],
    caughtBy: BOTH,
    says: /is sent again with other bytes/,
  },
  {
    bug: "3: what became of a batch is read",
    how: "source",
    what: "after a call that nobody knows the outcome of, where the log ends is read, and that decides",
    changes: [
      {
        file: "src/fleet/remote-log.ts",
        from: "    const set = batch && (() => database.call(APPEND, { take, batch, leaseMs }));\n",
        to: `    const set = batch && (async () => {
      const answer = await database.call(APPEND, { take, batch, leaseMs });
      if (answer.kind !== "unknown") return answer;
      const row = await database.call(LOOK, take.home);
      return row.kind === "done" && row.value?.lastSeq === batch.last ? { ...row, value: true } : answer;
    });
`,
      },
      {
        file: "src/fleet/remote-log.ts",
        from: "import { APPEND, type Batch, type Take }",
        to: "import { APPEND, LOOK, type Batch, type Take }",
      },
    ],
    caughtBy: OWNERS,
    says: LOST,
  },
  {
    bug: "4: a barrier with a warning is enough",
    how: "source",
    what: "where the log ends counts after a write that was committed with a warning",
    changes: [
      {
        file: "src/core/fleet/settle.ts",
        from: `return seen.isDoubtful ? { kind: "send", step: "hold", soon: false } : {`,
        to: "return {",
      },
    ],
    caughtBy: OWNERS,
    says: LOST,
  },
  {
    bug: "5: a warning is a success",
    how: "source",
    what: "a commit that was answered with a warning counts",
    changes: [
      {
        file: "src/core/fleet/settle.ts",
        from: `return seen.isDoubtful ? { kind: "send", step: "hold", soon: true } : { kind: "settled" }; // SE3`,
        to: `return { kind: "settled" };`,
      },
    ],
    caughtBy: OWNERS,
    says: LOST,
  },
  {
    bug: "6: an owner that was fenced goes on sending",
    how: "source",
    what: "a log that was fenced sends what it is given, and its renewals",
    changes: [
      {
        file: "src/fleet/remote-log.ts",
        from: `    const isWanted = () => this.#state === "open"; // RL4\n`,
        to: "    const isWanted = () => true;\n",
      },
    ],
    caughtBy: BOTH,
    says: /an owner that was fenced has sent \d+ statements more/,
  },
  {
    bug: "6: a daemon that was fenced starts again as the owner",
    how: "source",
    what: "whoever had the home once may take it at its next start",
    changes: [
      {
        file: "src/core/fleet/start.ts",
        from: "  const isNew = home.epoch === 0;\n",
        to: "  const isNew = home.epoch === 0 || known.length > 0;\n",
      },
    ],
    caughtBy: LIVES,
    says: /does not follow|it acts for a home that|in the database/,
  },
  {
    bug: "7: a start does not raise the epoch",
    how: "source",
    what: "the daemon of a home that is its own goes on under the take of the one before it",
    changes: [
      {
        file: "src/daemon/fleet/member.ts",
        from: "    const take: Take = { home, epoch, id: newId(world.random.bytes(16)) };\n",
        to: `    const mine = before !== null && before.epoch === epoch - 1;
    const take: Take = mine ? { home, ...before } : { home, epoch, id: newId(world.random.bytes(16)) };
`,
      },
      {
        file: "src/daemon/fleet/member.ts",
        from: "    const wished = { epoch, id: take.id };\n",
        to: "    const wished = { epoch: take.epoch, id: take.id };\n",
      },
      {
        file: "src/fleet/take.ts",
        from: "  const first = await settling.settle({ take, leaseMs, set });\n",
        to: `  const row = await ports.database.call(LOOK, take.home);
  const isMine = row.kind === "done" && row.value?.take === take.id;
  const first = isMine ? { kind: "settled" as const } : await settling.settle({ take, leaseMs, set });
`,
      },
      { file: "src/fleet/take.ts", from: "import { TAKE, type Take }", to: "import { LOOK, TAKE, type Take }" },
    ],
    caughtBy: LIVES,
    says: /it acts under the take of a daemon before it/,
  },
  {
    bug: "8: a taker that has not watched a whole lease",
    how: "source",
    what: "a lease that has ended by the clock of the database is enough",
    changes: [
      {
        file: "src/core/fleet/watch.ts",
        from: `  if (watch.last.sentAt < until) return { kind: "wait", until }; // WA1\n`,
        to: "",
      },
    ],
    caughtBy: WATCHERS,
    says: /healthy owners are robbed/,
  },
  {
    bug: "8: a gap in what was watched does not count",
    how: "source",
    what: "what was seen before the database stood still counts",
    changes: [
      {
        file: "src/core/fleet/watch.ts",
        from: "  const known = isGap ? NOTHING_WATCHED.homes : watch.homes; // WA2\n",
        to: "  const known = isGap ? watch.homes : watch.homes;\n",
      },
    ],
    caughtBy: WATCHERS,
    says: /healthy owners are robbed/,
  },
  {
    bug: "9: programs are started after the lease has ended",
    how: "source",
    what: "what is started does not depend on the lease",
    changes: [
      {
        file: "src/daemon/fleet/lease.ts",
        from: "    if (!lease.isHeld) throw",
        to: "    if (lease.left < 0) throw",
      },
      { file: "src/daemon/fleet/lease.ts", from: "    mayStart: () => lease.isHeld, // LE4\n", to: "" },
    ],
    caughtBy: LIVES,
    says: /it acts/,
  },
  {
    bug: "10: missing claim after a takeover counts as not started",
    how: "source",
    what: "what was begun on the host that a home was taken over from gets no claim",
    changes: [
      {
        file: "src/daemon/held/taken-over.ts",
        from: "    if (host !== undefined) await claimForHost(world, one, host);\n",
        to: "",
      },
    ],
    caughtBy: "fleet: a run is taken over",
    says: /acts twice|nobody was asked about a step that was taken over/,
  },
  {
    bug: "11: what only the disk has is not appended to the database",
    how: "source",
    what: "the next daemon goes on behind what its disk has, whatever the database has",
    changes: [
      {
        file: "src/daemon/fleet/member.ts",
        from: "    if (log.end > own.lastSeq) await",
        to: "    if (log.end < own.lastSeq) await",
      },
    ],
    caughtBy: LIVES,
    says: /the database has \d+ behind \d+|in the database/,
  },
  {
    bug: "11: what only the database has is not brought to the disk",
    how: "source",
    what: "the log is opened without the entries that the database has and the disk lost",
    changes: [
      {
        file: "src/daemon/fleet/member.ts",
        from: "    if (frames.value.length > 0) {\n",
        to: "    if (frames.value.length > 1e9) {\n",
      },
    ],
    caughtBy: LIVES,
    says: /the database has \d+ behind \d+|in the database/,
  },
];
