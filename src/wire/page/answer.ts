// Answers one prompt over a connection of its own, and waits for the reply, whatever is lost or starts again meanwhile.
// AO1. The answer has one id, and is sent again until the home has replied to it: it counts once.
// AO2. It ends, with a refusal, when it took too long or the device is signed out.
import { type Result, refused } from "../../base/result.ts";
import type { Decision } from "../../core/agent/provider.ts";
import { HUSHED } from "../rpc/client.ts";
import { NO_HOST, PageClient, type PageClientPorts, type PageWire } from "./client.ts";

export type GivenAnswer = { readonly prompt: string; readonly answer: string; readonly decision: Decision };

/** AO1. Between two tries of a daemon that is there and takes no answers yet. */
const AGAIN_MS = 500;
/** AO1. What says nothing of the answer itself. */
const NOT_YET = [...HUSHED, NO_HOST.code, "daemon.down", "log.busy", "rpc.busy"];
const TOO_LATE = refused("host.gone", "The home could not be reached.", "Open the page.");

/** The ports are those of a connection that nobody else uses. */
export async function answerOnce(ports: PageClientPorts, given: GivenAnswer, maxMs: number): Promise<Result<unknown>> {
  const done = Promise.withResolvers<Result<unknown>>();
  let isOver = false;
  let wire: PageWire | undefined;
  const connect: PageClientPorts["connect"] = (events) => {
    wire = ports.connect(events);
    return wire;
  };
  const after: PageClientPorts["after"] = (ms, fn) => ports.after(ms, () => void (isOver || fn()));
  const client = new PageClient(
    { connect, token: ports.token, chance: ports.chance, after },
    {
      link: (state) => state.kind === "signed out" && done.resolve(refused("signed-out", state.why, "Open the page.")),
      notice: () => undefined,
      daemon: ({ up }) => up && void send(),
    },
  );
  const send = async (): Promise<void> => {
    const reply = await client.call("prompt.answer", given);
    if (reply.ok || !NOT_YET.includes(reply.error.code)) done.resolve(reply);
    else if (reply.error.code !== NO_HOST.code) after(AGAIN_MS, () => void send()); // AO1
  };
  const cancel = ports.after(maxMs, () => done.resolve(TOO_LATE)); // AO2
  client.start();
  const result = await done.promise;
  isOver = true;
  cancel();
  wire?.close();
  return result;
}
