// Access: the browsers that may use this page, and what agents may do without asking.
import type { JSX } from "preact";
import type { OwnedRule } from "../wire/rpc/agent.ts";
import { Action } from "./parts/action.tsx";
import { Ago, Empty, Section } from "./parts/frame.tsx";
import { rightsText, thisDevice } from "./state/rights.ts";
import { call, feeds, refresh } from "./state/session.ts";
import { Tunnel } from "./tunnel.tsx";
import { browserText } from "./words.ts";

export function Access(): JSX.Element {
  const devices = feeds.devices.value.value ?? [];
  const rules = feeds.rules.value.value ?? [];
  return (
    <div class="view">
      <h1>Access</h1>
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
      <Section title="Rules" many={rules.length}>
        {rules.length === 0 && <Empty>There are no rules: agents ask about everything.</Empty>}
        <ul class="rows">
          {rules.map((owned) => (
            <RuleRow key={`${owned.agent}/${owned.rule.rule_id}`} owned={owned} />
          ))}
        </ul>
      </Section>
    </div>
  );
}

function RuleRow({ owned: { agent, rule, from } }: { readonly owned: OwnedRule }): JSX.Element {
  const owner = feeds.agents.value.value?.find(({ id }) => id === agent)?.name ?? agent ?? "all agents";
  const args =
    rule.input ??
    Object.entries(rule.args)
      .map(([name, pattern]) => `${name}=${pattern}`)
      .join(" ");
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class={`state ${rule.decision === "allow" ? "good" : "bad"}`}>{rule.decision}</span>
      <strong>{owner}</strong>
      <code class="value grow" title={args}>
        {rule.tool} {args}
      </code>
      {from === "configuration" ? (
        <span class="soft">in the configuration</span>
      ) : (
        <Action
          label={`Remove rule ${rule.rule_id}`}
          needs="rule.remove"
          run={() => call("rule.remove", { rule: rule.rule_id })}
          success="The rule is removed: agents ask again."
          done={() => refresh("rules")}
        >
          Remove
        </Action>
      )}
    </li>
  );
}
