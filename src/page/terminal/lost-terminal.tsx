// A terminal whose program is gone and was not started again: a person decides how it goes on.
import type { JSX } from "preact";
import type { BriefTerminal } from "../../wire/rpc/rpc.ts";
import { Action } from "../parts/action.tsx";
import { localised } from "../parts/frame.tsx";
import { call, refresh } from "../state/session.ts";
import { commandText, shortPath } from "../words.ts";

export function LostTerminal({ terminal }: { readonly terminal: BriefTerminal }): JSX.Element {
  const { id, name, recipe, state } = terminal;
  const restored = () => refresh("terminals");
  return (
    <article class="card warn" data-item tabIndex={-1} aria-label={`Terminal ${name} is not restarted`}>
      <header>
        <strong>Terminal {name} is not restarted</strong>
        <span class="soft" title={recipe.cwd}>
          <code>{commandText(recipe.argv)}</code> in {shortPath(recipe.cwd)}
        </span>
      </header>
      {state.kind === "uncertain" && <p class="evidence">{localised(state.reason)}</p>}
      <p class="buttons">
        <Action
          kind="primary"
          needs="terminal.restore"
          run={() => call("terminal.restore", { id, way: "plan" })}
          success={`${name} is restored.`}
          done={restored}
        >
          Restore
        </Action>
        <Action
          needs="terminal.restore"
          run={() => call("terminal.restore", { id, way: "shell" })}
          success={`${name} has a shell.`}
          done={restored}
        >
          Only a shell
        </Action>
        <Action
          needs="terminal.restore"
          run={() => call("terminal.restore", { id, way: "recipe" })}
          success={`${name} runs its command again.`}
          done={restored}
        >
          Run its command again
        </Action>
        <Action
          needs="terminal.remove"
          run={() => call("terminal.remove", { id })}
          success={`${name} is removed.`}
          done={restored}
        >
          Remove
        </Action>
      </p>
    </article>
  );
}
