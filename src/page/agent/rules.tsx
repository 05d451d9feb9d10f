// The rules of agents: what each allows or denies, who made it, and what it decided lately.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { plainLine } from "../../base/visible.ts";
import type { ListedPrompt, OwnedRule } from "../../wire/rpc/agent.ts";
import { allRows } from "../../wire/rpc/page.ts";
import { after } from "../browser.ts";
import { Action } from "../parts/action.tsx";
import { Ago, Empty, Section } from "../parts/frame.tsx";
import { Feed } from "../state/feed.ts";
import { call, canAct, feeds, listen, refresh } from "../state/session.ts";
import { browserText } from "../words.ts";
import { aboutText, makerText, matchesOf, matchText } from "./rule-words.ts";

/** Fetched while rules are shown, and at no other time. */
const closed = new Feed<readonly ListedPrompt[]>(() => allRows({ call }, "prompt.list", { closed: true }), after);

/** `agent`: only those of one. */
export function Rules({ agent }: { readonly agent?: string }): JSX.Element {
  const isUp = canAct.value;
  useEffect(() => {
    if (isUp) closed.refresh();
    return listen(({ topic }) => topic.startsWith("prompt.") && closed.refresh());
  }, [isUp]);
  const all = feeds.rules.value.value ?? [];
  const rules = agent === undefined ? all : all.filter((one) => one.agent === agent);
  return (
    <Section title="Rules" many={rules.length}>
      {rules.length === 0 && <Empty>There are no rules: agents ask about everything.</Empty>}
      <ul class="rows rules">
        {rules.map((owned) => (
          <RuleRow key={`${owned.agent}/${owned.rule.rule_id}`} owned={owned} />
        ))}
      </ul>
    </Section>
  );
}

function browserOf(device: string): string | undefined {
  const name = feeds.devices.value.value?.find(({ id }) => id === device)?.name;
  return name === undefined ? undefined : browserText(name);
}

function RuleRow({ owned }: { readonly owned: OwnedRule }): JSX.Element {
  const { agent, rule, from } = owned;
  const owner = feeds.agents.value.value?.find(({ id }) => id === agent)?.name ?? agent ?? "all agents";
  const patterns = Object.entries(rule.args).map(([name, pattern]) => `${name}=${pattern}`);
  const args = rule.input ?? patterns.join(" ");
  return (
    <li class="row" data-item tabIndex={-1}>
      <span class={`state ${rule.decision === "allow" ? "good" : "bad"}`}>{rule.decision}</span>
      <strong>{plainLine(owner)}</strong>
      <code class="value grow" title={args}>
        {plainLine(`${rule.tool} ${args}`)}
      </code>
      {from !== "configuration" && (
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
      <About owned={owned} />
    </li>
  );
}

function About({ owned }: { readonly owned: OwnedRule }): JSX.Element {
  const { rule } = owned;
  const matches = matchesOf(rule, closed.value.value ?? []);
  const [last] = matches;
  return (
    <p class="soft about">
      {makerText(owned, browserOf)}
      {rule.made !== undefined && (
        <>
          {" "}
          <Ago at={rule.made.at} /> ago
        </>
      )}
      {closed.value.value !== undefined && ` · ${matchText(matches)}`}
      {last !== undefined && (
        <>
          , last <Ago at={last.since} /> ago for {plainLine(last.name)}:{" "}
          <code>{plainLine(aboutText(last)).slice(0, 120)}</code>
        </>
      )}
    </p>
  );
}
