// Certificates for homes: the first one for a token, and the next one before or after the last has ended.
// EN1. A certificate is sent only when its event is durable. If we die before that, nobody has it.
// EN2. Wrong tokens are limited, for each address and in all; the secret is compared by its hash, in constant time.
import { newId } from "../base/ids.ts";
import { ok, type Result, refused } from "../base/result.ts";
import { type EnrolledHome, enrol, labelOf, renew, type Token, usableToken } from "../core/relay/records.ts";
import { decodeToken, encodeToken, SECRET_BYTES } from "../wire/tunnel/token.ts";
import { sameSecret, sha256 } from "../world/hash.ts";
import type { Authority, Certified } from "./authority.ts";
import { AddressLimit } from "./pace.ts";
import type { RelayWorld } from "./ports.ts";
import type { RecordsStore } from "./records-store.ts";

const MINUTE_MS = 60_000;
/** EN2. Nobody guesses 128 bits; this keeps the log and the processor free. */
const WRONG_TOKENS = 10;
const ALL_WRONG_TOKENS = 100;
/** Of one home: one that needs more has a fault of its own. */
const RENEWALS = 10;
const HOUR_MS = 60 * MINUTE_MS;
const ID_BYTES = 16;
/** Three bytes as hex: labels differ even if people give all their homes the same name. */
const SUFFIX_BYTES = 3;
const ALL = "all";

export type Enrolled = Certified & { readonly id: string };
type Given = { readonly token: string; readonly request: string; readonly name: string };

export class EnrolmentDesk {
  readonly #world: Pick<RelayWorld, "clock" | "random">;
  readonly #store: RecordsStore;
  readonly #authority: Authority;
  readonly #lifeMs: number;
  readonly #wrong: AddressLimit;
  readonly #allWrong: AddressLimit;
  readonly #renewals: AddressLimit;

  constructor(
    world: Pick<RelayWorld, "clock" | "random">,
    ports: { readonly store: RecordsStore; readonly authority: Authority; readonly lifeMs: number },
  ) {
    this.#world = world;
    this.#store = ports.store;
    this.#authority = ports.authority;
    this.#lifeMs = ports.lifeMs;
    this.#wrong = new AddressLimit(world.clock, WRONG_TOKENS, MINUTE_MS);
    this.#allWrong = new AddressLimit(world.clock, ALL_WRONG_TOKENS, MINUTE_MS);
    this.#renewals = new AddressLimit(world.clock, RENEWALS, HOUR_MS);
  }

  /** A new secret, with its hash and the word that people copy. */
  newToken(): { readonly hash: string; readonly token: string } {
    const secret = this.#world.random.bytes(SECRET_BYTES).toHex();
    return { hash: sha256(secret), token: encodeToken({ secret, authority: this.#authority.hash }) };
  }

  async enrol({ token, request, name }: Given, address: string): Promise<Result<Enrolled>> {
    if (this.#wrong.isOver(address) || this.#allWrong.isOver(ALL)) return TOO_MANY; // EN2
    const found = this.#tokenIn(token);
    if (!found.ok) {
      this.#wrong.count(address);
      this.#allWrong.count(ALL);
      return found;
    }
    const id = newId(this.#world.random.bytes(ID_BYTES));
    const issued = await this.#authority.issue(request, id, this.#lifeMs);
    if (issued === undefined) return BAD_REQUEST;
    const label = labelOf(found.value.name ?? name, this.#world.random.bytes(SUFFIX_BYTES).toHex());
    const { serial, notAfter } = issued;
    const given = { home: id, label, name, token: found.value.hash, serial, notAfter };
    const done = await this.#store.change({ address, home: id }, (before, now) => enrol(before, given, now)); // EN1
    return done.ok ? ok({ id, ...issued }) : done;
  }

  /** EN2 */
  #tokenIn(text: string): Result<Token> {
    const hash = sha256(decodeToken(text)?.secret ?? "");
    const { records } = this.#store;
    let known = "";
    for (const one of records.tokens.keys()) if (sameSecret(hash, one)) known = one;
    return usableToken(records, known, this.#world.clock.now());
  }

  async renew(home: EnrolledHome, request: string, address: string): Promise<Result<Enrolled>> {
    if (!this.#renewals.count(home.id)) return TOO_MANY;
    const issued = await this.#authority.issue(request, home.id, this.#lifeMs);
    if (issued === undefined) return BAD_REQUEST;
    const given = { home: home.id, serial: issued.serial, notAfter: issued.notAfter };
    const done = await this.#store.change({ address, home: home.id }, (before, now) => renew(before, given, now)); // EN1
    return done.ok ? ok({ id: home.id, ...issued }) : done;
  }
}

const TOO_MANY = refused("too-many", "There were too many attempts.", "Wait a minute.");
const BAD_REQUEST = refused("bad-request", "The certificate request is not valid.", "Update Holdfast on the home.");
