// Access: the browsers that may use this page, and what agents may do without asking.
import type { JSX } from "preact";
import { Rules } from "./agent/rules.tsx";
import { Notifications } from "./notify/notifications.tsx";
import { Action } from "./parts/action.tsx";
import { Ago, Section } from "./parts/frame.tsx";
import { rightsText, thisDevice } from "./state/rights.ts";
import { call, feeds, refresh } from "./state/session.ts";
import { Tunnel } from "./tunnel.tsx";
import { browserText } from "./words.ts";

export function Access(): JSX.Element {
  const devices = feeds.devices.value.value ?? [];
  return (
    <div class="view">
      <h1>Access</h1>
      <Notifications />
      <Tunnel />
      <Section title="Browsers" many={devices.length}>
        <p class="soft">
          <code>holdfast open</code> prints a link that signs a browser in, once. Removing one signs it out at once.
        </p>
        <ul class="rows">
          {devices.map(({ id, name, madeAt, usedAt, kind, rights }) => (
            <li key={id} class="row" data-item tabIndex={-1}>
              <strong class="grow cut" title={name}>
                {browserText(name)}
                {id === thisDevice.value && <span class="here">this browser</span>}
              </strong>
              {kind === "paired" && <span class="soft">{rightsText(rights)}</span>}
              <span class="soft nowrap">
                since <Ago at={madeAt} />, used <Ago at={usedAt} /> ago
              </span>
              <Action
                label={`Sign out ${browserText(name)}`}
                needs="device.revoke"
                run={() => call("device.revoke", { id })}
                success={`${browserText(name)} is signed out.`}
                done={() => refresh("devices")}
              >
                Sign out
              </Action>
            </li>
          ))}
        </ul>
      </Section>
      <Rules />
    </div>
  );
}
