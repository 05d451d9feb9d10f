// `bun src/proxy/inside-main.ts SOCKET CWD PROGRAM WORDS…`: the first program in a sandbox without a network. It offers
// the proxy outside, which is a unix socket, as an address on the sandbox's own loopback, and runs the agent's program.
// IN1. The program starts once the address can be used, with our input and output; its end is ours.
// IN2. Signals are meant for the program, which gets them itself: it is in our group.
// IN3. If the proxy is away, a connection waits for the next one: the daemon starts it.
import { exitCodeOf } from "../base/exit-code.ts";
import { isFault } from "../base/fault.ts";
import { PROXY_PORT } from "../wire/proxy/order.ts";
import type { Program } from "../world/program.ts";
import { realClock } from "../world/real/clock.ts";
import { realConsole } from "../world/real/console.ts";
import { runInOurPlace } from "../world/real/in-our-place.ts";
import { realNetwork } from "../world/real/network.ts";
import { realProgram } from "../world/real/program.ts";
import { realSockets } from "../world/real/socket.ts";
import { Forwarder } from "./forwarder.ts";

const USAGE = 2;
/** As of shells: it could not be started. */
const NOT_STARTED = 127;

async function main(program: Program): Promise<void> {
  const [socket, cwd, name, ...words] = program.args;
  if (socket === undefined || cwd === undefined || name === undefined) return program.exit(USAGE);
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) program.onSignal(signal, () => undefined); // IN2
  const [clock, sockets] = [realClock(), realSockets()];
  const forwarder = new Forwarder({ clock, dial: (events) => sockets.connect(socket, events) });
  try {
    realNetwork().listen(PROXY_PORT, (connection) => forwarder.accept(connection));
    const { ended } = runInOurPlace({ argv: [name, ...words], cwd, env: program.environment() }); // IN1
    void program.rest(); // Loading leaves much garbage.
    const ending = await ended;
    program.exit(exitCodeOf({ code: null, signal: null, ...ending }));
  } catch (error) {
    if (!isFault(error)) throw error;
    await realConsole().err.write(`sandbox: execvp ${name}: ${error.code}\n`);
    program.exit(NOT_STARTED);
  }
}

void main(realProgram()); // Not awaited: its bundle is not a module.
