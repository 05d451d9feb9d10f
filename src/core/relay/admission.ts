// Who a connection to the relay is from, and what it may do: decided by its certificate and by the relay's own records,
// when it connects and again while it lives.
// AM1. TLS only tells whether the certificate is of our authority. Everything else is decided here: a resumed session
//      says that TLS trusts a certificate that has expired.
// AM2. Only a certificate that we have issued and recorded is known, and only for the home that it names.
// AM3. One that has expired may be renewed within the grace period, and opens nothing else.
import type { EnrolledHome, Records } from "./records.ts";

/** Times are in milliseconds. */
export type ShownCertificate = {
  readonly serial: string;
  readonly name: string;
  readonly notBefore: number;
  readonly notAfter: number;
};

export type Admission =
  | { readonly mode: "full" | "renew"; readonly home: EnrolledHome }
  | { readonly mode: "enrol" }
  | {
      readonly mode: "refused";
      readonly reason: "unknown" | "revoked" | "expired" | "early";
      readonly message: string;
    };

/** `isOurs`: the authority has signed it. */
export function admit(
  records: Records,
  peer: { readonly isOurs: boolean; readonly certificate: ShownCertificate | null },
  now: number,
  graceMs: number,
): Admission {
  const { isOurs, certificate } = peer;
  if (certificate === null) return { mode: "enrol" };
  const home = records.homes.get(certificate.name);
  const isRecorded = home?.certificates.some(({ serial }) => serial === certificate.serial);
  if (!isOurs || home === undefined || isRecorded !== true) return UNKNOWN; // AM2
  if (home.revokedAt !== null) return REVOKED;
  if (now < certificate.notBefore) return EARLY; // AM1
  if (now < certificate.notAfter) return { mode: "full", home };
  return now < certificate.notAfter + graceMs ? { mode: "renew", home } : EXPIRED; // AM3
}

const AGAIN = "Enrol again with a new token: holdfast relay token, on the relay.";
const UNKNOWN: Admission = {
  mode: "refused",
  reason: "unknown",
  message: `This relay did not issue this certificate. ${AGAIN}`,
};
const REVOKED: Admission = { mode: "refused", reason: "revoked", message: `This home was revoked. ${AGAIN}` };
const EARLY: Admission = {
  mode: "refused",
  reason: "early",
  message: "This certificate is not valid yet: the clock of the relay was set back, or was wrong before.",
};
const EXPIRED: Admission = {
  mode: "refused",
  reason: "expired",
  message: `This certificate expired too long ago to be renewed. ${AGAIN}`,
};
