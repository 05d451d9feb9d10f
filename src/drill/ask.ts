// Sends a request to the drill's daemon once: nothing is started for it, and nothing is retried.
import { isFault } from "../base/fault.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import { dial } from "../home/dial.ts";
import { GONE, type RpcClient } from "../wire/rpc/client.ts";
import type { Method, Methods, StatusResult } from "../wire/rpc/rpc.ts";
import { within } from "../world/wait.ts";
import type { Site } from "./site.ts";

/** A daemon answers in milliseconds; on a busy machine it may take longer. */
const ANSWER_MS = 10_000;

export type DaemonAnswer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** The daemon died before it answered: done or not, both are right. */
  | { readonly kind: "unknown" }
  /** There was no daemon. */
  | { readonly kind: "nobody" }
  /** The daemon exists, but does not answer. */
  | { readonly kind: "silent" };

export async function ask<M extends Method>(
  site: Site,
  method: M,
  params: Methods[M]["params"],
): Promise<DaemonAnswer<Methods[M]["result"]>> {
  const line = await reached(site);
  if (!line.ok) return { kind: "refused", refusal: line.error };
  if (line.value === undefined) return { kind: "nobody" };
  const answer = await within(site.world.clock, ANSWER_MS, line.value.call(method, params));
  line.value.close();
  if (answer === undefined) return { kind: "silent" };
  if (answer.ok) return { kind: "done", value: answer.value };
  return answer.error.code === GONE.code ? { kind: "unknown" } : { kind: "refused", refusal: answer.error };
}

/** A daemon that is killed before it accepts our connection counts as absent; in a drill that happens all the time. */
async function reached({ world, home }: Site): Promise<Result<RpcClient | undefined>> {
  try {
    return await dial(world, home);
  } catch (error) {
    if (isFault(error, "ECONNRESET", "EPIPE")) return ok(undefined);
    throw error;
  }
}

/** Queries the status repeatedly over one connection, for as long as it lasts. */
export class StatusEye {
  readonly #site: Site;
  #client: RpcClient | undefined;

  constructor(site: Site) {
    this.#site = site;
  }

  async look(): Promise<StatusResult | undefined> {
    this.#client ??= await this.#dial();
    const status = await this.#client?.call("status", {});
    if (status?.ok === true) return status.value;
    this.close();
    return undefined;
  }

  async #dial(): Promise<RpcClient | undefined> {
    const line = await reached(this.#site);
    return line.ok ? line.value : undefined;
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}
