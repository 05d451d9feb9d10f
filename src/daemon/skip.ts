// `recovery skip`: an operator has poisoned bytes skipped (log/session/poisons.ts), so that a session that was set
// aside for them goes on.
// SK1. Only what makes a session throw in this life can be skipped, and only while the session is set aside: nothing is
//      skipped that was not shown.
// SK2. The record is made durable before the answer; what follows from it happens at the next start, which reads the
//      session anew. A repeat changes nothing.
import { matchOne } from "../base/ids.ts";
import { ok, type Refusal, type Result, refused } from "../base/result.ts";
import type { Poisons } from "../log/session/poisons.ts";
import { paramsOf } from "../wire/rpc/params.ts";
import type { ListedAside } from "../wire/rpc/rpc.ts";
import { numbered, type PageLimits } from "./pages.ts";
import { type Aside, listed as listedRows } from "./part.ts";
import type { Handlers } from "./rpc-server.ts";

export type SkipPorts = {
  readonly poisons: Poisons;
  readonly pages?: PageLimits | undefined;
  asides(): Iterable<Aside>;
};

export function skipHandlers(ports: SkipPorts): Handlers {
  return {
    "recovery.aside": async (given) => {
      const params = paramsOf("recovery.aside", given);
      const rows = numbered(() => open(ports).map((aside) => listed(ports, aside)));
      return params.ok ? ok(listedRows(rows, params.value, ports.pages)) : params;
    },
    "recovery.skip": async (given) => {
      const params = paramsOf("recovery.skip", given);
      return params.ok ? skip(ports, params.value.id) : params;
    },
  };
}

/** SK1 */
function open({ asides }: SkipPorts): Aside[] {
  return [...asides()].filter((aside) => !aside.isOver());
}

function listed({ poisons }: SkipPorts, { item, session, bytes }: Aside): ListedAside {
  const { what, id, name, reason } = item;
  const about = { what, id, name, reason };
  if (bytes === undefined || bytes.kind === "input") return { ...about, bytes: null, skipped: null };
  return { ...about, bytes, skipped: poisons.skippedAt(session, bytes) ?? null };
}

/** SK2 */
async function skip(ports: SkipPorts, key: string): Promise<Result<ListedAside>> {
  const found = meant(open(ports), key);
  if (!found.ok) return found;
  const aside = found.value;
  const { bytes, reason, skipped } = listed(ports, aside);
  if (bytes === null) return { ok: false, error: nothingToSkip(aside) };
  if (skipped === null) await ports.poisons.skip(aside.session, bytes, reason);
  return ok(listed(ports, aside));
}

/** A name, an id, or the beginning of an id. */
function meant(asides: readonly Aside[], key: string): Result<Aside> {
  const [named, another] = asides.filter(({ item }) => item.name === key);
  if (named !== undefined && another === undefined) return ok(named);
  const found = matchOne(
    asides.map(({ item }) => item.id),
    key,
  );
  const aside = found.ok ? asides.find(({ item }) => item.id === found.value) : undefined;
  if (aside !== undefined) return ok(aside);
  return !found.ok && found.error.code === "ambiguous" ? found : { ok: false, error: notAside(key) };
}

function notAside(key: string): Refusal {
  const hint = "`holdfast recovery skip` lists what can be skipped, and `holdfast recovery report` what needs you.";
  return refused("unknown", `"${key}" is not set aside.`, hint).error;
}

function nothingToSkip({ item: { what, name, reason, next } }: Aside): Refusal {
  return refused("nothing-to-skip", `Nothing of ${what} ${name} can be skipped: ${reason}.`, next).error;
}
