// Logging in to a PostgreSQL server, from the first message until it is ready.
// LO1. A server that lets us in without proof of who it is (no SCRAM, no verified TLS, not on this machine) is refused:
//      anyone who can answer at that address could be it.
// LO2. A password is sent as it is only to a server whose certificate has its name. A hash of MD5 is never sent.
// LO3. Channel binding is used if both sides can. If it is required, nothing else will do.
import type { PostgresTarget } from "../../postgres.ts";
import type { Channel } from "./channel.ts";
import { Fields, type Frame, frame, ProtocolError, textOf } from "./frames.ts";
import { type BackendKey, noticeIn, startup } from "./messages.ts";
import { type Binding, SCRAM, SCRAM_PLUS, Scram } from "./scram.ts";
import type { Trust } from "./stream.ts";

/** The server, or we, refused the connection. `hint`: what to do about it. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

export type LoginFacts = Pick<PostgresTarget, "user" | "database" | "applicationName" | "channelBinding"> & {
  readonly password: string | undefined;
  readonly trust: Trust;
  readonly binding: Binding;
  nonce(): string;
};

const [OK, CLEARTEXT, MD5, SASL, SASL_CONTINUE, SASL_FINAL] = [0, 3, 5, 10, 11, 12];
const NO_PASSWORD = "Put the password into ~/.pgpass (0600), the file of PGPASSFILE, or PGPASSWORD.";
const VERIFY = "Use sslmode=verify-full, with sslrootcert if the authority is your own.";
const MODERN = "Use SCRAM: password_encryption = 'scram-sha-256', set the password again, and say so in pg_hba.conf.";

export async function logIn(channel: Channel, facts: LoginFacts): Promise<BackendKey | undefined> {
  const { user, database, applicationName } = facts;
  channel.send(startup({ user, database, application_name: applicationName, client_encoding: "UTF8" }));
  await prove(channel, facts);
  channel.loggedIn();
  let key: BackendKey | undefined;
  for (;;) {
    const { type, body } = await answer(channel);
    const fields = new Fields(body);
    if (type === "K") key = { pid: fields.int32(), secret: fields.rest() };
    else if (type === "Z") return key;
    else if (type !== "S" && type !== "N") throw new ProtocolError(`a message of type ${type} at the start`);
  }
}

async function prove(channel: Channel, facts: LoginFacts): Promise<void> {
  let isProved = facts.trust !== "none";
  for (;;) {
    const [kind, fields] = await request(channel);
    if (kind === OK) return admit(isProved, facts);
    if (kind === SASL) {
      await scram(channel, facts, mechanismsIn(fields));
      isProved = true;
    } else sendPassword(kind, channel, facts);
  }
}

/** LO2 */
function sendPassword(kind: number, channel: Channel, facts: LoginFacts): void {
  if (kind !== CLEARTEXT) {
    const how = kind === MD5 ? "by MD5" : `in a way that we do not know (${kind})`;
    throw new LoginRefused(`The server asks for a proof ${how}.`, MODERN);
  }
  if (facts.trust !== "name") throw new LoginRefused("The server asks for the password in plain text.", VERIFY);
  if (facts.channelBinding === "require") throw notBound();
  channel.send(frame("p", passwordOf(facts)));
}

/** LO1 */
function admit(isProved: boolean, { channelBinding, binding }: LoginFacts): void {
  if (!isProved) throw new LoginRefused("The server asks for no password, and nothing proves who it is.", VERIFY);
  if (channelBinding === "require" && binding.kind !== "bound") throw notBound();
}

async function scram(channel: Channel, facts: LoginFacts, offered: readonly string[]): Promise<void> {
  const isPlus = offered.includes(SCRAM_PLUS) && facts.binding.kind === "bound"; // LO3
  if (facts.channelBinding === "require" && !isPlus) throw notBound();
  if (!isPlus && !offered.includes(SCRAM)) throw new LoginRefused("The server offers no SCRAM-SHA-256.", MODERN);
  const binding: Binding = isPlus || facts.binding.kind !== "bound" ? facts.binding : { kind: "not offered" };
  const login = new Scram({ user: "", password: passwordOf(facts), nonce: facts.nonce(), binding });
  const first = Buffer.from(login.first);
  channel.send(frame("p", isPlus ? SCRAM_PLUS : SCRAM, first.length, first));
  const proof = await login.proof(await step(channel, SASL_CONTINUE));
  channel.send(frame("p", Buffer.from(proof)));
  login.verify(await step(channel, SASL_FINAL));
}

async function step(channel: Channel, expected: number | undefined): Promise<string> {
  const [kind, fields] = await request(channel);
  if (kind !== expected) throw new ProtocolError(`a step ${kind} of its login, which is not due`);
  return textOf(fields.rest());
}

async function request(channel: Channel): Promise<[kind: number, fields: Fields]> {
  const { type, body } = await answer(channel);
  if (type !== "R") throw new ProtocolError(`a message of type ${type} before the login`);
  const fields = new Fields(body);
  return [fields.int32(), fields];
}

async function answer(channel: Channel): Promise<Frame> {
  const given = await channel.next();
  if (given.type !== "E") return given;
  const { sqlstate, message } = noticeIn(given.body);
  throw new LoginRefused(`The server says: ${message} (${sqlstate}).`, HINTS[sqlstate] ?? "Check the server's log.");
}

const HINTS: Readonly<Record<string, string>> = {
  "28P01": NO_PASSWORD,
  "28000": "Check pg_hba.conf: it must admit this user from this machine.",
  "3D000": "Create the database, or name another one in the URL.",
  "53300": "The server has no connections left. Raise max_connections, or end some.",
  "57P03": "The server is starting or stopping. Wait for it.",
};

function mechanismsIn(fields: Fields): string[] {
  const names: string[] = [];
  while (!fields.isAtEnd) {
    const name = fields.text();
    if (name === "") break;
    names.push(name);
  }
  return names;
}

function passwordOf({ password }: LoginFacts): string {
  if (password === undefined) throw new LoginRefused("The server asks for a password, and there is none.", NO_PASSWORD);
  return password;
}

function notBound(): LoginRefused {
  return new LoginRefused("The server does not bind its login to TLS, which was required.", VERIFY);
}
