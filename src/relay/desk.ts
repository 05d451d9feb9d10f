// Answers what commands ask of a running relay, over a socket in its home that only its user can open.
// RD1. One request for each connection; whoever sends none in time, or too much, is closed.
// RD2. What is answered is durable (RS1 of records-store.ts), and a revoked home is already cut off.
import { isFault } from "../base/fault.ts";
import { matchOne } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type EnrolledHome, makeToken, revoke } from "../core/relay/records.ts";
import { LineReader } from "../wire/lines.ts";
import {
  type DeskRequest,
  type DeskResults,
  deskAnswer,
  deskRequest,
  type ListedHome,
  MAX_REQUEST,
  type RelayStatus,
} from "../wire/relay/desk.ts";
import type { Clock } from "../world/clock.ts";
import type { Connection, ConnectionEvents } from "../world/socket.ts";
import type { EnrolmentDesk } from "./enrolment.ts";
import type { Homes } from "./homes.ts";
import type { RecordsStore } from "./records-store.ts";

const REQUEST_MS = 10_000;
const OPERATOR = { operator: true } as const;

export type DeskPorts = {
  readonly clock: Clock;
  readonly store: RecordsStore;
  readonly enrolment: EnrolmentDesk;
  readonly homes: Homes;
  urlOf(id: string): string;
  status(): RelayStatus;
};

export class Desk {
  readonly #ports: DeskPorts;

  constructor(ports: DeskPorts) {
    this.#ports = ports;
  }

  accept(connection: Connection): ConnectionEvents {
    const reader = new LineReader(MAX_REQUEST);
    const stopWaiting = this.#ports.clock.after(REQUEST_MS, () => connection.destroy()); // RD1
    let isAsked = false;
    const bytes = (given: Uint8Array) => {
      const lines = reader.push(given);
      if (lines === undefined) connection.destroy(); // RD1
      const line = lines?.[0];
      if (line === undefined || isAsked) return;
      isAsked = true;
      stopWaiting();
      void this.#answer(line).then((answer) => {
        connection.send(deskAnswer(answer));
        connection.end();
      });
    };
    return { bytes, closed: stopWaiting };
  }

  async #answer(line: string): Promise<Result<unknown>> {
    const request = deskRequest(line);
    if (request === undefined) return { ok: false, error: NOT_A_REQUEST };
    try {
      return await this.#done(request);
    } catch (error) {
      if (!isFault(error)) throw error;
      return { ok: false, error: { code: error.code, message: error.message, hint: error.hint } };
    }
  }

  async #done(request: DeskRequest): Promise<Result<DeskResults[DeskRequest["method"]]>> {
    switch (request.method) {
      case "token":
        return this.#token(request.name, request.lifeMs);
      case "ls":
        return ok([...this.#ports.store.records.homes.values()].map((home) => this.#listed(home)));
      case "revoke":
        return this.#revoke(request.home);
      case "status":
        return ok(this.#ports.status());
      case "log":
        return ok(this.#ports.store.events(request.count));
    }
  }

  async #token(name: string | null, lifeMs: number): Promise<Result<DeskResults["token"]>> {
    const { hash, token } = this.#ports.enrolment.newToken();
    const done = await this.#ports.store.change(OPERATOR, (before, now) =>
      makeToken(before, { hash, name, lifeMs }, now),
    );
    if (!done.ok) return done;
    return ok({ token, name, until: timeText(done.value.tokens.get(hash)?.until ?? 0) });
  }

  async #revoke(key: string): Promise<Result<ListedHome>> {
    const { store, homes } = this.#ports;
    const id = homeNamed(store.records.homes, key);
    if (!id.ok) return id;
    const done = await store.change(OPERATOR, (before, now) => revoke(before, id.value, now));
    if (!done.ok) return done;
    homes.checkAll(); // RD2
    const home = done.value.homes.get(id.value);
    return home === undefined ? { ok: false, error: NOT_A_REQUEST } : ok(this.#listed(home));
  }

  #listed(home: EnrolledHome): ListedHome {
    const { id, label, name, enrolledAt, seenAt, revokedAt, certificates } = home;
    const link = this.#ports.homes.of(id);
    const until = certificates.at(-1)?.notAfter;
    return {
      ...{ id, label, name, url: this.#ports.urlOf(id), connected: link !== undefined, tabs: link?.tabs ?? 0 },
      ...{ enrolledAt: timeText(enrolledAt), seenAt: timeText(seenAt) },
      certificateUntil: until === undefined ? null : timeText(until),
      revokedAt: revokedAt === null ? null : timeText(revokedAt),
    };
  }
}

/** By its label, or its id or the beginning of it. */
function homeNamed(homes: ReadonlyMap<string, EnrolledHome>, key: string): Result<string> {
  const labelled = [...homes.values()].find(({ label }) => label === key);
  return labelled === undefined ? matchOne(homes.keys(), key) : ok(labelled.id);
}

export function timeText(time: number): string {
  return new Date(time).toISOString();
}

const NOT_A_REQUEST = {
  code: "bad-request",
  message: "The relay does not understand this.",
  hint: "It may be older than the command: restart it.",
};
