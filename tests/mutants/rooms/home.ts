// The mutants in src/home (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const HOME: readonly Mutant[] = [
  {
    mutant: "a claim that was withdrawn comes back from the journal",
    file: "src/home/held/journals.ts",
    from: '  return isObject(claim) && claim["bootId"] !== processes.bootId();',
    to: '  return isObject(claim) && processes.bootId() !== "";',
    killedBy: {
      file: "tests/workflow/journals.test.ts",
      test: "JL3 within a boot a claim without its file was withdrawn, and is not made again; an exit is",
    },
  },
  {
    mutant: "the pages of a checkpoint get each other's names",
    file: "src/home/item-pages.ts",
    from: "for (const [at, { page }] of fresh.entries()) this.#store(page, written.refs[at]);",
    to: "for (const [at, { page }] of fresh.reverse().entries()) this.#store(page, written.refs[at]);",
    killedBy: {
      file: "tests/workflow/item-pages.test.ts",
      test: "UC-1(a) a file of version 2, with all items in it, is read; the next one names pages",
    },
  },
  {
    mutant: "a safe-mode file that cannot be read means that it is off",
    file: "src/home/safe-mode.ts",
    from: 'if (found?.["active"] === false)',
    to: 'if (found?.["active"] !== true)',
    killedBy: {
      file: "tests/watchdog/safe-mode.test.ts",
      test: "SM-3(f) an existing but unreadable file means safe mode, and exit repairs it",
    },
  },
  {
    mutant: "a disk that fails once while safe mode is looked at ends the program",
    file: "src/home/safe-mode.ts",
    from: "      if (!isFault(error)) throw error;\n",
    to: '      if (!isFault(error, "EINTR")) throw error;\n',
    killedBy: {
      file: "tests/watchdog/safe-mode.test.ts",
      test: "S4 EIO while the file is looked at changes nothing, and is thrown to no one",
      says: /safe-mode\.json: EIO/,
    },
  },
  {
    mutant: "a guess that safe mode is on is passed on, and lasts",
    file: "src/home/safe-mode.ts",
    from: " && state.reason !== unreadable(safeModePath(this.#place.home))",
    to: "",
    killedBy: {
      file: "tests/watchdog/safe-mode.test.ts",
      test: "a mode that is only guessed, since the file cannot be read, is not passed on to another program",
    },
  },
  {
    mutant: "the marker of a clean end is removed without a sync",
    file: "src/home/last-life.ts",
    from: "    await disk.syncDirectory(joinPath(home, RECOVERY));\n",
    to: "    await Promise.resolve();\n",
    killedBy: {
      file: "tests/daemon/token-and-reports.test.ts",
      test: "the cause of a start: clean, the daemon's crash, the machine's, or a reboot after a clean end",
    },
  },
  {
    mutant: "a watchdog is started although the operator wants `down`",
    file: "src/home/heartbeat-client.ts",
    from: ' || ports.wanted() === "down") return; // H3',
    to: ") return;",
    killedBy: {
      file: "tests/watchdog/heartbeat.test.ts",
      test: "a lost watchdog is restarted while up is wanted, at most every 2 s, and never while down is",
    },
  },
  {
    mutant: "beats pile up for a watchdog that does not read",
    file: "src/home/heartbeat-client.ts",
    from: "this.#wire !== undefined && this.#wire.waiting <= MAX_WAITING",
    to: "this.#wire !== undefined",
    killedBy: {
      file: "tests/watchdog/heartbeat.test.ts",
      test: "WD-4 a watchdog that does not read costs no memory: beats are dropped",
    },
  },
  {
    mutant: "a service mark counts although its unit is gone",
    file: "src/home/service-mark.ts",
    from: 'disk.stat(unit)?.kind === "file" ? { manager, unit } : undefined',
    to: "{ manager, unit }",
    killedBy: {
      file: "src/home/service-mark.test.ts",
      test: "on a simulated disk > M1 the mark counts while its unit exists, and not if it cannot be read",
    },
  },
  {
    mutant: "a claim that cannot be read permits another start",
    file: "src/home/held/held-state.ts",
    from: "if (bytes === undefined || (claim !== undefined && claim.generation !== generation))",
    to: "if (claim === undefined || claim.generation !== generation)",
    killedBy: {
      file: "src/home/held/held-state.test.ts",
      test: "HS1 each combination of files is one state; an unreadable claim is a loss, and never permits a start",
    },
    isSentinel: true,
  },
  {
    mutant: "any text is accepted as the token of a home",
    file: "src/home/token.ts",
    from: "  if (FORM.test(there)) return there;",
    to: '  if (there !== "") return there;',
    killedBy: {
      file: "tests/daemon/token-and-reports.test.ts",
      test: '"short" is not a token: another one is created',
    },
  },
  {
    mutant: "an exit that is written during a look is missed",
    file: "src/home/held/held-state.ts",
    from: 'return readEnd(place, generation) ?? { kind: "lost"',
    to: 'return { kind: "lost"',
    killedBy: {
      file: "src/home/held/held-state.test.ts",
      test: "HS1 an exit that is written while the files are read is an end, not a loss",
    },
  },
];
