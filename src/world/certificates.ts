// Certificates of tunnels (X.509, ECDSA on P-256): an authority, requests, and certificates that it issues.
// CT1. A key never leaves the machine that made it: a request carries the public half, signed with the private one.
// CT2. A request is verified before anything is issued for it, and only its public key is taken from it: names and
//      times are the issuer's.
// CT3. An authority signs certificates only, and what it issues cannot sign: one for a server has its names, one for a
//      client has none, and neither can be used as the other.
import type { TunnelIdentity } from "./tunnel.ts";

/** Times in milliseconds. */
export type Life = { readonly notBefore: number; readonly notAfter: number };

export type Issue = Life & {
  /** Hex. */
  readonly serial: string;
  /** The common name of the subject. */
  readonly name: string;
  /** Of a server: host names and addresses. Without them, it is for a client (CT3). */
  readonly hosts?: readonly string[];
};

export interface Certificates {
  newAuthority(name: string, life: Life): Promise<TunnelIdentity>;
  /** A new key, and a request for a certificate of it, both as PEM (CT1). */
  newRequest(): Promise<{ readonly key: string; readonly request: string }>;
  /** As PEM; undefined if the request is not valid (CT2). */
  issue(authority: TunnelIdentity, request: string, issue: Issue): Promise<string | undefined>;
  /** The times of a certificate; undefined if it is none. */
  lifeOf(certificate: string): Life | undefined;
  /** SHA-256 of a certificate, in hex: what an enrolment token pins. Throws if it is none. */
  hashOf(certificate: string): string;
}
