// The mutants in src/wire (../mutant.ts).
import type { Mutant } from "../mutant.ts";

export const WIRE: readonly Mutant[] = [
  {
    mutant: "a line without an end is buffered without a limit",
    file: "src/wire/lines.ts",
    from: "    return queue.length > this.#most ? undefined : lines;",
    to: "    return lines;",
    killedBy: {
      file: "src/wire/lines.test.ts",
      test: "a line of exactly the limit fits; one byte more does not, with or without its end",
    },
  },
  {
    mutant: "a frame may be one byte over the limit",
    file: "src/wire/holder/frames.ts",
    from: "length > MAX_FRAME",
    to: "length > MAX_FRAME + 1",
    killedBy: {
      file: "src/wire/holder/frames.test.ts",
      test: "frames > a length of nothing and one over the limit are not in the protocol, before anything is buffered",
    },
  },
  {
    mutant: "inherited properties count as fields",
    file: "src/wire/check.ts",
    from: "Object.hasOwn(value, name) ? value[name] : undefined",
    to: "value[name]",
    killedBy: {
      file: "src/wire/check.test.ts",
      test: "what does not > names of the prototype are fields only if they were written",
    },
  },
  {
    mutant: "JSON of any depth is accepted",
    file: "src/wire/check.ts",
    from: "return levels === 0 || Object",
    to: "return Object",
    killedBy: {
      file: "src/wire/check.test.ts",
      test: "what does not > a value that is nested too deeply is refused, not followed",
    },
  },
  {
    mutant: "the time limit of an answered call is not cancelled",
    file: "src/wire/rpc/client.ts",
    from: "return answer.finally(cancel)",
    to: "return answer",
    killedBy: {
      file: "src/wire/rpc/client.test.ts",
      test: "a call without an answer is refused in time; its late answer is ignored, other calls go on",
    },
  },
  {
    mutant: "a table of the configuration is written twice",
    file: "src/wire/files/toml.ts",
    from: `    if (table.made !== "by a dotted key") this.#text.fail(\`[\${name}] is there already\`, start); // Y3
`,
    to: "",
    killedBy: {
      file: "src/wire/files/toml.test.ts",
      test: 'DS-1(b) problems name line and column > "[a.b]\\nx = 1\\n[a]\\nb.y = 2"',
    },
  },
  {
    mutant: "a model's answer takes any amount of memory",
    file: "src/wire/provider/openai.ts",
    from: "this.#rest.length + this.#chars > MAX_CHARS || this.#sent > MAX_SENT",
    to: "this.#sent > MAX_SENT",
    killedBy: {
      file: "tests/agent/small-codecs.test.ts",
      test: "O3 an answer without an end is a failure, as one line or as many, and is not tried again",
    },
  },
  {
    mutant: "output between two connections is lost",
    file: "src/wire/holder/client.ts",
    from: "    if (this.#wish.from === -1) this.#wish = { ...this.#wish, from: status.tape.end }; // L2\n",
    to: "",
    killedBy: {
      file: "src/wire/holder/client.test.ts",
      test: "L2 output continues where the last connection stopped: after what came, or where the tape ended then",
    },
  },
  {
    mutant: "input for a program that was replaced reaches the next one",
    file: "src/wire/holder/client.ts",
    from: "    if (before !== status.generation) this.#inputs.refuse(OTHER_GENERATION);\n",
    to: "",
    killedBy: {
      file: "src/wire/holder/client.test.ts",
      test: "L1 L3 input for a program that was replaced meanwhile is refused, and so is what a closed client had open",
    },
  },
  {
    mutant: "a sandbox's own identity goes on beside ours",
    file: "src/wire/proxy/head.ts",
    from: "Object.keys(identity).length === 0 ? [] : [...IDENTITY, ...Object.keys(identity)]",
    to: "Object.keys(identity).length === 0 ? [] : IDENTITY.slice(0, 1)",
    killedBy: {
      file: "src/wire/proxy/head.test.ts",
      test: "PH2, PH3 what goes on has our identity, closes the connection, and keeps the rest",
    },
  },
  {
    mutant: "each message through a relay is encrypted with the same nonce",
    file: "src/wire/noise/symmetric.ts",
    from: "    this.#count += 1;\n",
    to: "",
    killedBy: {
      file: "src/wire/noise/handshake.test.ts",
      test: "the published vector of Noise_XXpsk3_25519_AESGCM_SHA256 holds, byte for byte, both ways",
    },
  },
  {
    mutant: "a device talks to any home that answers",
    file: "src/wire/noise/channel.ts",
    from: "if (!isSame(handshake.peer, home)) return",
    to: "if (handshake.peer === undefined) return",
    killedBy: {
      file: "src/wire/noise/channel.test.ts",
      test: "who is let in > a device that meets another home than its own says nothing, not even who it is",
    },
  },
  {
    mutant: "a message that is not authentic is passed over",
    file: "src/wire/noise/channel.ts",
    from: "if (piece === undefined) return this.#end(broken(NOT_AUTHENTIC));",
    to: "if (piece === undefined) continue;",
    killedBy: {
      file: "src/wire/noise/channel.test.ts",
      test: "a relay that meddles > a message that is repeated, swapped, left out, cut or made up closes the channel",
    },
  },
  {
    mutant: "a relay may say that the home refuses, at any time",
    file: "src/wire/noise/channel.ts",
    from: "frames[0]?.length === 0 && !this.#isConfirmed && ",
    to: "frames[0]?.length === 0 && ",
    killedBy: {
      file: "src/wire/noise/channel.test.ts",
      test: "who is let in > an empty message refuses before the home has proved itself, and breaks the channel afterwards",
    },
  },
  {
    mutant: "a reload takes up settings that count at a start",
    file: "src/wire/files/config-reload.ts",
    from: "isTakenUp(keyOf(name)) ? after[name] : before[name]",
    to: "after[name]",
    killedBy: {
      file: "src/wire/files/config-reload.test.ts",
      test: "a reload takes up what may change while Holdfast runs, and names both what it took and what waits",
    },
  },
  {
    mutant: "the id of a conversation may be an option",
    file: "src/wire/agent-records.ts",
    from: 'found === undefined || !isSession("claude", found.sessionId)',
    to: "found === undefined",
    killedBy: {
      file: "src/wire/agent-records.test.ts",
      test: "AR1 what cannot be read says nothing, and no id is a word of another kind",
    },
  },
  {
    mutant: "the owner's password goes to the role that hosts use",
    file: "src/wire/files/postgres-url.ts",
    from: "(?:user|password|dbname)=",
    to: "(?:user|dbname)=",
    killedBy: {
      file: "src/wire/files/postgres-url.test.ts",
      test: "the same database for another user, without the password of the first one",
    },
  },
];
