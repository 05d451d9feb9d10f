// Who sends a push message (RFC 8292): a short-lived statement for one push service, signed with the home's key.
import { type Signing, toBase64, utf8 } from "./p256.ts";

/** A push service takes at most a day; this is more than the clocks of two machines differ. */
const VALID_S = 12 * 3_600;

/** The value of `Authorization`. `endpoint`: of the subscription; `subject`: whom the push service may write to. */
export async function vapid(key: Signing, endpoint: string, subject: string, now: number): Promise<string> {
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(now / 1000) + VALID_S, sub: subject };
  const signed = `${part({ typ: "JWT", alg: "ES256" })}.${part(claims)}`;
  const signature = await key.sign(utf8(signed));
  return `vapid t=${signed}.${toBase64(signature)}, k=${toBase64(key.publicKey)}`;
}

function part(value: unknown): string {
  return toBase64(utf8(JSON.stringify(value)));
}
