// The mutants in notifications, of several rooms (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const DESK = "tests/notify/desk.test.ts";
const POST = "tests/notify/post.test.ts";
const CORE = "src/core/notify/notify.test.ts";
const CRASHES =
  "ND1 after a crash at any call every open prompt is shown once for each target, and every end replaces it";

export const NOTIFY_MUTANTS: readonly Mutant[] = [
  {
    mutant: "a call leaves before it is on disk",
    file: "src/daemon/notify/desk.ts",
    from: "if (isSaved && isStillOpen) return true;",
    to: "if (isStillOpen) return true;",
    killedBy: { file: DESK, test: "ND1 nothing leaves while the disk refuses, and everything once it does not" },
  },
  {
    mutant: "what was about to be sent when a daemon died counts as never sent",
    file: "src/core/notify/call-machine.ts",
    from: '"prompt is over": "withdrawing",\n      "target is gone": "done",\n    },\n    shown',
    to: '"prompt is over": "done",\n      "target is gone": "done",\n    },\n    shown',
    killedBy: { file: DESK, test: CRASHES, says: /Expected: "end"/ },
  },
  {
    mutant: "a question that is under way is waited for when its prompt ends",
    file: "src/daemon/notify/desk.ts",
    from: "if (flight !== undefined) giveUp(flight);",
    to: "if (flight === undefined) return;",
    killedBy: {
      file: DESK,
      test: "ND3 a question that is under way when it is answered is given up, and its end is sent at once",
    },
  },
  {
    mutant: "a target may take every place",
    file: "src/daemon/notify/desk.ts",
    from: "const MAX_FLIGHTS_OF_TARGET = 4;",
    to: "const MAX_FLIGHTS_OF_TARGET = MAX_FLIGHTS;",
    killedBy: {
      file: DESK,
      test: "ND2 a target that never answers takes no more than its share, and delays no other",
    },
  },
  {
    mutant: "a browser that was signed out is still called",
    file: "src/core/notify/subscriptions.ts",
    from: "before.filter(({ device }) => devices.has(device))",
    to: "before.filter(() => devices.size > 0)",
    killedBy: { file: CORE, test: "subscriptions > SB1 a browser has one, which ends with its access" },
  },
  {
    mutant: "an address is not judged",
    file: "src/daemon/notify/post.ts",
    from: "place.isListed || mayReach(allow, { host, port: place.port }, own)",
    to: "place.isListed || mayReach(allow, { host, port: place.port }, own) || own.length > 0",
    killedBy: { file: POST, test: "PO1 nothing is connected to 127.0.0.1, whatever name leads there" },
  },
  {
    mutant: "http is used wherever a browser says so",
    file: "src/daemon/notify/post.ts",
    from: "if (!isSecure && !listed) return",
    to: 'if (!isSecure && listed && found.host === "") return',
    killedBy: { file: POST, test: "PO1 what is listed is reached, with its port, and without TLS only then" },
  },
  {
    mutant: "a notification offers to allow what it does not show",
    file: "src/core/notify/message.ts",
    from: "whole !== undefined && mayAnswer",
    to: "mayAnswer",
    killedBy: {
      file: CORE,
      test: "what a notification says > NM1 all of the input with Allow and Deny, or where to look and neither",
    },
  },
  {
    mutant: "a refusal counts for an earlier attempt that may have arrived",
    file: "src/core/notify/outbox.ts",
    from: 'event === "refused" && tried.state === "sent" ? "lost" : event',
    to: "event",
    killedBy: { file: CORE, test: "a call > OB5 a refusal says nothing of an earlier attempt that may have arrived" },
  },
  {
    mutant: "the reply to a question counts as that to its end",
    file: "src/core/notify/outbox.ts",
    from: 'if (isPast && event !== "target is gone") return outbox;',
    to: 'if (isPast && event === "target is gone") return outbox;',
    killedBy: {
      file: CORE,
      test: "a call > OB5 the reply to a question says nothing once the prompt is over, unless the target is gone",
    },
  },
];
