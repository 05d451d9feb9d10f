// The mutants in src/standby, and those of a fleet in src/daemon and in the decisions of src/core (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const WATCH = "src/core/fleet/watch.test.ts";
const START = "src/core/fleet/start.test.ts";
const SECOND = "src/daemon/fleet/second-log.test.ts";
const TAKING = "tests/standby/taking.test.ts";

export const STANDBY: readonly Mutant[] = [
  {
    mutant: "a take is sent before it is on record",
    file: "src/standby/takings.ts",
    from: "    await this.#keep([...this.#wishes, wish]); // TN1\n",
    to: "    this.#wishes = [...this.#wishes, wish];\n",
    killedBy: {
      file: TAKING,
      test: "TN1 killed at any moment, the next program finishes what was begun: one take, one directory, one start",
      says: /never true|ENOENT/,
    },
  },
  {
    mutant: "a home that could not be made is not tried again",
    file: "src/standby/takings.ts",
    from: "until: clock.elapsed() + backoffMs(count, random.fraction(), RETRY) }",
    to: "until: clock.elapsed() + 1e9 * backoffMs(count, random.fraction(), RETRY) }",
    killedBy: {
      file: TAKING,
      test: "TN3 TN4 what cannot be made is tried again, and is free for others meanwhile",
      says: /never true|expect\(/,
    },
  },
  {
    mutant: "a second standby program acts for the host as well",
    file: "src/standby/standby.ts",
    from: "    if (held?.ok !== true) {\n",
    to: "    if (owner === undefined) {\n",
    killedBy: { file: TAKING, test: "SB2 one program acts for a host, and the next one when it is gone" },
  },
  {
    mutant: "a home that was released is taken",
    file: "src/core/fleet/watch.ts",
    from: '  if (home.leaseEnd === "") return "released";\n',
    to: "",
    killedBy: { file: WATCH, test: "WA5 WA6 what is never taken, and what is taken at once" },
  },
  {
    mutant: "programs go on although their home is somebody else's",
    file: "src/core/fleet/guard.ts",
    from: '  if (isFenced) return { kind: "kill", wakeMs: third }; // GU3\n',
    to: '  if (isFenced && isFrozen) return { kind: "kill", wakeMs: third }; // GU3\n',
    killedBy: {
      file: "src/core/fleet/guard.test.ts",
      test: "GU3 GU5 the end of ownership ends them in every state, and without a lease all stays as it is",
    },
  },
  {
    mutant: "a host that had the home once takes it at its next start",
    file: "src/core/fleet/start.ts",
    from: "const isOurs = known.some(({ epoch, id }) => id === home.take && epoch === home.epoch); // ST1",
    to: "const isOurs = known.some(({ epoch }) => epoch <= home.epoch);",
    killedBy: {
      file: START,
      test: "ST3 whoever had it once follows when another host has it, whatever was written here since",
    },
  },
  {
    mutant: "a home that is to move to another host is taken at the next start",
    file: "src/core/fleet/start.ts",
    from: 'if (home.moveTo !== "" && home.moveTo !== host) return',
    to: 'if (home.moveTo !== "" && home.owner !== host) return',
    killedBy: {
      file: START,
      test: "ST4 a home that is to move to another host is left alone, and one that is to come here is not",
    },
  },
  {
    mutant: "a lease lasts from its answer",
    file: "src/fleet/settling.ts",
    from: "if (isCertain) this.#ports.held?.(sentAt);",
    to: "if (isCertain) this.#ports.held?.(this.#ports.clock.sinceBoot());",
    killedBy: {
      file: "tests/fleet/remote-log.test.ts",
      test: "a lease is renewed from when the call was sent, and by nothing that was answered with a warning",
    },
  },
  {
    mutant: "a lease stands still while the machine sleeps",
    file: "src/daemon/fleet/lease.ts",
    from: "this.#until - this.#world.clock.sinceBoot()",
    to: "this.#until - this.#world.clock.elapsed()",
    killedBy: {
      file: "src/daemon/fleet/lease.test.ts",
      test: "LE1 a lease lasts from when its renewal was sent, also while the machine sleeps",
    },
  },
  {
    mutant: "a holder at rest gets an order without a lease",
    file: "src/daemon/workflow/holder-pool.ts",
    from: "    if (!this.#mayStart) return; // HP8\n",
    to: "",
    killedBy: {
      file: "tests/workflow/holder-pool.test.ts",
      test: "HP8 while nothing may be started, a holder at rest gets no order, and the attempt is refused for now",
    },
  },
  {
    mutant: "a log that was fenced does not end its daemon",
    file: "src/daemon/fleet/second-log.ts",
    from: "    this.#ports.broken(error);\n",
    to: "",
    killedBy: { file: SECOND, test: "SL3 once another host has the home, nothing is acknowledged any more" },
  },
  {
    mutant: "a home that may be taken over goes on without the database",
    file: "src/daemon/fleet/second-log.ts",
    from: "    if (!mayFallBehind) return batch.done.promise;\n",
    to: "",
    killedBy: {
      file: SECOND,
      test: "SL2 without an answer new work is refused after two seconds, and taken again with the answer",
    },
  },
  {
    mutant: "a home that was taken over is identified by the boot id alone",
    file: "src/fleet/materialise.ts",
    from: "  await forgetBootElsewhere({ disk, home });\n",
    to: "",
    killedBy: {
      file: "tests/fleet/materialise.test.ts",
      test: "MA4 a home is on another machine also if both have the same boot id, as containers have, and once that is reported",
    },
  },
  {
    mutant: "a record that the disk does not give now counts as missing",
    file: "src/home/fleet-files.ts",
    from: "fitting(TAKEN_OVER, readJsonSurely(",
    to: "fitting(TAKEN_OVER, readJson(",
    killedBy: {
      file: "src/home/fleet-files.test.ts",
      test: "FF2 a record that is missing says nothing, and one that the disk does not give now is a Fault",
    },
  },
  {
    mutant: "a disk that fails once makes another home of one",
    file: "src/home/identity.ts",
    from: "  return identityIn(readJsonSurely(",
    to: "  return identityIn(readJson(",
    killedBy: {
      file: "src/home/fleet-files.test.ts",
      test: "ID1 a disk that fails once while the identity is read makes no other home of it",
    },
  },
  {
    mutant: "a file of a backup is not compared with its digest",
    file: "src/home/backup/chain.ts",
    from: "if (digest.hex() !== sha256) throw",
    to: 'if (digest.hex() === "") throw',
    killedBy: {
      file: "tests/sim/backup-hostile.test.ts",
      test: "an index that names a place outside, a place twice, or bytes that are not there is refused; so is a bomb",
    },
  },
  {
    mutant: "the last chunk of a sealed backup may be missing",
    file: "src/home/backup/seal.ts",
    from: "nonce[NONCE_BYTES - 1] = last ? 1 : 0;",
    to: "nonce[NONCE_BYTES - 1] = last ? 0 : 0;",
    killedBy: {
      file: "tests/sim/backup-hostile.test.ts",
      test: "sealed chunks that were swapped, doubled, left out, cut off or appended do not open",
    },
  },
  {
    mutant: "what a backup has of its base is looked for in itself",
    file: "src/home/backup/chain.ts",
    from: "  return { source: source + 1, offset, length };",
    to: "  return { source, offset, length };",
    killedBy: {
      file: "tests/sim/backup-hostile.test.ts",
      test: "one that builds on others has only what they have not, and is restored with them and with no others",
      says: /must be numbers|expect\(/,
    },
  },
  {
    mutant: "a new version is started before its digest is known",
    file: "src/cli/upgrade/stage.ts",
    from: "  if (found !== wanted.value) return damaged(file, wanted.value, found); // SG2\n",
    to: "  const about = await looked(world, nextName(path), file);\n  if (found !== wanted.value) return damaged(file, wanted.value, found);\n  if (!about.ok) return about;\n",
    killedBy: {
      file: "src/cli/upgrade/stage.test.ts",
      test: "SG2 nothing of it runs if its digest is another, is missing, or is none",
    },
  },
  {
    mutant: "a version that cannot read our files is installed",
    file: "src/cli/upgrade/stage.ts",
    from: "  if (formats.length === 0) return ok(about);\n",
    to: "  if (formats.length >= 0) return ok(about);\n",
    killedBy: {
      file: "src/cli/upgrade/stage.test.ts",
      test: "another program, one for another machine, and one that cannot read our files are refused",
    },
  },
  {
    mutant: "a version for another machine is installed",
    file: "src/cli/upgrade/stage.ts",
    from: "  if (about.platform !== PLATFORM)\n",
    to: '  if (about.platform === "")\n',
    killedBy: {
      file: "src/cli/upgrade/stage.test.ts",
      test: "another program, one for another machine, and one that cannot read our files are refused",
    },
  },
];
