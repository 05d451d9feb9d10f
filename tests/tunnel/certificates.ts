// An authority of its own for a test, and certificates of it.
import { realCertificates } from "../../src/world/real/certificates.ts";
import type { TunnelIdentity } from "../../src/world/tunnel.ts";

export const certificates = realCertificates();
const DAY = 86_400_000;

export type TestIdentity = TunnelIdentity & { readonly serial: string };

export class Authority {
  readonly identity: TunnelIdentity;
  #last = 16;

  constructor(identity: TunnelIdentity) {
    this.identity = identity;
  }

  static async create(): Promise<Authority> {
    const now = Date.now();
    return new Authority(await certificates.newAuthority("test relay", { notBefore: now - DAY, notAfter: now + DAY }));
  }

  get pem(): string {
    return this.identity.certificate;
  }

  server(hosts: readonly string[] = ["localhost", "127.0.0.1"]): Promise<TestIdentity> {
    return this.#issue("relay", { hosts });
  }

  /** `fromMs`, `toMs`: of its life, relative to now. */
  client(name: string, life: { readonly fromMs?: number; readonly toMs?: number } = {}): Promise<TestIdentity> {
    return this.#issue(name, life);
  }

  async #issue(
    name: string,
    given: { readonly hosts?: readonly string[]; readonly fromMs?: number; readonly toMs?: number },
  ): Promise<TestIdentity> {
    this.#last += 1;
    const [serial, now] = [this.#last.toString(16), Date.now()];
    const { hosts, fromMs = -DAY, toMs = DAY } = given;
    const { key, request } = await certificates.newRequest();
    const issue = { serial, name, notBefore: now + fromMs, notAfter: now + toMs, ...(hosts && { hosts }) };
    const certificate = await certificates.issue(this.identity, request, issue);
    if (certificate === undefined) throw new Error("our own request is not valid");
    return { key, certificate, serial };
  }
}
