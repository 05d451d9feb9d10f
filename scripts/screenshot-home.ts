// A home with something of everything, for pictures of the page: terminals that print, agents that ask, runs that go
// on, failed, or ended in a way that nobody knows.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./files.ts";

const HOLDFAST = join(ROOT, "holdfast");
const BUN = join(ROOT, "node_modules/.bin/bun");

/** Asks for what its first argument says, once it is told anything. */
const ASKER = `
const tell = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
let rest = "";
for await (const bytes of Bun.stdin.stream()) {
  const lines = (rest + new TextDecoder().decode(bytes)).split("\\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { type } = JSON.parse(line);
    if (type === "prompt") tell({ type: "ask", request: "1", ...JSON.parse(process.argv[2]) });
    if (type === "answer") tell({ type: "done", response: "done" });
  }
}`;

const PROMPTS = {
  release: {
    tool: "Bash",
    input: {
      command:
        "git tag -s v2.4.0 -m 'Release 2.4.0'\ngit push origin v2.4.0 && gh release create v2.4.0 --notes-file NOTES.md",
      description: "Tags the release and publishes it",
    },
  },
  refactor: {
    tool: "Edit",
    input: {
      file_path: "src/queue/retry.ts",
      old_string: "export function retryDelay(tries: number): number {\n  return 1000 * tries;\n}",
      new_string:
        "/** Doubles up to a minute; jitter spreads the clients. */\nexport function retryDelay(tries: number, chance: number): number {\n  const full = Math.min(1000 * 2 ** (tries - 1), 60_000);\n  return Math.round(full * (1 - 0.2 * chance));\n}",
    },
  },
};

const COLOURS = "for (let i = 0; ; i += 1) { console.log(line(i)); await Bun.sleep(700); }";
const TERMINALS: readonly (readonly [name: string, lane: string, line: string])[] = [
  [
    "build",
    "main",
    "`\\x1b[2m12:04:${String(i % 60).padStart(2, '0')}\\x1b[0m \\x1b[${i % 7 === 3 ? '33m warn' : '32m ok  '}\\x1b[0m compiled \\x1b[36msrc/module-${i}.ts\\x1b[0m in ${20 + (i * 37) % 90} ms`",
  ],
  [
    "tests",
    "main",
    "`\\x1b[${i % 11 === 5 ? '41;97m FAIL ' : '42;30m PASS '}\\x1b[0m queue/retry.test.ts \\x1b[2m(${i + 1} of 214)\\x1b[0m`",
  ],
  [
    "api",
    "servers",
    "`\\x1b[34mGET\\x1b[0m /v1/items/${1000 + i} \\x1b[${i % 9 === 4 ? '31m500' : '32m200'}\\x1b[0m \\x1b[2m${3 + (i * 13) % 40} ms\\x1b[0m`",
  ],
  [
    "worker",
    "servers",
    "`\\x1b[35mjob ${i}\\x1b[0m \\x1b[38;5;${16 + (i * 7) % 216}m${'█'.repeat(3 + (i * 5) % 30)}\\x1b[0m`",
  ],
];

const WORKFLOWS = {
  deploy: `name: deploy
steps:
  - id: build
    shell: echo built
  - id: migrate-database
    shell: echo 'connection to db.internal:5432 refused' >&2; exit 3
`,
  backup: `name: backup
steps:
  - id: snapshot
    shell: echo done
  - id: upload
    shell: |
      echo "uploaded 41 of 97 parts"
      echo "part 42: connection reset by peer, retrying" >&2
      sleep 1
      echo "$$ $PPID" > upload.pids
      sleep 1000
`,
  "index-documents": `name: index-documents
mode: mapreduce
map:
  input: items.json
  json_path: $.files[*]
  max_parallel: 2
  steps:
    - id: index
      shell: "[ \${item} != broken.pdf ] || { echo 'no %PDF- header at byte 0' >&2; exit 1; }"
`,
  "train-model": `name: train-model
steps:
  - id: prepare
    shell: echo ready
  - id: train
    shell: sleep 1000
  - id: evaluate
    shell: echo 1
`,
  lint: `name: lint
steps:
  - id: check
    shell: echo clean
`,
};

export class ScreenshotHome {
  readonly path = mkdtempSync(join(tmpdir(), "hf-"));
  readonly work = join(this.path, "shop");
  readonly #env: Record<string, string>;

  constructor() {
    this.#env = { ...process.env, HOLDFAST_HOME: join(this.path, "home") } as Record<string, string>;
    mkdirSync(this.work);
    writeFileSync(join(this.work, "asker.mjs"), ASKER);
    writeFileSync(join(this.work, "items.json"), JSON.stringify({ files: ["a.pdf", "b.pdf", "broken.pdf", "c.pdf"] }));
    for (const [name, text] of Object.entries(WORKFLOWS)) writeFileSync(join(this.work, `${name}.yml`), text);
  }

  /** What a command printed. A command that fails, as a failing run does, is not an error here. */
  run(...words: readonly string[]): string {
    const options = { cwd: this.work, env: this.#env, stdout: "pipe", stderr: "pipe" } as const;
    return Bun.spawnSync([HOLDFAST, ...words], options).stdout.toString();
  }

  async fill(): Promise<void> {
    this.run("up");
    for (const [name, lane, line] of TERMINALS) {
      const script = join(this.work, `${name}.mjs`);
      writeFileSync(
        script,
        `const line = (i) => ${line};\nfor (let i = 0; i < 40; i += 1) console.log(line(i));\n${COLOURS}`,
      );
      this.run("new", "--detach", "--lane", lane, name, "--", BUN, `${name}.mjs`);
    }
    this.run(
      "new",
      "--detach",
      "shell",
      "--",
      "/bin/sh",
      "-c",
      "printf '\\033[1;32mann@build\\033[0m:\\033[1;34m~/shop\\033[0m$ git log --oneline\\n'; exec /bin/sh -i",
    );
    for (const [name, prompt] of Object.entries(PROMPTS)) {
      const command = [BUN, join(this.work, "asker.mjs"), JSON.stringify(prompt)];
      this.run("agent", "new", "--provider", "scripted", "--instructions", "Go.", name, "--", ...command);
    }
    for (const name of ["lint", "deploy", "index-documents"]) this.run("run", `${name}.yml`);
    for (const name of ["train-model", "backup"]) this.run("run", "--detach", `${name}.yml`);
    await this.#losePids(join(this.work, "upload.pids"));
    for (const program of ["web", "daemon"] as const) await this.#crash(program);
  }

  /** The watchdog starts it again. */
  async #crash(program: "web" | "daemon"): Promise<void> {
    const pid = () => JSON.parse(this.run("status", "--json"))[program].pid;
    const before = pid();
    process.kill(before, "SIGKILL");
    while ([before, null].includes(pid())) await Bun.sleep(50);
    this.run("up");
  }

  /** As if both were killed by something from outside: how the step ended is not known. */
  async #losePids(path: string): Promise<void> {
    while (!(await Bun.file(path).exists())) await Bun.sleep(50);
    const [child = "", holder = ""] = (await Bun.file(path).text()).trim().split(" ");
    for (const pid of [holder, child]) process.kill(Number(pid), "SIGKILL");
  }

  link(): string {
    return /https?:[^"]+/.exec(this.run("open", "--json"))?.[0] ?? "";
  }

  close(): void {
    this.run("down", "--kill");
    rmSync(this.path, { recursive: true, force: true });
  }
}
