// The mutants in src/relay, and in what it decides (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const RELAY = "tests/tunnel/relay.test.ts";
const BROWSER = "tests/tunnel/relay-browser.test.ts";
const RECORDS = "src/core/relay/records.test.ts";
const ADMISSION = "admission > AM1 AM2 AM3 by certificate, records and time";

export const RELAY_MUTANTS: readonly Mutant[] = [
  {
    mutant: "a certificate that has ended counts as good",
    file: "src/core/relay/admission.ts",
    from: "if (now < certificate.notAfter) return",
    to: "if (now < certificate.notAfter + graceMs) return",
    killedBy: { file: RECORDS, test: ADMISSION },
  },
  {
    mutant: "a certificate that another authority signed is accepted",
    file: "src/core/relay/admission.ts",
    from: "if (!isOurs || home === undefined",
    to: "if (home === undefined",
    killedBy: { file: RECORDS, test: ADMISSION },
  },
  {
    mutant: "the signature of a certificate is not looked at",
    file: "src/world/real/tunnel.ts",
    from: "const isOurs = given?.raw !== undefined && isSignedBy(given.raw, authority);",
    to: 'const isOurs = authority !== "" && isSignedBy !== undefined;',
    killedBy: {
      file: RELAY,
      test: "TU3 an expired certificate that names a home, with its serial, but is signed by someone else is unknown",
    },
  },
  {
    mutant: "a token can be used again",
    file: "src/core/relay/records.ts",
    from: "new Map(before.tokens).set(token, { ...used, used: true }), // RG1",
    to: "before.tokens,",
    killedBy: { file: RECORDS, test: "tokens > RG1 one that is unknown, used or expired enrols nobody" },
  },
  {
    mutant: "a revoked home stays connected",
    file: "src/relay/desk.ts",
    from: "    homes.checkAll(); // RD2\n",
    to: "",
    killedBy: { file: RELAY, test: "RD2 a revoked home is cut off, its tabs too, and stays out" },
  },
  {
    mutant: "two homes with one identity are both connected",
    file: "src/relay/homes.ts",
    from: "ok(older === undefined ? undefined : this.#replace(older, by))",
    to: "ok(older === undefined ? undefined : by.home)",
    killedBy: {
      file: RELAY,
      test: "HM1 of two homes with one identity the older is cut off, and both are told",
    },
  },
  {
    mutant: "a page of any site may open a tab",
    file: "src/relay/browsers.ts",
    from: "return origin?.host === host.toLowerCase() && schemes.includes(origin.protocol);",
    to: "return schemes.includes(origin?.protocol ?? host);",
    killedBy: { file: BROWSER, test: "BR2 a page of another host opens no tab" },
  },
  {
    mutant: "once one origin was named, a page of any may open a tab",
    file: "src/relay/browsers.ts",
    from: "if (origins.includes(from)) return true;",
    to: "if (origins.length > 0) return true;",
    killedBy: {
      file: BROWSER,
      test: "BR2 an exported page opens a tab from the origin that was named, and from no other",
    },
  },
  {
    mutant: "a browser that does not read does not stop its home",
    file: "src/relay/tab.ts",
    from: "    this.#stream.pause();\n",
    to: "",
    killedBy: {
      file: BROWSER,
      test: "TA1 a browser that does not read stops its home's stream, and no other tab",
      says: /never true: the echo|toBeLessThan/,
    },
  },
  {
    mutant: "tunnels are accepted as fast as they come",
    file: "src/relay/pace.ts",
    from: "const TURN_MS = 60;",
    to: "const TURN_MS = 1;",
    killedBy: {
      file: "src/relay/pace.test.ts",
      test: "PC1 no second has more than 20 turns, also after a timer that came late",
    },
  },
];
