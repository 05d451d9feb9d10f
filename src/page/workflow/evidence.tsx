// What is known of an attempt of a step: what ran, since when, how it ended as far as anybody saw, and the end of its
// output. The host reads it from the attempt's files, so it is there while the daemon is down.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { shortId } from "../../base/ids.ts";
import type { AttemptEvidence } from "../../wire/page/messages.ts";
import type { ListedRun } from "../../wire/rpc/workflow.ts";
import { every } from "../browser.ts";
import { Ago, localised, Words } from "../parts/frame.tsx";
import { call, link, whenUp } from "../state/session.ts";
import { commandText } from "../words.ts";

type EvidenceProps = {
  readonly run: ListedRun;
  readonly attempt: string;
  /** If it is known. */
  readonly step?: string;
  /** Of a map. */
  readonly item?: number;
  /** It runs: what it prints is shown as it comes. */
  readonly isLive?: boolean;
  /** How many of the last lines; a few if it is left out. */
  readonly lines?: number;
};

/** Between two looks at what a running step prints: it seems immediate, and costs little. */
const LIVE_MS = 1_000;

export function Evidence(props: EvidenceProps): JSX.Element {
  const { run, attempt, step, item, isLive = false, lines } = props;
  const { repo } = run;
  const logs = <Logs run={run} step={step} item={item} />;
  const found = useSignal<AttemptEvidence | null | undefined>(undefined);
  const why = useSignal("");
  useEffect(() => {
    const look = async () => {
      const answer = await call("web.evidence", { repo, attempt, ...(lines !== undefined && { lines }) });
      if (answer.ok) found.value = answer.value;
      why.value = answer.ok ? "" : `${answer.error.message} ${answer.error.hint}`;
    };
    const isOver = () => !isLive || document.hidden || link.peek().kind !== "up" || found.peek()?.isOver === true;
    const ends = [whenUp(() => void look()), every(LIVE_MS, () => isOver() || void look())];
    return () => {
      for (const end of ends) end();
    };
  }, [repo, attempt, isLive, lines]);
  if (found.value === undefined)
    return (
      <p class="soft">
        <Words text={why.value === "" ? "Looking for what is known…" : why.value} />
      </p>
    );
  if (found.value === null)
    return (
      <p class="soft">It has no files of its own: an agent worked on it, or they were removed. {logs} has the rest.</p>
    );
  return <Known evidence={found.value} logs={logs} />;
}

/** `logs`: the command that shows all of its output. */
type KnownProps = { readonly evidence: AttemptEvidence; readonly logs: JSX.Element };

function Known({ evidence, logs }: KnownProps): JSX.Element {
  const { command, values, cwd, number, startedAt, known, stdout, stderr } = evidence;
  return (
    <div class="known">
      <section class="command" tabIndex={0} aria-label="What ran">
        {scriptOf(command)}
      </section>
      {values.length > 0 && (
        <dl class="values">
          {values.map(({ name, value }) => (
            <div key={name}>
              <dt>${name} =</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        Attempt {number}
        {evidence.try > 1 && `, try ${evidence.try}`}
        {startedAt !== null && (
          <>
            , began <Ago at={startedAt} /> ago
          </>
        )}{" "}
        in <code>{cwd}</code>. {localised(known)}
      </p>
      <Output name="stderr" lines={stderr} />
      <Output name="stdout" lines={stdout} />
      {stdout.length + stderr.length === 0 ? (
        <p class="soft">It has printed nothing.</p>
      ) : (
        <p class="soft">These are the last lines; {logs} has all.</p>
      )}
    </div>
  );
}

/** Of `sh -e -c SCRIPT` the script: that is what the workflow's file has. */
function scriptOf(command: readonly string[]): string {
  return command.at(-2) === "-c" ? (command.at(-1) ?? "") : commandText(command);
}

type LogsProps = {
  readonly run: ListedRun;
  readonly step: string | undefined;
  readonly item: number | undefined;
};

function Logs({ run, step, item }: LogsProps): JSX.Element {
  const ofItem = item === undefined ? "" : ` --item ${item}`;
  const ofStep = step === undefined ? "" : ` --step ${step}`;
  return <code>{`holdfast logs${ofStep}${ofItem} ${shortId(run.id)}`}</code>;
}

/** Within about a line of the end, new lines are followed; further up a person reads. */
const AT_END = 20;

function Output({ name, lines }: { readonly name: string; readonly lines: readonly string[] }): JSX.Element | null {
  const box = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current !== null && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  if (lines.length === 0) return null;
  return (
    <figure class="output">
      <figcaption class="soft">{name}</figcaption>
      <section
        ref={box}
        class="report"
        tabIndex={0}
        aria-label={`Last lines of ${name}`}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - AT_END;
        }}
      >
        {lines.join("\n")}
      </section>
    </figure>
  );
}
