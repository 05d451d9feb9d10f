// What can be done with an agent: start a new one, and end one.
import { newId } from "../../base/ids.ts";
import { plainLine } from "../../base/visible.ts";
import { PROVIDERS } from "../../core/agent/provider.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { randomBytes } from "../browser.ts";
import { Form } from "../parts/form.tsx";
import { openDialog } from "../state/dialog.ts";
import { go } from "../state/route.ts";
import { call, feeds, refresh } from "../state/session.ts";

type Values = Readonly<Record<string, string>>;

/** `parent`: the agent that it is below; null for a root. The id is chosen once: sending it again makes no second. */
export function askNewAgent(parent: ListedAgent | null): void {
  const id = newId(randomBytes(16));
  const known = feeds.agents.value.value ?? [];
  const providers = [...new Set([...known.map(({ provider }) => provider), ...PROVIDERS])];
  const models = [...new Set(known.flatMap(({ model }) => model ?? []))];
  const lanes = [...new Set(known.flatMap(({ lane }) => lane ?? []))];
  const cwd = parent?.cwd ?? known[0]?.cwd ?? "";
  const fields = [
    { name: "name", label: "Name", value: "" },
    { name: "instructions", label: "Instructions", value: "", isOptional: true, isLong: true },
    ...[
      { name: "cwd", label: "Directory", value: cwd, hint: "Empty: yours." },
      { name: "provider", label: "Provider", value: "", options: providers, hint: "Empty: the configured one." },
      { name: "model", label: "Model", value: "", options: models, hint: "Empty: the provider's own choice." },
      {
        name: "lane",
        label: "Lane",
        value: "",
        options: lanes,
        hint: parent === null ? "Empty: main." : "Empty: as above.",
      },
      { name: "command", label: "Command", value: "", hint: "Empty: the provider's own." },
    ].map((field) => ({ ...field, isOptional: true })),
  ];
  const create = async ({ name = "", instructions = "", cwd: at = "", provider = "", model = "", ...rest }: Values) => {
    const wish = { id, name, parent: parent?.id ?? null, instructions, provider, model, cwd: at };
    const made = await call("web.new-agent", { ...wish, command: rest["command"] ?? "", lane: rest["lane"] ?? "" });
    if (made.ok) go({ view: "agent", id: made.value.id });
    return made;
  };
  openDialog(
    parent === null ? "New agent" : `New agent below ${plainLine(parent.name)}`,
    <Form fields={fields} submit="Start" success="The agent is started." run={create} done={() => refresh("agents")} />,
  );
}

export function askTerminate({ id, name }: ListedAgent): void {
  const below = (feeds.agents.value.value ?? []).filter(({ parent }) => parent === id).length;
  openDialog(
    `End ${plainLine(name)}?`,
    <Form
      fields={[{ name: "reason", label: "Reason", value: "ended by a person in the page", isOptional: true }]}
      submit="End it"
      danger
      success={`${plainLine(name)} is ended.`}
      run={({ reason = "" }) => call("agent.terminate", { id, reason })}
      done={() => refresh("agents")}
    >
      <p>
        Its process is stopped, {below > 0 && "the agents below it end too, "}and it cannot be started again. What it
        has written stays.
      </p>
    </Form>,
  );
}
