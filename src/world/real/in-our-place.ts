// Runs a program in our place, with our standard streams and our process group, while we only wait for it.
import { withoutBunVariables } from "../../base/bun.ts";
import type { Command, Ending } from "../children.ts";
import { launch } from "./children.ts";

export type ProgramInOurPlace = {
  readonly ended: Promise<Ending>;
  /** To the program alone; does nothing if it has ended. */
  signal(name: NodeJS.Signals): void;
};

export function runInOurPlace(command: Command): ProgramInOurPlace {
  const { argv, cwd, env } = command;
  const ended = Promise.withResolvers<Ending>();
  const child = launch(command, () =>
    Bun.spawn([...argv], {
      cwd,
      env: withoutBunVariables(env),
      stdio: ["inherit", "inherit", "inherit"],
      onExit: (_, code, signal) =>
        ended.resolve(
          signal === null ? { kind: "exited", code: code ?? 0 } : { kind: "signalled", signal: String(signal) },
        ),
    }),
  );
  return { ended: ended.promise, signal: (name) => child.kill(name) };
}
