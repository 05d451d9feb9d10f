// Addresses of the internet, as text and as bytes.
// AD1. Only what is surely an address of another machine on the public internet is public: loopback, private and
//      link-local ranges are not, nor is an IPv6 address that contains one of IPv4.

/** The 4 or 16 bytes of an address in its usual form; undefined if the text is none. */
export function addressBytes(text: string): readonly number[] | undefined {
  return text.includes(":") ? bytesOfV6(text) : bytesOfV4(text);
}

function bytesOfV4(text: string): readonly number[] | undefined {
  if (!/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

const GROUPS = 8;

function bytesOfV6(text: string): readonly number[] | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const [first, last] = [groupsOf(head), tail === undefined ? [] : groupsOf(tail)];
  if (first === undefined || last === undefined) return undefined;
  const missing = GROUPS - first.length - last.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...first, ...Array<number>(missing).fill(0), ...last];
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

/** The 16-bit groups between colons; the last one may be an IPv4 address, which is two. */
function groupsOf(text: string): number[] | undefined {
  const groups: number[] = [];
  for (const word of text === "" ? [] : text.split(":")) {
    const [a, b, c, d] = word.includes(".") ? (bytesOfV4(word) ?? []) : [];
    if (a !== undefined && b !== undefined && c !== undefined && d !== undefined)
      groups.push((a << 8) | b, (c << 8) | d);
    else if (/^[\da-f]{1,4}$/i.test(word)) groups.push(Number.parseInt(word, 16));
    else return undefined;
  }
  return groups;
}

/** As address and number of bits. What they are for is in the registries of IANA for special-purpose addresses. */
const NOT_PUBLIC = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
];
/** All of IPv6 that is given to machines. */
const GLOBAL_V6 = "2000::/3";

/** AD1 */
export function isPublic(address: string): boolean {
  const bytes = addressBytes(address);
  if (bytes === undefined || NOT_PUBLIC.some((range) => isWithin(bytes, range))) return false;
  return bytes.length === 4 || isWithin(bytes, GLOBAL_V6);
}

/** `range`: as `10.0.0.0/8`. */
export function isWithin(bytes: readonly number[], range: string): boolean {
  const [start = "", bits = ""] = range.split("/");
  const first = addressBytes(start) ?? [];
  if (first.length !== bytes.length) return false;
  return bytes.every((byte, at) => {
    const shift = 8 - Math.min(8, Math.max(0, Number(bits) - 8 * at));
    return byte >> shift === (first[at] ?? 0) >> shift;
  });
}
