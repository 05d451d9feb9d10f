// Work that this home asks the fleet for: it is sealed and queued, and carried out by whichever host claims it.
// QA1. An item's id is chosen by the client, so a repeated request is the same item.
// QA2. What travels is checked here first: whoever asks learns at once what is wrong with it. Secrets never travel.
import { baseName } from "../../base/path.ts";
import { ok, type Result, refused } from "../../base/result.ts";
import { wantedLabels } from "../../core/fleet/queue.ts";
import { parameterFrom, secretNames, secretParameters } from "../../core/workflow/parameters.ts";
import { CANCEL, ENQUEUE, QUEUE, type QueueKind } from "../../fleet/queue-calls.ts";
import { encodeQueued, type QueuedRequest } from "../../wire/fleet/queued.ts";
import { type PARAMS, type Params, paramsOf } from "../../wire/rpc/params.ts";
import type { Methods } from "../../wire/rpc/rpc.ts";
import type { Random } from "../../world/random.ts";
import type { FleetDesk } from "../ports.ts";
import type { Handler, Handlers } from "../rpc-server.ts";
import { askHome, replyFrom } from "./asking.ts";
import { NO_FLEET } from "./handlers.ts";
import { surely } from "./outcome.ts";

/** More is no request, but a file that belongs elsewhere. */
const MAX_BYTES = 4 << 20;

export function askingHandlers(desk: FleetDesk | undefined, random: Random): Handlers {
  const of = <M extends keyof typeof PARAMS & keyof Methods>(
    method: M,
    act: (desk: FleetDesk, params: Params<M>) => Promise<Result<unknown>>,
  ): Handler => {
    return async (given) => {
      const params = paramsOf(method, given);
      if (!params.ok) return params;
      return desk === undefined ? NO_FLEET : act(desk, params.value);
    };
  };
  return {
    "fleet.queue-run": of("fleet.queue-run", queueRun),
    "fleet.queue-agent": of("fleet.queue-agent", ({ ...own }, { id, labels, ...wish }) =>
      enqueue(own, { id, labels }, { kind: "agent", ...wish }),
    ),
    "fleet.queue": of("fleet.queue", listed),
    "fleet.queue-cancel": of("fleet.queue-cancel", cancel),
    "fleet.ask": of("fleet.ask", (own, params) => askHome(own, random, params)),
    "fleet.reply": of("fleet.reply", replyFrom),
  };
}

/** QA2 */
async function queueRun(desk: FleetDesk, params: Params<"fleet.queue-run">): Promise<Result<unknown>> {
  const { id, labels, name, source, texts, values } = params;
  const { readWorkflow, workflowNameOf, workflowRefusal } = await import("../../wire/files/workflow-file.ts");
  const read = readWorkflow(Buffer.from(source), workflowNameOf(name));
  if (!read.ok) return { ok: false, error: workflowRefusal(name, read.error) };
  const [secret] = secretNames(read.value);
  if (secret !== undefined)
    return refused("fleet-secret", `The parameter ${secret} is a secret, and secrets never leave this host.`, SECRET);
  const named = Object.entries(texts).map(([key, text]) => [key, parameterFrom(read.value, key, text)]);
  const given = secretParameters(read.value, { ...values, ...Object.fromEntries(named) }, {});
  if (!given.ok) return given;
  return enqueue(desk, { id, labels }, { kind: "run", name: baseName(name), source, texts, values });
}

const SECRET = "Run it on one host (without --any), or let its steps read the secret where they run.";

type Wish = { readonly id: string; readonly labels: readonly string[] };

async function enqueue(desk: FleetDesk, { id, labels }: Wish, request: QueuedRequest): Promise<Result<unknown>> {
  const wanted = wantedLabels(labels);
  if (!wanted.ok) return wanted;
  const plain = encodeQueued(request);
  if (plain.length > MAX_BYTES)
    return refused("too-large", `It has ${plain.length} bytes; at most ${MAX_BYTES} travel.`, "Put files elsewhere.");
  const kind: QueueKind = request.kind;
  const item = { id, asker: desk.home, kind, labels: wanted.value, bytes: desk.seal.queued(id, plain) };
  const n = surely(await desk.database.call(ENQUEUE, item));
  return n.ok ? ok({ id, n: n.value }) : n;
}

async function listed({ database }: FleetDesk, { after }: Params<"fleet.queue">): Promise<Result<unknown>> {
  const rows = surely(await database.call(QUEUE, { after }));
  return rows.ok ? ok(rows.value.map(({ at, ...row }) => ({ ...row, at: new Date(at).toISOString() }))) : rows;
}

async function cancel({ database }: FleetDesk, { id }: Params<"fleet.queue-cancel">): Promise<Result<unknown>> {
  const cancelled = surely(await database.call(CANCEL, id));
  if (!cancelled.ok) return cancelled;
  if (cancelled.value) return ok({ id });
  return refused("not-open", `${id} is not open any more.`, "Use `holdfast cancel` or `agent terminate` on its host.");
}
