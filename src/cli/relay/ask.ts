// Asks a running relay, over the socket in its home.
// RK1. A relay that does not run is named as such; one that does not answer in time, too.
import { isFault } from "../../base/fault.ts";
import { type Refusal, type Result, refused } from "../../base/result.ts";
import { encodeLine, LineReader } from "../../wire/lines.ts";
import {
  DESK_SOCKET,
  type DeskMethod,
  type DeskRequest,
  type DeskResults,
  MAX_DESK_ANSWER,
  readAnswer,
} from "../../wire/relay/desk.ts";
import type { Connection } from "../../world/socket.ts";
import { within } from "../../world/wait.ts";
import type { DaemonCommandWorld } from "../daemon-command-world.ts";
import { relayHome } from "./home.ts";

const ANSWER_MS = 30_000;

export async function askRelay<M extends DeskMethod>(
  world: DaemonCommandWorld,
  given: string | undefined,
  request: DeskRequest & { readonly method: M },
): Promise<Result<DeskResults[M]>> {
  const home = relayHome(world.console, given);
  if (!home.ok) return home;
  const line = await answerOf(world, home.value, request);
  if (typeof line !== "string") return { ok: false, error: line };
  const answer = line === "" ? undefined : readAnswer<M>(request.method, line);
  return (
    answer ?? refused("relay.gone", "The relay ended before it answered.", "Nothing acknowledged is lost. Try again.")
  );
}

async function answerOf(
  { sockets, clock }: DaemonCommandWorld,
  home: string,
  request: DeskRequest,
): Promise<string | Refusal> {
  const answered = Promise.withResolvers<string>();
  const reader = new LineReader(MAX_DESK_ANSWER);
  let connection: Connection;
  try {
    connection = await sockets.connect(`${home}/${DESK_SOCKET}`, {
      bytes: (bytes) => {
        const [line] = reader.push(bytes) ?? [""];
        if (line !== undefined) answered.resolve(line);
      },
      closed: () => answered.resolve(""),
    });
  } catch (error) {
    if (!isFault(error, "ENOENT", "ECONNREFUSED")) throw error;
    return notRunning(home); // RK1
  }
  connection.send(encodeLine(request));
  const line = await within(clock, ANSWER_MS, answered.promise);
  connection.destroy();
  return line ?? SILENT;
}

function notRunning(home: string): Refusal {
  const hint = "Start it with `holdfast relay serve`. If its home is elsewhere, give --home DIR.";
  return { code: "relay.down", message: `No relay runs on ${home}.`, hint };
}

const SILENT: Refusal = {
  code: "relay.silent",
  message: `The relay has not answered for ${ANSWER_MS / 1000} s; the request may still be carried out.`,
  hint: "Look with `holdfast relay ls`, then try again.",
};
