// A device as a process that can be killed: `bun device-process.ts <file> <port>`. Its file has what it keeps; it
// reaches the relay at this port. Prints what it sees as JSON lines, and answers the prompts that it is told to.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { FarDevice } from "../../bench/far-device.ts";
import { newId } from "../../src/base/ids.ts";

const [file = "", port = ""] = Bun.argv.slice(2);

const device = new FarDevice(JSON.parse(readFileSync(file, "utf8")), {
  port: Number(port),
  keep: (kept) => {
    writeFileSync(`${file}.new`, JSON.stringify(kept));
    renameSync(`${file}.new`, file);
  },
  changed: () => void look(),
});

function print(seen: object): void {
  process.stdout.write(`${JSON.stringify(seen)}\n`);
}

async function look(): Promise<void> {
  const list = await device.client.call("prompt.list", {});
  if (!list.ok) return;
  const open = list.value.filter(({ state }) => state === "open");
  print({ open: Object.fromEntries(open.map(({ name, id }) => [name, id])) });
}

/** As a click does. What the host answers itself comes after it has passed on the answer. */
async function answer(prompt: string): Promise<void> {
  const id = newId(crypto.getRandomValues(new Uint8Array(16)));
  const answered = device.client.call("prompt.answer", { prompt, answer: id, decision: "allow" });
  void device.client.call("web.state", {}).then((state) => print({ passed: state.ok }));
  print({ answered: (await answered).ok });
}

device.client.start();
for await (const line of console) {
  if (line === "look") await look();
  else void answer(line);
}
