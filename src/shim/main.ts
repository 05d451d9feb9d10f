// `bun src/shim/main.ts`: started by an agent as its MCP server, with the
// home and the agent's id in the environment. It ends with its input.
import { readWhole } from "../log/file/file.ts";
import { LineReader } from "../wire/lines.ts";
import { TOOLS } from "../wire/provider/tools.ts";
import { bearerOf } from "../wire/rpc/agent.ts";
import { VERSION } from "../wire/version.ts";
import { realClock } from "../world/real/clock.ts";
import { realConsole } from "../world/real/console.ts";
import { realDisk } from "../world/real/disk.ts";
import { realInput } from "../world/real/input.ts";
import { realProgram } from "../world/real/program.ts";
import { realRandom } from "../world/real/random.ts";
import { realSockets } from "../world/real/socket.ts";
import { Shim } from "./shim.ts";

const USAGE = 2;
const TOO_LONG = 1;

async function main(): Promise<void> {
  const [program, clock, disk, random, sockets] = [realProgram(), realClock(), realDisk(), realRandom(), realSockets()];
  const { out } = realConsole();
  const [home, agent] = [program.variable("HOLDFAST_HOME"), program.variable("HOLDFAST_AGENT")];
  if (home === undefined || agent === undefined) return program.exit(USAGE);
  const secret = () => readWhole(disk, `${home}/agents/${agent}/token`);
  const shim = new Shim(
    {
      dial: (events) => sockets.connect(`${home}/run/daemon.sock`, events),
      token: () => {
        const bytes = secret();
        return bytes && bearerOf(agent, new TextDecoder().decode(bytes).trim());
      },
      after: (ms, fn) => clock.after(ms, fn),
      chance: () => random.fraction(),
      write: (line) => out.write(line),
    },
    { version: VERSION, tools: TOOLS, name: random.bytes(8).toHex() },
  );
  const reader = new LineReader();
  for await (const bytes of realInput()) {
    const lines = reader.push(bytes);
    if (lines === undefined) return program.exit(TOO_LONG);
    for (const line of lines) void shim.take(line);
  }
  program.exit(0);
}

void main(); // Not awaited: its bundle is not a module.
