// Starting a run: first the file, then a form of its parameters.
// SA1. The id of the run is chosen when the form is opened: a second press, or a repeat after a lost answer, finds the
//      run of the first.
import type { JSX } from "preact";
import { newId } from "../../base/ids.ts";
import { parentOf } from "../../base/path.ts";
import type { WorkflowForm } from "../../wire/page/messages.ts";
import { randomBytes } from "../browser.ts";
import { Form } from "../parts/form.tsx";
import { openDialog } from "../state/dialog.ts";
import { go } from "../state/route.ts";
import { call, feeds, refresh } from "../state/session.ts";
import { count } from "../words.ts";
import { CWD, IN_WORKTREE, PLACE, startFields, textsOf } from "./start-form.ts";

const FILE = "path";

/** `path`: of the file that is suggested. */
export function askStart(path = ""): void {
  openDialog("Start a workflow", <ChooseFile path={path} />);
}

function ChooseFile({ path }: { readonly path: string }): JSX.Element {
  const known = [...new Set((feeds.runs.value.value ?? []).map((run) => run.path))];
  let found: WorkflowForm | undefined;
  const read = async (values: Readonly<Record<string, string>>) => {
    const form = await call("web.workflow", { path: (values[FILE] ?? "").trim() });
    if (form.ok) found = form.value;
    return form;
  };
  const field = {
    name: FILE,
    label: "Workflow file",
    value: path,
    options: known,
    hint: "its full path, on this home's machine",
  };
  return <Form fields={[field]} submit="Read it" run={read} done={() => found !== undefined && askParameters(found)} />;
}

function askParameters(form: WorkflowForm): void {
  openDialog(`Start ${form.name}`, <StartForm form={form} id={newId(randomBytes(16))} />); // SA1
}

function StartForm({ form, id }: { readonly form: WorkflowForm; readonly id: string }): JSX.Element {
  const { path, name, mode, steps, parameters } = form;
  const start = (values: Readonly<Record<string, string>>) =>
    call("web.run", {
      ...{ id, path, cwd: values[CWD] ?? "", texts: textsOf(parameters, values) },
      worktree: values[PLACE] === IN_WORKTREE,
    });
  const show = () => {
    refresh("runs");
    go({ view: "run", id });
  };
  return (
    <Form
      fields={startFields(parameters, parentOf(path))}
      submit="Start"
      run={start}
      success={`${name} is started.`}
      done={show}
    >
      <p class="soft">
        <code>{path}</code> is {mode === "standard" ? "a workflow" : `a workflow (${mode})`} of {count(steps, "step")}
        {parameters.length === 0 && ", without parameters"}.
      </p>
    </Form>
  );
}
