// The tools of agents as models are told of them (core/agent/tool-shapes.ts says what there is).
import { TOOLS as SHAPES } from "../../core/agent/tool-shapes.ts";
import type { ToolSchema } from "./openai.ts";

export const TOOLS: readonly ToolSchema[] = SHAPES.map(({ name, description, inputSchema }) => {
  const { type, properties, required } = inputSchema;
  return { name, description, schema: { type, properties: { ...properties }, required: [...required] } };
});
