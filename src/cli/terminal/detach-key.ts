// Finds the detach key in typed input: as the plain byte, and as terminals send it in other keyboard protocols.
import { controlByte } from "../../wire/files/config-fields.ts";
import type { DetachKey, Typed } from "./after-key.ts";

const CONTROL = 5;

export function detachKey(setting: string | false): DetachKey {
  const byte = setting === false ? undefined : controlByte(setting);
  if (setting === false || byte === undefined) return { split: (bytes) => [{ kind: "text", bytes }] };
  const code = setting.slice("ctrl-".length).charCodeAt(0);
  // kitty's protocol, and xterm's modifyOtherKeys.
  const sequences = [`\u001b[${code};${CONTROL}u`, `\u001b[27;${CONTROL};${code}~`].map((text) => Buffer.from(text));
  return { split: (bytes) => splitAt(bytes, [Buffer.from([byte]), ...sequences]) };
}

function splitAt(bytes: Uint8Array, keys: readonly Uint8Array[]): Typed[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const pieces: Typed[] = [];
  for (let from = 0; from < bytes.length; ) {
    const places = keys.map((key) => ({ at: buffer.indexOf(key, from), length: key.length }));
    const next = places.filter(({ at }) => at >= 0).toSorted((a, b) => a.at - b.at)[0];
    const at = next?.at ?? bytes.length;
    const end = at + (next?.length ?? 0);
    if (at > from) pieces.push({ kind: "text", bytes: bytes.subarray(from, at) });
    if (end > at) pieces.push({ kind: "key", bytes: bytes.subarray(at, end) });
    from = end;
  }
  return pieces;
}
