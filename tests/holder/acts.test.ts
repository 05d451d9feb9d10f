// Who may type into a held program, end it, or end its input: the operator, and no process of an agent.
import { expect, test } from "bun:test";
import { END_INPUT, inputFrame, jsonFrame, SIGNAL } from "../../src/wire/holder/protocol.ts";
import type { Peer } from "../../src/world/socket.ts";
import type { SimDisk } from "../sim/disk.ts";
import type { SimProcesses } from "../sim/processes.ts";
import { held } from "./held.ts";

const AGENT = "a".repeat(32);

/** What the program got, and how often the client was refused. */
function acted(peer: (processes: SimProcesses, disk: SimDisk) => Peer | undefined) {
  const { program, client, sent } = held(peer);
  client.bytes(inputFrame(1, 1, Buffer.from("x")));
  client.bytes(jsonFrame(SIGNAL, { signal: "SIGINT" }));
  client.bytes(jsonFrame(END_INPUT, {}));
  const refusals = sent.filter((frame) => Buffer.from(frame).includes("not-allowed"));
  return { acts: program.acts, refusals: refusals.length };
}

function withAgent(disk: SimDisk): void {
  disk.makeDirectory("/h");
  disk.makeDirectory("/h/agents");
  disk.makeDirectory(`/h/agents/${AGENT}`);
}

test("C3, O5 a process of an agent neither types into a program, nor ends it or its input, with the holder's token", () => {
  const ofAgent = (processes: SimProcesses, disk: SimDisk) => {
    withAgent(disk);
    const shell = processes.spawn(undefined, {
      variables: { HOLDFAST_TERMINAL: `${AGENT}.1`, HOLDFAST_HOME_ID: disk.stat("/h")?.id ?? "" },
    });
    return processes.spawn(undefined, { ppid: shell.pid }).pid;
  };
  expect(acted(ofAgent)).toEqual({ acts: [], refusals: 3 });
});

test("C3, O5 the operator does all of it, and so does the daemon that started the holder; who is gone does not", () => {
  const shell = (processes: SimProcesses, disk: SimDisk) => {
    withAgent(disk);
    return processes.spawn().pid;
  };
  const all = { acts: ["typed x", "SIGINT"], refusals: 0 }; // A terminal has no end of input.
  expect(acted(shell)).toEqual(all);
  const daemon = (processes: SimProcesses, disk: SimDisk) => {
    withAgent(disk);
    return processes.parent();
  };
  expect(acted(daemon)).toEqual(all);
  const gone = (_: SimProcesses, disk: SimDisk) => {
    withAgent(disk);
    return "gone" as const;
  };
  expect(acted(gone)).toEqual({ acts: [], refusals: 3 });
});
