// Taking a home: its epoch is raised, and whoever owned it cannot write any more.
// TK1. An epoch is raised by compare-and-set, under an id that no other take has. So of those who try at once one
//      succeeds, and each of them learns whether it was the one, whatever became of its connection.
// TK2. Where the log ends counts only after a write of the taker's own was committed without a doubt.
import { ok, type Result, refused } from "../base/result.ts";
import { TAKE, type Take } from "./calls.ts";
import type { Ownership } from "./remote-log.ts";
import { Settling, type SettlingPorts } from "./settling.ts";

export type TakeWish = {
  /** With the epoch that the home will have: one more than it has. */
  readonly take: Take;
  /** Which host it is, for people. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Only if the lease of the owner has ended. Without it: its own host, or an operator's decision. */
  readonly ifExpired: boolean;
};

export async function takeHome(ports: SettlingPorts, wish: TakeWish): Promise<Result<Ownership>> {
  const { take, leaseMs } = wish;
  const settling = new Settling(ports);
  const set = () => ports.database.call(TAKE, wish); // TK1
  const first = await settling.settle({ take, leaseMs, set });
  const settled = first.kind === "settled" ? await settling.settle({ take, leaseMs, set: undefined }) : first; // TK2
  if (settled.kind === "look") return ok({ take, leaseMs, lastSeq: settled.lastSeq });
  if (settled.kind === "fenced") return refused("fleet-not-taken", `${take.home} was not taken.`, NOT_TAKEN);
  return refused("fleet-given-up", `It is not known whether ${take.home} was taken.`, GIVEN_UP);
}

const NOT_TAKEN = "Its epoch is another one, or the lease of its owner has not ended. Look at it again.";
const GIVEN_UP = "Look at it again when the database answers.";
