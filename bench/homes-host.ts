// Homes as far as a relay sees them, many in one process: `bun bench/homes-host.ts <port> <tokens…>` enrols one for
// each token and keeps its tunnel, by the web host's own code. Prints a line each time that one is connected: when, in
// milliseconds.
import { enrol } from "../src/home/enrol.ts";
import type { Enrolment } from "../src/home/tunnel-files.ts";
import { HomeTunnel } from "../src/web/tunnel.ts";
import { realCertificates } from "../src/world/real/certificates.ts";
import { realTunnels } from "../src/world/real/tunnel.ts";
import { realWorld } from "../src/world/world.ts";

const [port = "", ...tokens] = Bun.argv.slice(2);
const world = { ...realWorld(), tunnels: realTunnels(), certificates: realCertificates() };
/** As web hosts do with each heartbeat. */
const LOOK_MS = 2_000;
const NOTHING = { bytes: () => undefined, drained: () => undefined, closed: () => undefined };

for (const [at, token] of tokens.entries()) {
  const enrolled = await enrol(world, { host: "localhost", port: Number(port) }, token, `home ${at}`);
  if (!enrolled.ok) throw new Error(enrolled.error.message);
  let enrolment: Enrolment = enrolled.value;
  const home = new HomeTunnel({
    ...world,
    enrolment: () => enrolment,
    store: async (renewed) => {
      enrolment = renewed;
    },
    isWanted: () => true,
    tab: () => NOTHING,
    changed: ({ state }) => {
      if (state === "Connected") console.log(Date.now());
    },
    say: () => undefined,
  });
  home.look();
  setInterval(() => home.look(), LOOK_MS);
}
