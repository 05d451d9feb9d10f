// Asking the drill's daemon: once, as it is. Nobody is started for it and nothing is asked again.
import { isFault } from "../base/fault.ts";
import { ok, type Refusal, type Result } from "../base/result.ts";
import { dial } from "../home/dial.ts";
import { GONE, type RpcClient } from "../wire/rpc/client.ts";
import type { Method, Methods, StatusResult } from "../wire/rpc/rpc.ts";
import { within } from "../world/wait.ts";
import type { Site } from "./site.ts";

/** A daemon that answers at all does it in milliseconds; on a busy machine it may take its time. */
const ANSWER_MS = 10_000;

export type DaemonAnswer<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** It was asked and died before it answered: done or not, both are right. */
  | { readonly kind: "unknown" }
  /** Nobody was asked. */
  | { readonly kind: "nobody" }
  /** It is there, and does not answer. */
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

/** A daemon that is killed before it has taken our call is like one that is not there; here that happens all the time. */
async function reached({ world, home }: Site): Promise<Result<RpcClient | undefined>> {
  try {
    return await dial(world, home);
  } catch (error) {
    if (isFault(error, "ECONNRESET", "EPIPE")) return ok(undefined);
    throw error;
  }
}

/** Asks for the status again and again over one connection, for as long as it lasts. */
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
