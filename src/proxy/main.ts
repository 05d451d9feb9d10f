// `bun src/proxy/main.ts DIRECTORY`: the proxy of one process of an agent in a sandbox, whose directory is given. What
// it may do is one line on its standard input (wire/proxy/order.ts). It is started detached, and outlives the daemon.
// PX1. It listens on a unix socket that only the sandbox and this user can reach. If another one answers there, it
//      leaves.
// PX2. It ends with the process that it serves (lifetime.ts), or if its socket was removed: then it serves nobody.
import { isFault } from "../base/fault.ts";
import { LineReader } from "../wire/lines.ts";
import { type ProxyOrder, parseProxyOrder } from "../wire/proxy/order.ts";
import type { Program } from "../world/program.ts";
import { realClock } from "../world/real/clock.ts";
import { realDisk } from "../world/real/disk.ts";
import { realIdentities } from "../world/real/identities.ts";
import { realInput } from "../world/real/input.ts";
import { realNetwork } from "../world/real/network.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import type { Listener } from "../world/socket.ts";
import { isNeeded } from "./lifetime.ts";
import { Passages } from "./passages.ts";

const USAGE = 2;
const LOOK_MS = 2_000;

async function main(program: Program): Promise<void> {
  const [directory] = program.args;
  const order = directory === undefined ? undefined : await orderIn(realInput());
  if (directory === undefined || order === undefined) return program.exit(USAGE);
  const clock = realClock();
  const passages = new Passages({ network: realNetwork(), order, elapsed: () => clock.elapsed() });
  const listener = await listen(order.socket, passages);
  if (listener === undefined) return program.exit(0); // PX1
  void program.rest(); // Loading leaves much garbage.
  const [disk, processes, since] = [realDisk(), realIdentities(), clock.elapsed()];
  const look = () => {
    const isWanted = listener.inPlace() && isNeeded(disk, processes, directory, clock.elapsed() - since);
    if (!isWanted) {
      listener.close();
      program.exit(0); // PX2
    }
    passages.look();
    clock.after(LOOK_MS, look);
  };
  look();
}

async function orderIn(input: AsyncIterable<Uint8Array>): Promise<ProxyOrder | undefined> {
  const reader = new LineReader();
  for await (const bytes of input) {
    const [line] = reader.push(bytes) ?? [""];
    if (line !== undefined) return parseProxyOrder(line);
  }
  return undefined;
}

async function listen(path: string, passages: Passages): Promise<Listener | undefined> {
  try {
    return await realSockets().listen(path, (connection) => passages.accept(connection));
  } catch (error) {
    if (isFault(error, "EADDRINUSE")) return undefined; // PX1
    throw error;
  }
}

void main(realProgram()); // Not awaited: its bundle is not a module.
