// The tunnel: whether an enrolled home is connected to its relay, and how long its certificate is valid.
import { tunnelOf } from "../tunnel/status.ts";
import { type Finding, fine, problem, type Site, warning } from "./check.ts";

const NAME = "tunnel";
/** A certificate is renewed when a third of its life is left; this is a tenth of the usual one. */
const SOON_MS = 3 * 86_400_000;
/** The authority is the relay's, and of ten years: its operator has to be asked. */
const AUTHORITY_SOON_MS = 90 * 86_400_000;

export async function checkTunnel({ world, home }: Site): Promise<Finding[]> {
  const { enrolled, relay, wanted, state, why, certificateUntil, authorityUntil } = tunnelOf(world, home);
  if (!enrolled) return [];
  const leftMs = Date.parse(certificateUntil ?? "") - world.clock.now();
  if (state === "Ended")
    return [problem(NAME, { what: `${relay} does not let this home in`, why, next: "holdfast tunnel enroll" })];
  if (wanted === "off") return [fine(NAME, `turned off; enrolled at ${relay}`)];
  if (state !== "Connected")
    return [warning(NAME, { what: `not connected to ${relay} (${state})`, why, next: "holdfast tunnel status" })];
  if (why !== "")
    return [
      warning(NAME, { what: `connected to ${relay}, but something is wrong`, why, next: "holdfast tunnel status" }),
    ];
  if (leftMs < SOON_MS)
    return [
      warning(NAME, {
        what: `the certificate for ${relay} ends at ${certificateUntil}`,
        why: "it should have been renewed by now; or this machine's clock is wrong",
        next: "holdfast logs",
      }),
    ];
  if (Date.parse(authorityUntil ?? "") - world.clock.now() < AUTHORITY_SOON_MS)
    return [
      warning(NAME, {
        what: `the authority of ${relay} ends at ${authorityUntil}`,
        why: "after that this home does not trust the relay any more",
        next: "holdfast tunnel enroll, with a token of the relay's next authority",
      }),
    ];
  return [fine(NAME, `connected to ${relay}; certificate until ${certificateUntil}`)];
}
