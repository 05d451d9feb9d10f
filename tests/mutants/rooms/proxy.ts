// The mutants in src/proxy (../mutant.ts).
import type { Mutant } from "../mutant.ts";

const WAY = "src/proxy/way.ts";
const TEST = "src/proxy/passage.test.ts";

export const PROXY: readonly Mutant[] = [
  {
    mutant: "a sandbox reaches hosts that are not listed",
    file: WAY,
    from: "  if (!isListed(order.egress, to)) return notListed(to);\n",
    to: "",
    killedBy: {
      file: TEST,
      test: "PS1 a host or port that is not listed is refused before anything is asked of the network",
    },
  },
  {
    mutant: "a listed name leads to any address",
    file: WAY,
    from: "const addresses = found.filter((host) => mayReach(order.egress, { host, port: to.port }, own));",
    to: "const addresses = found.filter((host) => own.length >= 0 && mayReach([host], { host, port: 443 }, []));",
    killedBy: {
      file: TEST,
      test: "PS1 a listed name that leads to a near address is refused, unless that address is listed itself",
    },
  },
  {
    mutant: "what follows the body of a request is passed on to the service",
    file: "src/proxy/passage.ts",
    from: "    this.#left = way.length;\n",
    to: "",
    killedBy: {
      file: TEST,
      test: "PS2, PS3 a request goes to the service with our identity, and no second one rides on it",
    },
  },
  {
    mutant: "a slow service does not stop a sandbox from sending",
    file: "src/proxy/joint.ts",
    from: "  if (to.waiting > MAX_WAITING) from.pause();\n",
    to: "  from.flush();\n",
    killedBy: { file: TEST, test: "a side that does not accept bytes stops the reading of the other" },
  },
  {
    mutant: "a proxy stays when the holder of its process has died",
    file: "src/proxy/lifetime.ts",
    from: 'claim.by === "holder" && isAlive(processes, claim)',
    to: 'claim.by === "holder" && processes.pid > 0 && isAlive !== undefined',
    killedBy: {
      file: "src/proxy/lifetime.test.ts",
      test: "LT1 a proxy is needed while the holder of its process lives",
    },
  },
  {
    mutant: "the user's own proxy is bypassed if it cannot be used",
    file: "src/wire/proxy/upstream.ts",
    from: 'viaOf(address) ?? "unusable"',
    to: 'viaOf(address) ?? "direct"',
    killedBy: {
      file: TEST,
      test: "a proxy that refuses, is not there, is none or vouches for nobody is reported, without its password",
    },
  },
  {
    mutant: "behind the user's own proxy a name may lead to a near address",
    file: WAY,
    from: "if (addresses.length === 0 && found.length > 0) return notPublic(to, found);",
    to: 'if (addresses.length === 0 && hopTo(order.upstream, to, true) === "direct") return notPublic(to, found);',
    killedBy: {
      file: TEST,
      test: "PS1, PS5 behind the user's proxy, too, a sandbox reaches only what is listed, and no name that leads near",
    },
  },
];
