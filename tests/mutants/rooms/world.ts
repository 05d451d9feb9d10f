// The mutants in src/world (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const WORLD: readonly Mutant[] = [
  {
    mutant: "the sockets of a home are open to everyone",
    file: "src/world/real/socket.ts",
    from: "  const before = process.umask(OWNER_ONLY); // K2",
    to: "  const before = process.umask();",
    killedBy: {
      file: "src/world/real/socket.test.ts",
      test: "a listening socket belongs to its owner alone, answers, and leaves nothing behind",
    },
  },
  {
    mutant: "a displaced listener removes its successor's path",
    file: "src/world/real/socket.ts",
    from: '    if (inPlace()) unless(["ENOENT"], undefined, () => attempt("unlink"',
    to: '    if (true) unless(["ENOENT"], undefined, () => attempt("unlink"',
    killedBy: {
      file: "src/world/real/socket.test.ts",
      test: "a displaced listener notices it, and does not remove its successor's path",
    },
  },
  {
    mutant: "the path of a living process is taken over",
    file: "src/world/real/socket.ts",
    from: "  if (await answers(path)) throw",
    to: '  if (path === "") throw',
    killedBy: {
      file: "src/world/real/socket.test.ts",
      test: "a path that answers is not taken over; one that does not is",
    },
    isSentinel: true,
  },
  {
    mutant: "queued bytes change with the sender's buffer",
    file: "src/world/real/connection.ts",
    from: "new Uint8Array(bytes.subarray(taken))",
    to: "bytes.subarray(taken)",
    killedBy: {
      file: "src/world/real/socket.test.ts",
      test: "what the other side does not read is queued in order, and `drained` follows",
    },
  },
  {
    mutant: "files of a home can be read by everyone",
    file: "src/world/real/disk.ts",
    from: "openSync(path, FLAGS[how], 0o600)",
    to: "openSync(path, FLAGS[how], 0o644)",
    killedBy: {
      file: "tests/world/conformance.test.ts",
      test: "the real disk > fills holes and lengthened files with zeros",
    },
  },
  {
    mutant: "a zombie counts as alive",
    file: "src/world/real/identities.ts",
    from: '  return state === "X" || state === "x" || (state === "Z" && Number(fields[THREADS]) <= 1);',
    to: '  return state === "X" || state === "x";',
    killedBy: {
      file: "src/world/real/process-list.test.ts",
      test: "the table > contains children by parent and session, without zombies",
    },
  },
  {
    mutant: "a process from before a reboot counts as alive",
    file: "src/world/process.ts",
    from: "who.bootId === processes.bootId() && processes",
    to: "processes",
    killedBy: {
      file: "tests/world/real.test.ts",
      test: "P1 a process is identified by its start time and boot as well: if one of them differs, it is another one",
    },
  },
  {
    mutant: "a secret with anything behind it is accepted",
    file: "src/world/hash.ts",
    from: "let difference = given.length ^ secret.length;",
    to: "let difference = 0;",
    killedBy: {
      file: "src/world/hash.test.ts",
      test: "a secret is the same only if every character and the length are",
    },
  },
  {
    mutant: "a descriptor is closed while a sync uses it",
    file: "src/world/real/file.ts",
    from: "    if (this.syncing === 0) this.closeDescriptor(); // R2",
    to: "    this.closeDescriptor();",
    killedBy: {
      file: "tests/world/real.test.ts",
      test: "R2 a file that is closed during a sync keeps its descriptor until the sync has ended",
    },
  },
  {
    mutant: "a timer is left after each bounded wait",
    file: "src/world/wait.ts",
    from: `  } finally {
    cancel();
  }`,
    to: `  } finally {
  }`,
    killedBy: {
      file: "src/world/wait.test.ts",
      test: "a promise has its time: in time its value, else undefined, and either way no timer is left",
    },
  },
];
