// The relay's own certificate authority: made at the first start, and kept in a file of its home.
// AU1. The key is durable before anything is signed with it, and nobody else may read it (new files are 0600).
// AU2. A file that is there but cannot be used is not replaced: all homes trust the authority that was in it.
// AU3. It ends after ten years. Then homes trust the relay no more, and it does not start: the operator moves the file
//      away, and all homes enrol again. `relay status` and the homes' `doctor` say so in time.
import { assert } from "../base/assert.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { readJson, writeJson } from "../log/file/json-file.ts";
import type { Certificates, Life } from "../world/certificates.ts";
import type { TunnelIdentity } from "../world/tunnel.ts";
import type { RelayWorld } from "./ports.ts";

const FILE = "authority.json";
const NAME = "holdfast relay";
const DAY_MS = 86_400_000;
/** Homes would have to enrol again after it. */
const AUTHORITY_MS = 3_650 * DAY_MS;
/** The relay's own certificate; it is made anew at every start. */
const SERVER_MS = 90 * DAY_MS;
/** Of a home's certificate, which we judge ourselves: our own clock may be corrected. */
const SKEW_MS = 5 * 60_000;
/** Of those that homes judge, by their own clocks: one that is slow by some hours is no obstacle. */
const HOMES_SKEW_MS = DAY_MS;
const SERIAL_BYTES = 16;

type AuthorityWorld = Pick<RelayWorld, "disk" | "clock" | "random" | "certificates">;

export class Authority {
  readonly #world: AuthorityWorld;
  readonly #identity: TunnelIdentity;
  /** SHA-256 of its certificate, which tokens pin. */
  readonly hash: string;

  private constructor(world: AuthorityWorld, identity: TunnelIdentity) {
    this.#world = world;
    this.#identity = identity;
    this.hash = world.certificates.hashOf(identity.certificate);
  }

  static async open(world: AuthorityWorld, home: string): Promise<Result<Authority>> {
    const { disk, certificates } = world;
    const path = `${home}/${FILE}`;
    const isThere = disk.stat(path) !== undefined;
    if (!isThere) await writeJson(disk, path, { v: 1, ...(await newIdentity(certificates, world.clock.now())) }); // AU1
    const identity = identityIn(readJson(disk, path));
    const life = identity && certificates.lifeOf(identity.certificate);
    if (life !== undefined && life.notAfter <= world.clock.now())
      return refused("authority", `The relay's authority, ${path}, has ended: no home trusts it any more.`, ENDED); // AU3
    if (identity !== undefined && life !== undefined) return ok(new Authority(world, identity));
    const hint = "Bring it back from a backup. Without it all homes would have to enrol again."; // AU2
    return refused("authority", `The relay's authority, ${path}, cannot be used.`, hint);
  }

  get certificate(): string {
    return this.#identity.certificate;
  }

  get life(): Life {
    const life = this.#world.certificates.lifeOf(this.certificate);
    assert(life !== undefined, "the authority has a certificate");
    return life;
  }

  /** For a home; undefined if its request is not valid. */
  async issue(request: string, id: string, lifeMs: number): Promise<Certified | undefined> {
    const [serial, now] = [this.#serial(), this.#world.clock.now()];
    const notAfter = now + lifeMs;
    const life = { notBefore: now - SKEW_MS, notAfter };
    const certificate = await this.#world.certificates.issue(this.#identity, request, { serial, name: id, ...life });
    return certificate === undefined ? undefined : { serial, notAfter, certificate };
  }

  /** For the relay itself. */
  async server(hosts: readonly string[]): Promise<TunnelIdentity & { readonly notAfter: number }> {
    const { certificates, clock } = this.#world;
    const [{ key, request }, now] = [await certificates.newRequest(), clock.now()];
    const notAfter = now + SERVER_MS;
    const life = { notBefore: now - HOMES_SKEW_MS, notAfter };
    const given = { serial: this.#serial(), name: NAME, hosts, ...life };
    const certificate = await certificates.issue(this.#identity, request, given);
    assert(certificate !== undefined, "our own request is valid");
    return { key, certificate, notAfter };
  }

  /** It begins with a digit from 4 to 7, so that it is positive and has no leading zeros. */
  #serial(): string {
    const bytes = this.#world.random.bytes(SERIAL_BYTES);
    return Uint8Array.from(bytes, (byte, at) => (at === 0 ? (byte & 0x3f) | 0x40 : byte)).toHex();
  }
}

const ENDED =
  "Move the file away. Then the relay makes a new one, and all homes have to enrol again. Or check the clock.";

export type Certified = { readonly serial: string; readonly notAfter: number; readonly certificate: string };

function newIdentity(certificates: Certificates, now: number): Promise<TunnelIdentity> {
  return certificates.newAuthority(NAME, { notBefore: now - HOMES_SKEW_MS, notAfter: now + AUTHORITY_MS });
}

function identityIn(file: Readonly<Record<string, unknown>> | undefined): TunnelIdentity | undefined {
  const { key, certificate } = file ?? {};
  return typeof key === "string" && typeof certificate === "string" ? { key, certificate } : undefined;
}
