// Being called when an agent waits, in Access: this browser's state, a test, quiet hours, and the switches.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Action } from "../parts/action.tsx";
import { Empty, Section, State } from "../parts/frame.tsx";
import { call, canAct } from "../state/session.ts";
import { calling, calls, look, turnOff, turnOn } from "./calling.ts";
import { Switches } from "./switches.tsx";

export function Notifications(): JSX.Element {
  useEffect(() => void (canAct.value && look()), [canAct.value]);
  return (
    <Section title="Notifications">
      <p class="soft">
        A prompt that waits for you is shown by this browser, also while the page is closed, and replaced when it is
        answered.
      </p>
      <ThisBrowser />
      <Hours />
      <Switches />
    </Section>
  );
}

function ThisBrowser(): JSX.Element {
  const state = calling.value;
  if (state.kind === "looking") return <Empty>Looking…</Empty>;
  if (state.kind === "impossible") return <p class="note warn">{state.why}</p>;
  if (state.kind === "off")
    return (
      <div class="row">
        <span class="grow">
          <State word="This browser is not called" tone="soft" />
        </span>
        <Action needs="push.subscribe" kind="primary" run={turnOn} success="This browser is called from now on.">
          Turn on
        </Action>
      </div>
    );
  return (
    <div class="row">
      <span class="grow">
        <State word="This browser is called" tone="good" />
      </span>
      <Action needs="push.test" run={() => call("push.test", {})} success="It was sent: a notification should appear.">
        Test
      </Action>
      <Action needs="push.unsubscribe" run={turnOff} success="This browser is not called any more.">
        Turn off
      </Action>
    </div>
  );
}

function Hours(): JSX.Element | null {
  const { quiet = "", isQuiet = false, mute = [] } = calls.value ?? {};
  if (quiet === "" && mute.length === 0) return null;
  return (
    <p class="soft">
      {quiet !== "" && `Quiet hours are ${quiet}${isQuiet ? ", so nobody is called now" : ""}. `}
      {mute.length > 0 && `The configuration mutes ${mute.join(", ")}.`}
    </p>
  );
}
