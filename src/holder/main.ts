// The entry of a holder: `bun src/holder/main.ts <the terminal's directory>`. It is
// started detached, and outlives its starter. A holder of several children, one after the
// other, is orders-main.ts: what only that one needs would cost each terminal memory.
import { ENTRUSTED, entrusted } from "../wire/holder/secrets.ts";
import type { Program } from "../world/program.ts";
import { LOOK_AT_PEER, tellPeer } from "../world/real/peer.ts";
import { realProgram } from "../world/real/program.ts";
import { Hold } from "./hold.ts";

const USAGE = 2;

async function main(program: Program): Promise<void> {
  const [directory, ageMs] = program.args;
  if (directory === undefined) return program.exit(USAGE);
  if (directory === LOOK_AT_PEER) return tellPeer(ageMs);
  program.rest(); // Loading leaves much garbage; new data reuses its space.
  await new Hold(program).one({ directory, secrets: entrusted(program.variable(ENTRUSTED)) });
  program.exit(0);
}

void main(realProgram()); // Not awaited: the bundle is CommonJS, and an exception ends the process all the same.
