// A report for us: shown in whole before it is saved. Nothing is sent anywhere.
import type { JSX } from "preact";
import type { Result } from "../../base/result.ts";
import { saveFile } from "../browser.ts";
import { closeDialog, openDialog } from "../state/dialog.ts";
import { call } from "../state/session.ts";
import { tell } from "../state/toasts.ts";

/** It takes a second or two: the doctor is asked. */
export async function showReport(): Promise<Result<unknown>> {
  const bundle = await call("web.bundle", {});
  if (bundle.ok) openDialog("Report", <Bundle text={bundle.value.text} />);
  return bundle;
}

function Bundle({ text }: { readonly text: string }): JSX.Element {
  const save = () => {
    saveFile("holdfast-report.txt", text);
    tell("The report is saved as holdfast-report.txt.");
    closeDialog();
  };
  return (
    <>
      <p class="soft">This is all of it. Names of this machine, its user and its home are left out. Nothing is sent.</p>
      <section class="report" tabIndex={0} aria-label="The report">
        {text}
      </section>
      <p class="buttons">
        <button type="button" class="button primary" autofocus onClick={save}>
          Save to a file
        </button>
        <button type="button" class="button" onClick={closeDialog}>
          Close
        </button>
      </p>
    </>
  );
}
