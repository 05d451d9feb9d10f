// The checks of `holdfast doctor`, when a person asks for them: they cost a second of work.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { DoctorCheck } from "../../wire/page/messages.ts";
import { Action } from "../parts/action.tsx";
import { localised, State, type Tone } from "../parts/frame.tsx";
import { call } from "../state/session.ts";
import { count } from "../words.ts";

const TONES: Readonly<Record<DoctorCheck["status"], Tone>> = { ok: "good", warning: "warn", problem: "bad" };

export function Checks(): JSX.Element {
  const checks = useSignal<readonly DoctorCheck[] | undefined>(undefined);
  const look = async () => {
    const found = await call("web.doctor", {});
    if (found.ok) checks.value = found.value.checks;
    return found;
  };
  return (
    <div class="checks">
      <p class="buttons">
        <Action isOfHost needs="web.doctor" run={look} success="The checks are done.">
          Check everything
        </Action>
        <span class="soft" role="status">
          {checks.value === undefined ? "Looks at files, sockets, rights and logs." : verdict(checks.value)}
        </span>
      </p>
      {checks.value !== undefined && <Found checks={checks.value} />}
    </div>
  );
}

function verdict(checks: readonly DoctorCheck[]): string {
  const [problems, warnings] = ["problem", "warning"].map(
    (one) => checks.filter(({ status }) => status === one).length,
  );
  if (problems === 0 && warnings === 0) return `${count(checks.length, "check")}: all is well.`;
  return `${count(checks.length, "check")}: ${count(problems ?? 0, "problem")}, ${count(warnings ?? 0, "warning")}.`;
}

/** What is fine is folded: people look for what is not. */
function Found({ checks }: { readonly checks: readonly DoctorCheck[] }): JSX.Element {
  const { ok: fine = [], warning = [], problem = [] } = Object.groupBy(checks, ({ status }) => status);
  return (
    <>
      <List checks={[...problem, ...warning]} />
      <details>
        <summary>{count(fine.length, "check is", "checks are")} fine</summary>
        <List checks={fine} />
      </details>
    </>
  );
}

function List({ checks }: { readonly checks: readonly DoctorCheck[] }): JSX.Element {
  return (
    <ul class="rows">
      {checks.map(({ name, status, what, why, next }) => (
        <li key={`${name} ${what}`} class="check">
          <State word={name} tone={TONES[status]} />
          <div class="grow">
            <p>{localised(what)}</p>
            {why !== null && <p class="soft">{localised(why)}</p>}
            {next !== null && (
              <p class="soft">
                Next: <code>{localised(next)}</code>
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
