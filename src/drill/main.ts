// The entry point of the drill: `bun src/drill/main.ts FLAGS`, with the flags as JSON (wire/drill.ts). The command line
// starts it.
import { isFault } from "../base/fault.ts";
import { visible, visibleLine } from "../base/visible.ts";
import { decodeDrillFlags } from "../wire/drill.ts";
import { realConsole } from "../world/real/console.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { realSelf } from "../world/self.ts";
import { realWorld } from "../world/world.ts";
import { drill } from "./run.ts";

const FAILED = 1;
const USAGE = 2;

const program = realProgram();
const console = realConsole();

async function main(): Promise<number> {
  const flags = decodeDrillFlags(program.args[0] ?? "");
  if (flags === undefined) {
    await console.err.write("holdfast: the drill is started by `holdfast drill`\n");
    return USAGE;
  }
  try {
    return await drill({ ...realWorld(), console, sockets: realSockets(), self: realSelf() }, flags);
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, hint } = error;
    const text = flags.json === true ? JSON.stringify({ code, message, hint }) : undefined;
    await console.err.write(
      text === undefined ? visible(`holdfast: ${message}\n  → ${hint}\n`) : visibleLine(text).concat("\n"),
    );
    return FAILED;
  }
}

void console.staying(main()).then((code) => program.exit(code));
