// The health of this home: its programs and their memory, its disk, its log, and what takes room.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { KindUsage, WebUsage } from "../../wire/page/messages.ts";
import type { StatusResult } from "../../wire/rpc/rpc.ts";
import { Ago, Empty, Section } from "../parts/frame.tsx";
import { daemon } from "../state/session.ts";
import { count, sizeText } from "../words.ts";
import { Checks } from "./checks.tsx";
import { factsOf } from "./facts.ts";
import { followHealth, health, usage } from "./health-feed.ts";

export function Health({ status }: { readonly status: StatusResult | undefined }): JSX.Element {
  useEffect(followHealth, []);
  const isUp = daemon.value.up;
  const facts = factsOf({ health: health.value.value, usage: usage.value.value, status, isUp });
  const refusal = health.refusal.value;
  return (
    <Section title="Health">
      {facts.length === 0 && <Empty>{refusal === undefined ? "Looking…" : `${refusal.message} ${refusal.hint}`}</Empty>}
      <dl class="facts">
        {facts.map(({ name, value, more, tone }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class={tone}>{value}</dd>
            <dd class="soft">{more}</dd>
          </div>
        ))}
        {status !== undefined && (
          <div>
            <dt>Up for</dt>
            <dd>{isUp ? <Ago at={status.daemon.startedAt} /> : "–"}</dd>
            <dd class="soft">version {status.version}</dd>
          </div>
        )}
      </dl>
      {usage.value.value !== undefined && <Usage usage={usage.value.value} />}
      <Checks />
    </Section>
  );
}

function Usage({ usage: { kinds, isWhole } }: { readonly usage: WebUsage }): JSX.Element {
  const most = Math.max(1, ...kinds.map(({ bytes }) => bytes));
  return (
    <details class="usage">
      <summary>What takes room</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Kind</th>
            <th scope="col">Share</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col" class="number">
              Files
            </th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <UsageRow key={kind.kind} kind={kind} most={most} />
          ))}
        </tbody>
      </table>
      <p class="soft">
        {isWhole ? "" : "There are more files than a page counts. "}
        <code>holdfast usage disk</code> counts all of them, and says what <code>holdfast gc</code> would free.
      </p>
    </details>
  );
}

function UsageRow({ kind: { kind, files, bytes }, most }: { readonly kind: KindUsage; readonly most: number }) {
  return (
    <tr>
      <td>{kind}</td>
      <td>
        <progress max={most} value={bytes} aria-label={`Share of ${kind}`} />
      </td>
      <td class="number">{sizeText(bytes)}</td>
      <td class="number">{count(files, "file")}</td>
    </tr>
  );
}
