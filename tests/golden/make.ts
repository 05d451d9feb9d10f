// Makes the golden home of a version: `bun tests/golden/make.ts v0.1` writes tests/golden/v0.1 (README.md says when).
// It needs Linux, root and tmux.
// MK1. Nothing of the machine is in it: all happens at paths that any machine could have, with pids, a host name and a
//      /tmp of its own.
// MK2. The home is left as a power cut leaves it, with something in the write-ahead log that no session's log has.
// MK3. What the version itself says of the home, once it has opened it elsewhere, is what every later version must say.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/files.ts";
import { details, firstLook, type Left, lists, settle } from "./look.ts";
import { Opened } from "./opened.ts";
import { Product } from "./product.ts";
import { programs } from "./programs.ts";
import { firstBoot, furnish, secondBoot } from "./story.ts";

/** MK1. The first process waits for all others, as the first one of a machine does. */
const MACHINE = `hostname golden
mount -t tmpfs none /opt && mkdir /opt/holdfast && mount --bind "$1" /opt/holdfast && mount -t tmpfs none /tmp || exit 1
cd /opt/holdfast
env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp node_modules/.bin/bun tests/golden/make.ts "$2" inside &
wait $!`;
let asked = 0;
const SECRET = "told-to-nobody";
const GOLDEN = "/tmp/holdfast-golden";

function pack(archive: string, root: string, ...what: readonly string[]): void {
  const plain = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--exclude=*.sock", "--exclude=ballast"];
  const { exitCode, stderr } = Bun.spawnSync(["tar", "-czf", archive, ...plain, "-C", root, ...what]);
  if (exitCode !== 0) throw new Error(`${archive}: ${stderr.toString()}`);
}

/** Two boots, each ended by a power cut. Returns when, and the last entry that the log has. */
async function live(): Promise<Left> {
  const model = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => answer() });
  furnish(GOLDEN, `http://127.0.0.1:${model.port}/v1`);
  const boot = (id: string) =>
    new Product({
      words: ["/opt/holdfast/holdfast"],
      root: GOLDEN,
      env: { HOLDFAST_BOOT_ID: id, GOLDEN_KEY: SECRET },
    });
  const [first, second] = [boot("boot-1"), boot("boot-2")];
  await firstBoot(first);
  await first.powerCut();
  await secondBoot(second);
  await second.powerCut();
  const at = new Date().toISOString();
  await model.stop(true);
  const { wal, whole } = await second.json("log", "verify");
  if (!whole || wal.end <= wal.drained) throw new Error("nothing is in the write-ahead log alone"); // MK2
  return { at, seq: wal.end };
}

/** What an endpoint as OpenAI's says, whatever it is asked; the first time it cannot say anything. */
function answer(): Response {
  asked += 1;
  if (asked === 1) return new Response('{"error":{"message":"not now"}}', { status: 503 });
  const chunk = (delta: unknown, finish: string | null = null) => ({
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const said = [chunk({ role: "assistant", content: "Nothing " }), chunk({ content: "much." }), chunk({}, "stop")];
  const lines = [...said.map((part) => JSON.stringify(part)), "[DONE]"].map((line) => `data: ${line}\n\n`);
  return new Response(lines.join(""), { headers: { "content-type": "text/event-stream" } });
}

/** MK3 */
async function expected(version: string, left: Left): Promise<unknown> {
  const opened = new Opened(version, left);
  const product = opened.boot();
  try {
    await product.ok(["up"]);
    await settle(product);
    const first = await firstLook(product);
    return { left, first, lists: await lists(product, left), details: await details(product, left) };
  } finally {
    await product.powerCut();
    opened.remove();
  }
}

async function make(version: string): Promise<void> {
  const folder = join(import.meta.dir, version);
  mkdirSync(folder, { recursive: true });
  const left = await live();
  pack(join(folder, "home.tar.gz"), GOLDEN, "home", "config.toml", "flows");
  const packed = Buffer.from(Bun.gunzipSync(readFileSync(join(folder, "home.tar.gz"))));
  if (packed.includes(SECRET)) throw new Error("a secret was stored");
  pack(join(folder, "programs.tar.gz"), await programs("/tmp/programs"), "src");
  writeFileSync(join(folder, "expected.json"), `${JSON.stringify(await expected(version, left), null, 2)}\n`);
}

const [version, where] = process.argv.slice(2);
if (version === undefined) throw new Error("which version? bun tests/golden/make.ts v0.1");
if (where === "inside") await make(version);
else {
  const words = ["unshare", "--pid", "--mount", "--uts", "--fork", "--mount-proc", "sh", "-c", MACHINE, "sh"];
  const made = Bun.spawnSync([...words, ROOT, version], { stdio: ["ignore", "inherit", "inherit"] });
  Bun.spawnSync([join(ROOT, "node_modules/.bin/biome"), "format", "--write", join(import.meta.dir, version)]);
  process.exitCode = made.exitCode;
}
