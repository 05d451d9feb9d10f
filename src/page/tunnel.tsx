// The tunnel in Access: whether this home is connected to its relay, why not, and what to do next; in the words of
// `holdfast tunnel status`.
import type { JSX } from "preact";
import type { WebTunnelView } from "../wire/page/messages.ts";
import { isRemote } from "./browser.ts";
import { Action, Lead } from "./parts/action.tsx";
import { Form } from "./parts/form.tsx";
import { Ago, Empty, localised, Section, State, type Tone, Words } from "./parts/frame.tsx";
import { openDialog } from "./state/dialog.ts";
import { call, feeds, refresh } from "./state/session.ts";
import { sentence } from "./words.ts";

const TONES: Readonly<Record<string, Tone>> = { Connected: "good", Ended: "bad", Disconnected: "soft" };
const refreshed = () => refresh("tunnel");

export function Tunnel(): JSX.Element {
  const view = feeds.tunnel.value.value;
  return (
    <Section title="Tunnel">
      <p class="soft">The way to this home from anywhere, through a relay of your own.</p>
      {view === undefined ? <Empty>{feeds.tunnel.refusal.value?.message ?? "Looking…"}</Empty> : <Known view={view} />}
    </Section>
  );
}

function Known({ view }: { readonly view: WebTunnelView }): JSX.Element {
  const { enrolled, relay, wanted, state, since, why, next, url } = view;
  if (!enrolled)
    return (
      <Empty>
        This home is not enrolled. <Words text={next} />
      </Empty>
    );
  return (
    <div class="tunnel">
      <div class="row">
        <strong class="grow">{relay}</strong>
        <span role="status">
          <State word={state} tone={TONES[state] ?? "warn"} />
          {since !== null && (
            <span class="soft nowrap">
              {" "}
              since <Ago at={since} />
            </span>
          )}
        </span>
        {wanted === "on" ? (
          <Lead isOfHost needs="web.turn-tunnel" to={askOff}>
            Turn off…
          </Lead>
        ) : (
          <Action
            isOfHost
            needs="web.turn-tunnel"
            run={() => call("web.turn-tunnel", { wanted: "on" })}
            success="The tunnel is turned on."
            done={refreshed}
          >
            Turn on
          </Action>
        )}
      </div>
      {why !== "" && <p>{localised(sentence(why))}</p>}
      {next !== "" && (
        <p class="soft">
          <Words text={next} />
        </p>
      )}
      {url !== null && (
        <p class="soft">
          Devices find this home at {url}. <code>holdfast pair</code> prints a link for one.
        </p>
      )}
    </div>
  );
}

function askOff(): void {
  openDialog(
    "Turn the tunnel off?",
    <Form
      fields={[]}
      submit="Turn it off"
      danger
      success="The tunnel is turned off."
      run={() => call("web.turn-tunnel", { wanted: "off" })}
      done={refreshed}
    >
      <p>Paired devices do not reach this home until it is turned on again.</p>
      {isRemote && (
        <p class="note warn">
          This page comes through it too: only <code>holdfast tunnel on</code> on the home's machine turns it on again.
        </p>
      )}
    </Form>,
  );
}
