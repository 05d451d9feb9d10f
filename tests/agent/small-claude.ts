// Stands in for Claude Code: its protocol on pipes, its transcript, and requests to its API with its variables. A
// message that begins with `sh:` is run by a shell, and answered with what that prints; every other one is passed to
// the API. Like the real one, it refuses to begin a conversation that exists, and to resume one that does not.
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

const words = process.argv.slice(2);
const [resumed, begun] = [words.indexOf("--resume"), words.indexOf("--session-id")];
const session = words[(resumed < 0 ? begun : resumed) + 1] ?? "";
const { env } = process;
const root = env["CLAUDE_CONFIG_DIR"] ?? join(env["HOME"] ?? "/", ".claude");
const directory = join(root, "projects", process.cwd().replace(/[^A-Za-z0-9]/g, "-"));
const transcript = join(directory, `${session}.jsonl`);

function print(message: object): void {
  process.stdout.write(`${JSON.stringify({ session_id: session, ...message })}\n`);
}

async function ask(text: string): Promise<string> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (env["ANTHROPIC_API_KEY"] !== undefined) headers["x-api-key"] = env["ANTHROPIC_API_KEY"];
  else headers["authorization"] = `Bearer ${env["CLAUDE_CODE_OAUTH_TOKEN"]}`;
  const messages = [{ role: "user", content: text }];
  const body = JSON.stringify({ model: "m", stream: true, tools: [{ name: "Bash" }], messages });
  const base = env["ANTHROPIC_BASE_URL"] ?? "https://api.anthropic.com";
  const answer = await (await fetch(`${base}/v1/messages`, { method: "POST", headers, body })).text();
  return /"text_delta","text":"([^"]*)"/.exec(answer)?.[1] ?? answer;
}

/** As the real one, it asks again if the connection breaks. */
async function answerTo(text: string): Promise<string> {
  if (text.startsWith("sh:")) {
    const done = Bun.spawnSync(["/bin/sh", "-c", text.slice(3)], { env: { ...env } });
    return `${done.stdout}${done.stderr}`;
  }
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask(text);
    } catch (error) {
      if (tries > 10) throw error;
    }
  }
}

if (existsSync(transcript) !== resumed >= 0) {
  process.stderr.write(`session ${session}: ${resumed >= 0 ? "not found" : "is in use"}\n`);
  process.exit(1);
}
for await (const line of console) {
  const message = JSON.parse(line);
  if (message.type === "control_request")
    print({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response: {} } });
  if (message.type !== "user") continue;
  mkdirSync(directory, { recursive: true });
  appendFileSync(transcript, `${line}\n`);
  print({ type: "system", subtype: "init" });
  const text = await answerTo(message.message.content);
  print({ type: "assistant", parent_tool_use_id: null, message: { content: [{ type: "text", text }] } });
  print({ type: "result", subtype: "success", is_error: false, result: text });
}
