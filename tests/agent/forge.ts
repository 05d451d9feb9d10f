// Writes a line into the program of a held process, as its daemon would: forge.ts SOCKET HOLDER.JSON LINE. Prints what
// the holder says to it.
import { readFileSync } from "node:fs";
import { HolderClient } from "../../src/wire/holder/client.ts";
import { realSockets } from "../../src/world/real/socket.ts";

const [socket = "", spec = "", line = ""] = process.argv.slice(2);
const { token } = JSON.parse(readFileSync(spec, "utf8"));
const client = new HolderClient((events) => realSockets().connect(socket, events), { token, writer: "forger" });
const welcome = await client.connect();
const typed = welcome.ok ? await client.input(Buffer.from(`${line}\n`)) : welcome;
process.stdout.write(typed.ok ? "typed\n" : `${typed.error.code}\n`);
process.exit(0);
