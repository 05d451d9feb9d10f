// A message to an agent.
// SB1. The id of a message is chosen with its text: sending the same text again after a lost answer sends it once.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { newId } from "../../base/ids.ts";
import { plainLine } from "../../base/visible.ts";
import type { ListedAgent } from "../../wire/rpc/agent.ts";
import { randomBytes } from "../browser.ts";
import { may } from "../state/rights.ts";
import { call, canAct, refresh } from "../state/session.ts";
import { outcome } from "../state/toasts.ts";

export function SendBox({ agent: { id, name } }: { readonly agent: ListedAgent }): JSX.Element | null {
  const text = useSignal("");
  const busy = useSignal(false);
  const sent = useRef({ text: "", message: "" });
  if (!may("agent.send")) return null;
  const isReady = canAct.value && !busy.value && text.value.trim() !== "";
  const send = async () => {
    if (!isReady) return;
    if (sent.current.text !== text.value) sent.current = { text: text.value, message: newId(randomBytes(16)) }; // SB1
    busy.value = true;
    const done = await outcome(call("agent.send", { id, ...sent.current }));
    busy.value = false;
    if (!done.ok) return;
    text.value = "";
    sent.current = { text: "", message: "" };
    refresh("agents");
  };
  return (
    <form
      class="send"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        rows={2}
        aria-label={`Message to ${plainLine(name)}`}
        placeholder={`Message to ${plainLine(name)}`}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void send();
        }}
      />
      <button type="submit" class="button primary" disabled={!isReady} title="Ctrl-Enter">
        Send
      </button>
    </form>
  );
}
