// `node host.mjs <sqlite file> durable|shipped`: an application on LangGraph with its SQLite saver. As shipped, a step is not yet on the disk
// when the next one begins (`durability` async, `synchronous` NORMAL in WAL); `durable` asks for what the others do by default.
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { serve, step } from "../host.mjs";

const [file, manner] = process.argv.slice(2);
const isDurable = manner === "durable";

const saver = SqliteSaver.fromConnString(file);
saver.setup();
if (isDurable) saver.db.pragma("synchronous = FULL");

const State = Annotation.Root({ number: Annotation(), steps: Annotation(), command: Annotation() });
const graph = new StateGraph(State)
  .addNode("step", async ({ number, command }, { configurable }) => {
    await step(configurable.thread_id, number, command);
    return { number: number + 1 };
  })
  .addEdge(START, "step")
  .addConditionalEdges("step", ({ number, steps }) => (number < steps ? "step" : END))
  .compile({ checkpointer: saver });

function config(id, steps) {
  const durability = isDurable ? { durability: "sync" } : {};
  return { configurable: { thread_id: id }, recursionLimit: steps + 10, ...durability };
}

await serve({
  async run({ ids, steps, command }) {
    await Promise.all(ids.map((id) => graph.invoke({ number: 0, steps, command }, config(id, steps))));
  },
  async resume({ ids, steps }) {
    await Promise.all(ids.map((id) => graph.invoke(null, config(id, steps))));
  },
});
