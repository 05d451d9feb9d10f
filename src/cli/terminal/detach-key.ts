// Finds the detach key in typed input: as the plain byte, and as terminals send it in other keyboard protocols.
import { controlByte } from "../../wire/files/config-fields.ts";

const CONTROL = 5;

export type DetachKey = { find(bytes: Uint8Array): number };

/** `find` returns the index of the key, or −1. */
export function detachKey(setting: string | false): DetachKey {
  const byte = setting === false ? undefined : controlByte(setting);
  if (setting === false || byte === undefined) return { find: () => -1 };
  const code = setting.slice("ctrl-".length).charCodeAt(0);
  // kitty's protocol, and xterm's modifyOtherKeys.
  const sequences = [`\u001b[${code};${CONTROL}u`, `\u001b[27;${CONTROL};${code}~`];
  return {
    find: (bytes) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      const places = [byte, ...sequences].map((key) => buffer.indexOf(key)).filter((at) => at >= 0);
      return places.length === 0 ? -1 : Math.min(...places);
    },
  };
}
