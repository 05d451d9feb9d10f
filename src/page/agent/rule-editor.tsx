// The rule that would be made, with patterns that a person may widen if this browser may make such a rule.
import type { JSX } from "preact";
import { plainLine } from "../../base/visible.ts";
import { may } from "../state/rights.ts";
import { type RuleDraft, warningsFor } from "./rule-draft.ts";

type EditorProps = {
  readonly draft: RuleDraft;
  readonly agent: string;
  readonly change: (draft: RuleDraft) => void;
};

export function RuleEditor({ draft, agent, change }: EditorProps): JSX.Element {
  const { tool, args, isForAll, isEdited } = draft;
  const canEdit = may("prompt.always");
  const edit = (more: Partial<RuleDraft>) => change({ ...draft, ...more, isEdited: true });
  return (
    <fieldset class="rule">
      <legend>{isEdited ? "Allow what matches these patterns" : "Allow exactly this input, and no other"}</legend>
      <Pattern label="tool" value={tool} readOnly={!canEdit} set={(value) => edit({ tool: value })} isFirst />
      {Object.entries(args).map(([name, value]) => (
        <Pattern
          key={name}
          label={name}
          value={value}
          readOnly={!canEdit}
          set={(given) => edit({ args: { ...args, [name]: given } })}
        />
      ))}
      {canEdit && (
        <label class="choice">
          <input
            type="checkbox"
            checked={isForAll}
            onChange={(event) => change({ ...draft, isForAll: event.currentTarget.checked })}
          />
          for all agents, not only {plainLine(agent)}
        </label>
      )}
      {canEdit && (
        <p class="soft">
          In a pattern, <code>*</code> is any characters of one word or argument, <code>**</code> anything,{" "}
          <code>?</code> one character, <code>[ab]</code> one of these.
        </p>
      )}
      {warningsFor(draft).map((warning) => (
        <p key={warning} class="note warn" role="alert">
          Careful: {warning}
        </p>
      ))}
    </fieldset>
  );
}

type PatternProps = {
  readonly label: string;
  readonly value: string;
  readonly readOnly: boolean;
  readonly set: (value: string) => void;
  readonly isFirst?: boolean;
};

function Pattern({ label, value, readOnly, set, isFirst = false }: PatternProps): JSX.Element {
  return (
    <label class="field pattern">
      <span>{plainLine(label)}</span>
      <textarea
        rows={Math.min(6, value.split("\n").length)}
        spellcheck={false}
        readOnly={readOnly}
        ref={(area) => {
          if (isFirst && area !== null && document.activeElement?.tagName !== "TEXTAREA") area.focus();
        }}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
