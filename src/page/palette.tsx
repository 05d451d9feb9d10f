// The command palette: everything that can be done here, by a few letters.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Command, commands } from "./commands.tsx";
import { matching } from "./palette-match.ts";
import { Modal } from "./parts/frame.tsx";
import { overlay } from "./state/dialog.ts";
import { homes, membership } from "./state/fleet.ts";

/** What fits into the window; typing finds the rest. */
const SHOWN = 12;

export function Palette(): JSX.Element {
  const query = useSignal("");
  const chosen = useSignal(0);
  const found = matching(query.value, commands(), ({ name }) => name).slice(0, SHOWN);
  const close = () => (overlay.value = undefined);
  useEffect(() => {
    if (membership.value !== undefined) homes.refresh();
  }, []);
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(found[chosen.value]);
    else if (by !== undefined) chosen.value = Math.max(0, Math.min(found.length - 1, chosen.value + by));
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Commands" close={close} kind="palette">
      <input
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`command-${chosen.value}`}
        placeholder="What do you want to do?"
        autofocus
        value={query.value}
        onKeyDown={pressed}
        onInput={(event) => {
          query.value = event.currentTarget.value;
          chosen.value = 0;
        }}
      />
      <div role="listbox" id="palette-list" aria-label="Commands">
        {found.map((command, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
          <div
            key={command.name}
            id={`command-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen.value}
            onClick={() => run(command)}
          >
            {command.name}
            <span class="soft">{command.hint}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="empty">No command has these letters.</p>}
    </Modal>
  );
}
