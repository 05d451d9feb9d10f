// What is read from files: workflows and the configuration, which people write; checkpoints, event files and the
// write-ahead log, which may be of any other program; small files; records of older programs; the output of steps.
// FB1. Half of the hostile checkpoints, events and frames have a right sum: a sum keeps accidents out, not programs.
import type { Json } from "../../../../src/base/json.ts";
import { captured } from "../../../../src/core/workflow/capture.ts";
import { lockOwner } from "../../../../src/home/lock-record.ts";
import { readNotifyBook, readPushKey } from "../../../../src/home/notify-files.ts";
import { encodeEnvelope, readEnvelope } from "../../../../src/log/checkpoint/envelope.ts";
import { readJson } from "../../../../src/log/file/json-file.ts";
import { listQuarantine } from "../../../../src/log/file/quarantine.ts";
import { wholeLines } from "../../../../src/log/session/lines.ts";
import { FROM_START, readLines } from "../../../../src/log/session/session-log.ts";
import { readSizes } from "../../../../src/log/tape/sizes.ts";
import { entriesOf } from "../../../../src/log/wal/frame.ts";
import { scanSegment } from "../../../../src/log/wal/segment-scan.ts";
import { Finder } from "../../../../src/search/finder.ts";
import { loadConfig } from "../../../../src/wire/files/config.ts";
import { readWorkflow } from "../../../../src/wire/files/workflow-file.ts";
import { readOldRun } from "../../../../src/wire/old/runs.ts";
import { agentEventOf, residentOf } from "../../../../src/wire/stored/agent.ts";
import { terminalEventOf, tmuxEventOf } from "../../../../src/wire/stored/terminal.ts";
import { parseSnapshot } from "../../../../src/wire/stored/tmux-snapshot.ts";
import { workflowCheckpointOf, workflowEventOf } from "../../../../src/wire/stored/workflow.ts";
import { parseEnvironment, parseList } from "../../../../src/wire/tmux-list.ts";
import { crc32, hex8 } from "../../../../src/world/hash.ts";
import { SimDisk } from "../../disk.ts";
import { type Border, recorded } from "./border.ts";
import { CHECKPOINTS, CONFIGURATIONS, EVENTS, OLD_RUNS, OUTPUTS, SMALL_FILES, WORKFLOWS } from "./file-seeds.ts";

const WORKFLOW_BORDER: Border = {
  name: "a workflow file",
  inputs: 1,
  cost: 8,
  meet: (attacker) => void recorded(readWorkflow(attacker.file(attacker.oneOf(WORKFLOWS)), "x")),
};

const CONFIGURATION_BORDER: Border = {
  name: "the configuration",
  inputs: 1,
  cost: 8,
  meet: (attacker) => {
    const bytes = attacker.file(attacker.oneOf(CONFIGURATIONS));
    const env = (name: string) => (name === "HOME" ? "/u" : undefined);
    const loaded = loadConfig({ env, absolute: (path) => path, read: () => bytes });
    recorded(loaded.ok ? loaded.value.config : loaded.error);
  },
};

const CAPTURES: readonly (readonly [string, string])[] = [
  ["x", "json"],
  ["x", "stdout"],
  ["__proto__", "$.a[0].b"],
  ["x", "$..*"],
];

const CAPTURE_BORDER: Border = {
  name: "what a step prints",
  inputs: 1,
  meet: (attacker) => {
    const bytes = attacker.line(attacker.oneOf(OUTPUTS));
    const capture = Object.fromEntries([attacker.oneOf(CAPTURES)]);
    const step = { id: "s", work: { kind: "shell", command: "x" }, capture } as const;
    const found = captured(step, { text: Buffer.from(bytes).toString(), bytes: bytes.length }, 0);
    if (found.ok && JSON.stringify(found.value) !== JSON.stringify(recorded(found.value)))
      throw new Error("not the same");
  },
};

function use(kind: string, body: unknown): void {
  if (kind === "agent") residentOf(body);
  else if (kind === "tmux") parseSnapshot(body);
  else workflowCheckpointOf(body, { time: "2026-01-02T03:04:05.678Z", sha256: "0".repeat(64) });
}

const CHECKPOINT_BORDER: Border = {
  name: "a checkpoint",
  inputs: 1,
  meet: (attacker) => {
    const [kind, body] = attacker.oneOf(CHECKPOINTS);
    const facts = { kind, version: 1, fold: 1 };
    const text = attacker.oneOf([true, false]) ? attacker.text(body) : JSON.stringify(body);
    const { bytes } = encodeEnvelope({ ...facts, seq: 7, time: "2026-01-02T03:04:05.678Z" }, text); // FB1
    const reading = readEnvelope(attacker.oneOf([true, false]) ? attacker.bytes(bytes) : bytes, facts);
    if (reading.kind === "whole") use(kind, reading.body);
  },
};

/** A line with its sum (FB1). */
function entryLine(event: string, data: string): Uint8Array {
  const line = `{"seq":1,"prev":0,"session_id":"s","ts":"2026-01-02T03:04:05.678Z","event":"${event}","data":${data}`;
  return Buffer.from(`${line},"sum":"${(crc32(Buffer.from(line)) >>> 0).toString(16).padStart(8, "0")}"}\n`);
}

