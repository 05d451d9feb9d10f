// A simulated home for a test that asks one thing after the other: simulated time passes while an answer is awaited.
import type { Method, Methods } from "../../../src/wire/rpc/rpc.ts";
import { Client } from "./client.ts";
import { AGENT, type Daemon, HoldfastMachine } from "./machine.ts";
import { idOf } from "./script.ts";

export class Site {
  readonly machine: HoldfastMachine;
  daemon: Daemon;
  client: Client;

  constructor(machine = new HoldfastMachine(1)) {
    this.machine = machine;
    this.daemon = machine.begin();
    this.client = new Client(machine);
  }

  live(): Promise<void> {
    return this.machine.during(this.client.live());
  }

  ask<M extends Method>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]> {
    return this.machine.during(this.client.ask(method, params));
  }

  agent(id: string, provider = "scripted", command: readonly string[] = [AGENT]) {
    const nothing = { parent: null, model: null, systemPrompt: "", env: {}, flags: [], permissionMode: null };
    const wish = { ...nothing, id, name: `a-${id.slice(0, 4)}`, cwd: "/u", settings: {} };
    return this.ask("agent.new", { ...wish, instructions: `>> note ${id}`, provider, command });
  }

  /** Waits until an agent is in this state, after so many turns. */
  is(id: string, state: string, turns: number) {
    const look = async () => {
      for (;;) {
        const found = (await this.client.ask("agent.list", {})).find((one) => one.id === id);
        if (found?.state === state && found.turns === turns) return found;
        await this.client.sleep(50);
      }
    };
    return this.machine.during(look());
  }

  send(id: string, message: number) {
    return this.ask("agent.send", { id, message: idOf(message), text: ">> note more", replyTo: null });
  }

  /** The daemon dies, and the next one comes up. */
  async again(): Promise<void> {
    this.client.me.life.end();
    this.daemon.born.life.end();
    this.daemon = this.machine.begin();
    this.client = new Client(this.machine);
    await this.live();
  }
}
