// The mutants in src/holder (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const HOLDER: readonly Mutant[] = [
  {
    mutant: "a claim whose record is not durable is not withdrawn",
    file: "src/holder/records.ts",
    from: "  } catch (error) {\n    withdraw(place, facts);\n",
    to: "  } catch (error) {\n",
    killedBy: {
      file: "tests/workflow/journals.test.ts",
      test: "JL3 within a boot a claim without its file was withdrawn, and is not made again; an exit is",
    },
  },
  {
    mutant: "repeated input is typed again",
    file: "src/holder/input.ts",
    from: 'if (number <= last && number > 0) return { kind: "repeat" };',
    to: 'if (number <= last && number > 0) return { kind: "new" };',
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "writers > the number decides whether input is new, a repeat, or refused",
    },
    isSentinel: true,
  },
  {
    mutant: "an exit that the disk refuses once is never recorded",
    file: "src/holder/records.ts",
    from: "      await new Promise<void>((again) => clock.after(RETRY_MS, again));",
    to: "      return;",
    killedBy: {
      file: "src/holder/records.test.ts",
      test: "an end is recorded even if the disk fails to look up the terminal's directory at first",
    },
  },
  {
    mutant: "offsets of a tape that lost its end are used twice",
    file: "src/holder/recorder.ts",
    from: "    this.#tape.skip(Math.max(0, startAt - this.#tape.end)); // R5\n",
    to: "",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "recorder > a tape that lost its end continues after what was seen of it, with a gap and no offset used twice",
    },
  },
  {
    mutant: "a program on pipes is read until its tape drops output that was not consumed",
    file: "src/holder/pressure.ts",
    from: "Math.floor(kept / 2)",
    to: "kept",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "pressure > pauses beyond the limit, and resumes when enough was consumed",
    },
  },
  {
    mutant: "output is not synced while it flows",
    file: "src/holder/recorder.ts",
    from: "      this.#later(SYNC_MS); // R2\n",
    to: "",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "recorder > dirty bytes are synced within a second, and no timer runs while idle",
    },
  },
  {
    mutant: "the timer of a closed socket keeper is not cancelled",
    file: "src/holder/socket-keeper.ts",
    from: `    this.#cancel();
    this.#listener?.close();`,
    to: "    this.#listener?.close();",
    killedBy: {
      file: "src/holder/socket-keeper.test.ts",
      test: "a removed path is bound again after an interval, but not after the end",
    },
  },
  {
    mutant: "a claim does not make the name of its directory durable",
    file: "src/holder/records.ts",
    from: "const done = [make(place, CLAIM, facts), disk.syncDirectory(parentOf(directory)).then(() => true)];",
    to: "const done = [make(place, CLAIM, facts)];",
    killedBy: {
      file: "src/holder/records.test.ts",
      test: "E1 a claim is durable with the name of its directory, even if its creator did not sync that",
    },
  },
  {
    mutant: "a claim that is not durable is not withdrawn",
    file: "src/holder/records.ts",
    from: "    await Promise.allSettled(done);\n    withdraw(place, facts);\n",
    to: "    await Promise.allSettled(done);\n",
    killedBy: {
      file: "src/holder/records.test.ts",
      test: "E1 if the name in /t cannot be made durable, the claim is withdrawn, and made by the next holder",
    },
  },
  {
    mutant: "a client that sends a wrong frame stays connected",
    file: "src/holder/client.ts",
    from: `      if (!fine) {
        this.connection.destroy(); // C2
        return;
      }`,
    to: "      if (!fine) return;",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "client > C2 a client that does not speak the protocol is cut off: before its hello, after it, and in mid-frame",
    },
  },
  {
    mutant: "a client that does not send frames stays connected",
    file: "src/holder/client.ts",
    from: "    if (frames === undefined) this.connection.destroy(); // C2\n",
    to: "",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "client > C2 a client that does not speak the protocol is cut off: before its hello, after it, and in mid-frame",
    },
  },
  {
    mutant: "two connections type under one name",
    file: "src/holder/clients.ts",
    from: "      if (other.writer === client.writer && !other.readOnly && !client.readOnly) other.dismiss(REPLACED); // L2\n",
    to: "",
    killedBy: {
      file: "src/holder/parts.test.ts",
      test: "client > L2 a second connection of the same writer takes over; one that only reads takes nothing",
    },
  },
  {
    mutant: "input for a program that reads nothing takes any amount of memory",
    file: "src/holder/holder.ts",
    from: "    if (child.waiting > MAX_INPUT_WAITING) this.#clients.hold(client); // O3\n",
    to: "",
    killedBy: {
      file: "tests/holder/slow.test.ts",
      test: "O3 while a program reads no input, the client that types it is not read either",
    },
  },
  {
    mutant: "a client that does not leave keeps a holder alive",
    file: "src/holder/holder.ts",
    from: "    await Promise.race([told, new Promise<void>((late) => this.clock.after(GOODBYE_MS, late))]); // O3",
    to: "    await told;",
    killedBy: {
      file: "tests/holder/slow.test.ts",
      test: "O3 after the end a client that does not leave is waited for three seconds, and no longer",
    },
  },
  {
    mutant: "a fork that fails inside a holder is the program's end",
    file: "src/holder/start-fault.ts",
    from: "  return CODES.get(code);",
    to: "  return CODES.get(code) ?? NOT_FOUND;",
    killedBy: {
      file: "src/daemon/held/held-programs.test.ts",
      test: "HE4 a program that the system refuses to start is tried again by its holder, and the reason is known",
    },
  },
  {
    mutant: "an answer to a question of an earlier generation is typed",
    file: "src/holder/holder.ts",
    from: "if (generation === this.#spec.generation) this.#answering",
    to: "if (generation > 0) this.#answering",
    killedBy: {
      file: "tests/holder/questions.test.ts",
      test: "an answer is typed once, for its generation and its question, and only if it is what a terminal reports",
    },
  },
  {
    mutant: "a later answer is typed before an earlier one",
    file: "src/holder/questions.ts",
    from: "this.#waiting.splice(0, open < 0 ? this.#waiting.length : open)",
    to: "this.#waiting.filter(({ answer }) => answer !== undefined)",
    killedBy: {
      file: "src/holder/questions.test.ts",
      test: "QO1 answers are typed in the order of the questions, and what needs no screen at once",
    },
  },
];
