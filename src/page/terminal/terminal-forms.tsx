// What can be done with a terminal: open a new one, rename it, move it, end it.
import type { Result } from "../../base/result.ts";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { Form } from "../parts/form.tsx";
import { openDialog } from "../state/dialog.ts";
import { go } from "../state/route.ts";
import { call, feeds, refresh } from "../state/session.ts";

function lanes(): string[] {
  return [...new Set((feeds.terminals.value.value ?? []).map(({ lane }) => lane))];
}

const refreshed = () => refresh("terminals");

async function create({ name = "", lane = "", cwd = "", command = "" }: Values): Promise<Result<unknown>> {
  const made = await call("web.new", { name, lane, cwd, command });
  if (made.ok) go({ view: "terminal", id: made.value.id });
  return made;
}

type Values = Readonly<Record<string, string>>;

export function askNewTerminal(lane: string): void {
  const newest = (feeds.terminals.value.value ?? []).toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
  const fields = [
    { name: "name", label: "Name", value: "" },
    { name: "lane", label: "Lane", value: lane, options: lanes() },
    { name: "cwd", label: "Directory", value: newest?.recipe.cwd ?? "", isOptional: true, hint: "Empty: yours." },
    { name: "command", label: "Command", value: "", isOptional: true, hint: "Empty: a shell." },
  ];
  openDialog(
    "New terminal",
    <Form fields={fields} submit="Open" success="The terminal is open." run={create} done={refreshed} />,
  );
}

export function askRename({ id, name }: BriefTerminal): void {
  openDialog(
    `Rename ${name}`,
    <Form
      fields={[{ name: "name", label: "New name", value: name }]}
      submit="Rename"
      success="It is renamed."
      run={({ name: given = "" }) => call("terminal.rename", { id, name: given })}
      done={refreshed}
    />,
  );
}

export function askMove({ id, name, lane }: BriefTerminal): void {
  openDialog(
    `Move ${name}`,
    <Form
      fields={[{ name: "lane", label: "Lane", value: lane, options: lanes() }]}
      submit="Move"
      success="It is moved."
      run={({ lane: given = "" }) => call("terminal.move", { id, lane: given })}
      done={refreshed}
    />,
  );
}

export function askKill({ id, name }: BriefTerminal): void {
  openDialog(
    `End ${name}?`,
    <Form
      fields={[]}
      submit="End its program"
      danger
      success={`${name} is told to end.`}
      run={() => call("terminal.signal", { id, signal: "SIGHUP" })}
      done={refreshed}
    >
      <p>Its program gets SIGHUP, as if its window was closed. What it has not saved may be lost.</p>
    </Form>,
  );
}

/** Programs that did not ask for marked pastes run each line as it comes. */
export function askPaste(text: string, paste: () => void): void {
  const lines = text.split("\n").length;
  openDialog(
    `Paste ${lines} lines?`,
    <Form
      fields={[]}
      submit="Paste"
      success="Pasted."
      run={() => {
        paste();
        return Promise.resolve({ ok: true, value: undefined });
      }}
    >
      <p>The program may run each line at once.</p>
      <section class="report" tabIndex={0} aria-label="What is pasted">
        {text}
      </section>
    </Form>,
  );
}
