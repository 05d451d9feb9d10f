// Answers a prompt by the button of a notification, also while no page is open.
// WA1. The worker answers as the device that it is of, by the same way as the page: over the WebSocket to the host, or
//      inside of the encrypted channel to the home. What the device may not do is refused there.
// WA2. An answer has the same id however often a button is pressed: it is made of the device's token, the prompt and
//      the decision. So it counts once (AO1 of wire/page/answer.ts), also if the worker ends and starts again.
import { newId } from "../../base/ids.ts";
import type { Result } from "../../base/result.ts";
import type { Decision } from "../../core/agent/provider.ts";
import { answerOnce } from "../../wire/page/answer.ts";
import { after, chance, cryptography } from "../browser.ts";
import type { Way } from "../state/session.ts";

/** Browsers give a worker half a minute. */
const MAX_MS = 25_000;
const ID_BYTES = 16;

export async function answerPrompt(way: Way, prompt: string, decision: Decision): Promise<Result<unknown>> {
  const answer = await answerId(`${way.token()} ${prompt} ${decision}`);
  const ports = { connect: way.connect, token: way.token, after, chance };
  return answerOnce(ports, { prompt, answer, decision }, MAX_MS);
}

/** WA2 */
async function answerId(text: string): Promise<string> {
  const subtle = cryptography();
  if (subtle === undefined) throw new Error("a service worker has cryptography");
  const hash = new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return newId(hash.subarray(0, ID_BYTES));
}
