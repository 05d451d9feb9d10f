// A device that watches a terminal from afar: `bun stream-process.ts <pairing link> <terminal>`. The program in it
// counts aloud; each number that comes is printed if it is the next one, and anything else is printed as wrong.
import { FarDevice, newDevice } from "../../bench/far-device.ts";

const [link = "", terminal = ""] = Bun.argv.slice(2);
const device = new FarDevice(newDevice(link));
let [rest, next] = ["", 0];

function take(text: string): void {
  const lines = (rest + text).split("\r\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    console.log(line === `${next}` ? line : `wrong: ${JSON.stringify(line)} instead of ${next}`);
    next += 1;
  }
}

const decoder = new TextDecoder();
const client = device.terminal(terminal, {
  output: (_, bytes) => take(decoder.decode(bytes, { stream: true })),
  resync: (offset) => console.log(`wrong: cut to ${offset}`),
  lost: () => void watch(),
});

/** Where it was, on the next connection. */
async function watch(): Promise<void> {
  await device.up();
  const welcome = await client.connect();
  if (!welcome.ok && !client.connected) setTimeout(() => void watch(), 100);
}

void watch();
setInterval(() => undefined, 60_000); // It stays, also while there is no connection.
