// The tools of agents, as they are described to models (core/agent/tool-shapes.ts lists them).
import { TOOLS as SHAPES } from "../../core/agent/tool-shapes.ts";
import type { ToolSchema } from "./openai.ts";

export const TOOLS: readonly ToolSchema[] = SHAPES.map(({ name, description, inputSchema }) => {
  const { type, properties, required } = inputSchema;
  return { name, description, schema: { type, properties: { ...properties }, required: [...required] } };
});
