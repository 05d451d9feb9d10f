// The mutants in src/daemon (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const DAEMON: readonly Mutant[] = [
  {
    mutant: "a start is given up without being cancelled on disk",
    file: "src/daemon/held/held-programs.ts",
    from: "if (!(await cancelStart(this.#world, place.directory, place.generation))) return;",
    to: "if (cancelStart === undefined) return;",
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE1 a launch that is refused, or that fails for good on disk, is cancelled before it is reported",
    },
    isSentinel: true,
  },
  {
    mutant: "an attempt of a workflow is reported as prevented without a claim",
    file: "src/daemon/workflow/attempts.ts",
    from: '    const found = await this.#held.adopt(attempt, "It was stopped before it began.");',
    to: `    const found = await this.#held.look(attempt);
    await this.#held.report(attempt, found.kind === "unstarted" ? { kind: "prevented", reason: "It was stopped before it began." } : found);`,
    killedBy: {
      file: "tests/workflow/attempts.test.ts",
      test: "an attempt stopped before it began is claimed by us before that is reported, and is never started",
    },
    isSentinel: true,
  },
  {
    mutant: "the daemon stays after its log broke: a decision that is not durable is not reported",
    file: "src/daemon/session-store.ts",
    from: "      this.#hooks.onBug(error); // U2\n",
    to: "",
    killedBy: {
      file: "tests/daemon/session-store.test.ts",
      test: "U2 if what was decided cannot be made durable, the daemon is stopped, and none of it has left",
    },
    isSentinel: true,
  },
  {
    mutant: "the daemon stays after its log broke: it only reports it",
    file: "src/daemon/run.ts",
    from: "      void left.then(() => ended.resolve(FAILED));\n",
    to: "",
    killedBy: {
      file: "tests/sim/holdfast/lives.test.ts",
      test: "a daemon whose log has stopped ends soon",
      says: /goes on reporting|lives on after its log stopped/,
    },
  },
  {
    mutant: "the socket is closed before the log when the daemon leaves",
    file: "src/daemon/daemon.ts",
    from: `    await this.#parts?.log.close();
    await this.#ports.fleet?.finish();
    this.#server?.close(); // Only now: what became durable in the meantime was still acknowledged.
`,
    to: `    this.#server?.close();
    await this.#parts?.log.close();
    await this.#ports.fleet?.finish();
`,
    killedBy: {
      file: "tests/sim/holdfast/requests.test.ts",
      test: "D2 what becomes durable while the daemon leaves is still acknowledged, and nothing else is",
    },
    isSentinel: true,
  },
  {
    mutant: "any number of clients may connect",
    file: "src/base/places.ts",
    from: "this.#seated.size >= this.#limits.all) return false;",
    to: "false) return false;",
    killedBy: {
      file: "tests/daemon/rpc-clients.test.ts",
      test: "the number of clients is bounded, and each one that leaves makes room",
    },
  },
  {
    mutant: "a client that says no hello stays connected",
    file: "src/daemon/rpc-server.ts",
    from: "    this.#stopWaiting = ports.options.clock.after(HELLO_MS, () => this.destroy()); // Z1",
    to: "    this.#stopWaiting = () => undefined;",
    killedBy: {
      file: "tests/daemon/rpc-clients.test.ts",
      test: "Z1 a client that says no hello is cut off after ten seconds, and one that left leaves no timer",
    },
  },
  {
    mutant: "the subscription of a client that left stays",
    file: "src/daemon/rpc-server.ts",
    from: `    this.#stopWaiting();
    this.#unsubscribe?.();
  }`,
    to: `    this.#stopWaiting();
  }`,
    killedBy: {
      file: "tests/daemon/rpc-clients.test.ts",
      test: "Z2 a subscriber is notified until it leaves; one that does not read is cut off",
    },
  },
  {
    mutant: "a subscriber that does not read takes any amount of memory",
    file: "src/daemon/rpc-server.ts",
    from: "if (this.#connection.waiting > MAX_WAITING_BYTES) this.destroy();\n    else ",
    to: "",
    killedBy: {
      file: "tests/daemon/rpc-clients.test.ts",
      test: "Z2 a subscriber is notified until it leaves; one that does not read is cut off",
    },
  },
  {
    mutant: "an agent may subscribe to everything",
    file: "src/daemon/rpc-server.ts",
    from: " && this.#handlers === this.#ports.all) this.#subscribe",
    to: ") this.#subscribe",
    killedBy: {
      file: "tests/daemon/rpc.test.ts",
      test: "a client with another token may call the methods meant for it, and no others",
    },
  },
  {
    mutant: "requests behind garbage are carried out",
    file: "src/daemon/rpc-server.ts",
    from: "if (!this.#left) this.#line(line);",
    to: "this.#line(line);",
    killedBy: {
      file: "tests/daemon/rpc.test.ts",
      test: "garbage after hello closes its own connection and no other",
    },
  },
  {
    mutant: "a session's log is removed before the removal of its other files is durable",
    file: "src/daemon/gc.ts",
    from: "        if (baseName(path) === EVENTS_FILE) await this.#place.disk.syncDirectory(parentOf(path)); // GC4\n",
    to: "",
    killedBy: {
      file: "tests/agent/gc.test.ts",
      test: "a crash or power cut at any call leaves a terminated agent complete or nothing that matters, and the next round finishes",
      says: /^Error: crash \d+, before .*expect\(/,
    },
  },
  {
    mutant: "a clock that jumps to the next century deletes everything",
    file: "src/daemon/gc.ts",
    from: "if (jumped || this.#ports.isOff()) return; // GC3",
    to: "if (this.#ports.isOff()) return;",
    killedBy: {
      file: "tests/daemon/gc.test.ts",
      test: "a clock that jumps to the next century removes nothing until the new time has held for a day",
    },
  },
  {
    mutant: "files of a session are removed although its part still knows it",
    file: "src/daemon/gc.ts",
    from: `    if (session !== undefined && !gone.has(session.id)) return \`\${session.id} could not be forgotten yet\`;
`,
    to: "",
    killedBy: {
      file: "tests/daemon/gc.test.ts",
      test: "GC4 nothing of a session is removed before its part has forgotten it",
    },
  },
  {
    mutant: "a request for gc that does not ask to delete deletes",
    file: "src/daemon/daemon.ts",
    from: "this.#collect(dryRun !== false)",
    to: "this.#collect(dryRun === true)",
    killedBy: {
      file: "tests/sim/holdfast/requests.test.ts",
      test: "a request for gc that does not ask to delete is a dry run",
    },
  },
  {
    mutant: "an end in the middle of a recovery counts as clean",
    file: "src/daemon/daemon.ts",
    from: "const isClean = this.isLive && ",
    to: "const isClean = ",
    killedBy: {
      file: "tests/sim/holdfast/requests.test.ts",
      test: "D2 an end in the middle of a recovery is not recorded as a clean one",
    },
  },
  {
    mutant: "a recovery is LIVE before it is reported",
    file: "src/daemon/recovery-run.ts",
    from: '    if (STAGES[stage].next === "LIVE") await this.#ports.report(this.#items); // Y3',
    to: '    if (STAGES[stage].next === "LIVE") void this.#machine.transition("LIVE").then(() => this.#ports.report(this.#items));',
    killedBy: {
      file: "tests/daemon/recovery-run.test.ts",
      test: "RS-1(a) a recovery goes through every stage, and is reported before it is LIVE",
    },
  },
  {
    mutant: "a recovery that meets a fault once waits for a person",
    file: "src/daemon/recovery-run.ts",
    from: "if (!mayPass(error) || !(await pauses.next())) return reason;",
    to: "if (!mayPass(reason) || !(await pauses.next())) return reason;",
    killedBy: {
      file: "tests/daemon/recovery-run.test.ts",
      test: "RS-5(a) a fault that passes is waited for: the stage is tried again by itself",
    },
  },
  {
    mutant: "a report that the disk refused is never written",
    file: "src/daemon/daemon.ts",
    from: "    await this.#parts?.times.tend();\n    await this.#reports.tend();\n",
    to: "    await this.#parts?.times.tend();\n",
    killedBy: {
      file: "tests/sim/holdfast/one-fault.test.ts",
      test: "ENOSPC while a report is written: it is written later, by itself",
      says: /a recovery ends without a report/,
    },
  },
  {
    mutant: "a resumed recovery does not inspect anything again",
    file: "src/daemon/recovery-run.ts",
    from: "stages.slice(0, stages.indexOf(stage) + 1)",
    to: "stages.slice(stages.indexOf(stage), stages.indexOf(stage) + 1)",
    killedBy: {
      file: "tests/daemon/recovery-run.test.ts",
      test: "RS-4(a) a resumed recovery inspects everything again, but passes through no stage twice",
    },
  },
  {
    mutant: "a loss is reported while leftover processes still run",
    file: "src/daemon/held/held-programs.ts",
    from: '    if (found.kind === "lost") await this.#adapter.stopRest(name); // HE3\n',
    to: "",
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE3 when its holder is killed, leftover processes are stopped before the loss is reported",
    },
  },
  {
    mutant: "a fork that fails ends a program for good",
    file: "src/daemon/held/held-programs.ts",
    from: 'if (isRetryable(error) || isFault(error, ...NO_PROCESS)) return { kind: "later" }; // HE4',
    to: 'if (isRetryable(error)) return { kind: "later" };',
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE4 a failed fork is not an outcome: nothing is cancelled or reported, and the next start succeeds",
    },
  },
  {
    mutant: "orphans are killed without being asked",
    file: "src/daemon/held/orphan-stop.ts",
    from: '  for (const signal of ["SIGHUP", "SIGTERM"] as const) tell(processes, orphans, signal);\n',
    to: "",
    killedBy: {
      file: "tests/daemon/orphan-race.test.ts",
      test: "an orphan is asked to end before it is killed, and has two seconds for it",
    },
  },
  {
    mutant: "a refusal leaves before what it is based on is durable",
    file: "src/daemon/session-store.ts",
    from: "} else if ((await this.#becomes(this.#durable)) === undefined) {",
    to: "} else {",
    killedBy: {
      file: "tests/terminal/store.test.ts",
      test: "nothing is published before it is durable: no answer, no refusal, no notice, no effect",
    },
  },
  {
    mutant: "clients are shown what is not durable",
    file: "src/daemon/session-store.ts",
    from: "    return ahead === undefined ? this.states.get(id) : ahead.settled;",
    to: "    return this.states.get(id) ?? ahead?.settled;",
    killedBy: {
      file: "tests/terminal/store.test.ts",
      test: "terminals are shown only as far as they are durable: a decision appears in no answer before its sync completes",
    },
  },
  {
    mutant: "changes are accepted during a recovery",
    file: "src/daemon/part.ts",
    from: "return this.#ports.isLive() ? work() : NOT_LIVE;",
    to: "return work();",
    killedBy: {
      file: "tests/daemon/part.test.ts",
      test: "PB3 nothing is shown before all sessions are read, and nothing is changed before the daemon is live",
    },
  },
  {
    mutant: "the loss of a generation is taken for that of the next one",
    file: "src/daemon/terminal/lost-terminals.ts",
    from: "    if (terminal !== undefined && terminal.generation !== loss.generation) return; // LT2\n",
    to: "",
    killedBy: {
      file: "src/daemon/terminal/lost-terminals.test.ts",
      test: "LT2 nor does it if the next generation has ended meanwhile: its own end is on record",
    },
  },
  {
    mutant: "two batches of lost terminals are restored at once",
    file: "src/daemon/terminal/lost-terminals.ts",
    from: "    if (this.#working) return; // LT1\n",
    to: "",
    killedBy: {
      file: "src/daemon/terminal/lost-terminals.test.ts",
      test: "LT1 what is lost while a batch is at work waits for the next one, and is in it once",
    },
  },
  {
    mutant: "a bug in the start of a program is passed over in silence",
    file: "src/daemon/held/held-programs.ts",
    from: "        if (!isFault(error)) this.#adapter.onBug(error, name); // HE4\n",
    to: "",
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE4 an error that is not a Fault is a bug of ours, and is not retried in silence",
    },
  },
  {
    mutant: "a journal is used again while an attempt in it is open",
    file: "src/daemon/workflow/journals.ts",
    from: "if (contents === undefined || recordedIn(contents).some((one) => this.#isOpen(one))) continue; // JN1",
    to: "if (contents === undefined) continue;",
    killedBy: {
      file: "tests/workflow/journals.test.ts",
      test: "JN1 JN2 a journal is used again when its holder is gone, and no attempt in it is open by the log",
    },
  },
  {
    mutant: "a journal that a living holder writes is given to another",
    file: "src/daemon/workflow/journals.ts",
    from: "if (this.#taken.has(path) || isJournalInUse(disk, path)) continue; // JN2",
    to: "if (this.#taken.has(path)) continue;",
    killedBy: {
      file: "tests/workflow/journals.test.ts",
      test: "JN1 JN2 a journal is used again when its holder is gone, and no attempt in it is open by the log",
    },
  },
  {
    mutant: "a holder that hangs since its start is waited for for ever",
    file: "src/daemon/held/held-programs.ts",
    from: "    this.#adapter.dismiss(name);\n",
    to: "",
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE7 if every holder takes 21000 ms, 1 are replaced, each alone, and the next one starts the program once",
    },
  },
  {
    mutant: "output that is more than the log takes is read again for ever",
    file: "src/daemon/agent/engine.ts",
    from: 'done.error.code !== "log.too-large"',
    to: 'done.error.code !== "another"',
    killedBy: {
      file: "tests/sim/fuzz/hostile/large-output.test.ts",
      test: "E4 a line that is more than a transaction takes fails the turn, in this life and the next",
    },
  },
  {
    mutant: "how a tmux server ended is held against the next one",
    file: "src/daemon/tmux/keeper.ts",
    from: 'state.kind === "kept" && sameServer(server, state.place.server)',
    to: 'state.kind === "kept"',
    killedBy: {
      file: "tests/sim/holdfast/tmux/two-ends.test.ts",
      test: "K6 a server that is killed after the one before it ended in order takes no session along",
    },
  },
  {
    mutant: "the end of a client that waits at a tmux server counts for whichever server was seen before",
    file: "src/daemon/tmux/keeper.ts",
    from: "wasAt(care, left) || wasAt(care, heard)",
    to: "left !== undefined || heard !== undefined",
    killedBy: {
      file: "tests/tmux/lookout.test.ts",
      test: "a server's end > of a client that waited at another server says nothing of ours: it is lost",
    },
  },
  {
    mutant: "a re-created tmux session is marked before it has its name",
    file: "src/daemon/tmux/rebuild.ts",
    from: 'this.#tmux(rename, ["set-option", "-t", `${session}:`, MARK, this.#care.id])',
    to: 'this.#tmux(["set-option", "-t", `${session}:`, MARK, this.#care.id], rename)',
    killedBy: {
      file: "tests/tmux/keeper.test.ts",
      test: "left as it is > a user's session that takes the name of ours while that is built: ours gets another (needs tmux)",
    },
  },
];