const EVENT_BORDER: Border = {
  name: "an event file",
  inputs: 1,
  meet: (attacker) => {
    const [event, data] = attacker.oneOf(EVENTS);
    const name = attacker.oneOf([event, event, attacker.name()]);
    const line = entryLine(name, attacker.text(data));
    const bytes = attacker.oneOf([true, false]) ? attacker.bytes(line) : line;
    for (const reading of readLines(wholeLines(bytes, 0, true), FROM_START)) {
      if (reading.kind === "entry") for (const read of READERS) mayMiss(() => read(reading.entry));
    }
  },
};
const READERS = [agentEventOf, terminalEventOf, tmuxEventOf, workflowEventOf];

/** SE2 of wire/stored/event.ts */
function mayMiss(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Error && / of s has no \w+$/.test(error.message))) throw error;
  }
}

const WAL_BORDER: Border = {
  name: "a segment of the write-ahead log",
  inputs: 1,
  meet: (attacker) => {
    const [event, data] = attacker.oneOf(EVENTS);
    const entry = Buffer.from(entryLine(event, attacker.text(data)).subarray(0, -1)).toString();
    const number = () => attacker.oneOf(["0", "1", "2", "4294967296", "9007199254740991", "99999999999999999999"]);
    const body = `${number()}\t${number()}\t1\t${number()}\tagents/s\t${entry}`;
    const sum = (crc32(Buffer.from(body), 1) >>> 0).toString(16).padStart(8, "0");
    const line = Buffer.from(`1\t${sum}\t${body}\n`);
    const { frames } = scanSegment(attacker.oneOf([true, false]) ? attacker.bytes(line) : line);
    for (const frame of frames) entriesOf(frame);
  },
};

const NOTIFY_FILE = "/h/recovery/notify.json";

const SMALL_FILE_BORDER: Border = {
  name: "a small file",
  inputs: 2,
  meet: (attacker) => {
    const disk = new SimDisk();
    const bytes = attacker.line(attacker.oneOf(SMALL_FILES));
    for (const path of [
      "/h/f.json",
      "/h/f",
      "/h/quarantine/x",
      "/h/quarantine/x.note.json",
      "/h/sizes.jsonl",
      NOTIFY_FILE,
    ])
      disk.plant(path, bytes);
    recorded([readJson(disk, "/h/f.json") === undefined, lockOwner(disk, "/h/f") ?? null]);
    recorded([readNotifyBook(disk, "/h").outbox.size, readPushKey(disk, "/h") === undefined]);
    recorded([listQuarantine(disk, "/h/quarantine"), readSizes(disk, "/h")]);
    const layout = attacker.oneOf(["session", "checkpoints", "job", "unified"] as const);
    recorded(readOldRun(attacker.line(attacker.oneOf(OLD_RUNS)), { layout, id: "r1", at: "2026-01-02T03:04:05.000Z" }));
    const listed = Buffer.from(attacker.file('W+1W-$1W-@1W-0W-\nA="b"; export A;\nunset B;\n')).toString();
    recorded<Json>([parseList(listed, "W")?.length ?? 0, parseEnvironment(listed)]);
  },
};

const INDEX_HEAD = '{"session":"terminals/t","proof":1,"blocks":[[0,64,1000,2000],[64,90,2000,3000]]}';

/** FB1. An index of searches that is not ours, beside a tape that says anything. */
const INDEX_BORDER: Border = {
  name: "an index of searches",
  inputs: 2,
  meet: (attacker) => {
    const disk = new SimDisk();
    const rows = attacker.oneOf([512, 1024, 65_536, 3]);
    const head = Buffer.from(attacker.oneOf([INDEX_HEAD, attacker.text(INDEX_HEAD)]));
    const line = `holdfast-search 1 ${rows} ${head.length} ${hex8(crc32(head, rows))}\n`;
    disk.plant("/h/search/terminals-t-0-90-3000.idx", Buffer.concat([Buffer.from(line), head, attacker.bytes(head)]));
    const output = attacker.file(`\u001b]2;a title\u0007the \u001b[1mword\u001b[m in a line\r\n${"x".repeat(70)}`);
    disk.plant("/h/terminals/t/tape/0000000000000000.seg", output);
    disk.plant("/h/agents/a/events.jsonl", attacker.bytes(entryLine("message.enqueued", '{"payload":"a word"}')));
    const wish = { op: "find", words: ["word"], kinds: [], limit: 10, skip: [] } as const;
    const finder = new Finder({ disk, home: "/h" }, wish);
    recorded([...finder.lines()].flatMap((hit) => hit?.text ?? []));
  },
};

export const FILE_BORDERS: readonly Border[] = [
  ...[WORKFLOW_BORDER, CONFIGURATION_BORDER, CAPTURE_BORDER],
  ...[CHECKPOINT_BORDER, EVENT_BORDER, WAL_BORDER, SMALL_FILE_BORDER, INDEX_BORDER],
];
