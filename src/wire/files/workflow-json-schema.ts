// The JSON Schema of workflow files, for editors; made from the same table as the checker.
import type { Shape } from "../shape.ts";
import { MAP, STEP, WORKFLOW } from "./workflow-shapes.ts";

type Schema = { readonly [name: string]: unknown };

const KINDS = ["shell", "set", "agent", "claude"];

export function workflowJsonSchema(): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "A Holdfast workflow",
    ...schemaOf(WORKFLOW),
    definitions: { step: { ...schemaOf(STEP), oneOf: KINDS.map((kind) => ({ required: [kind] })) } },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectSchema({ fields }: Shape & { readonly kind: "object" }): Schema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, shape]) => [name, { description: shape.says, ...schemaOf(shape) }]),
  );
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  const isMap = MAP.kind === "object" && fields === MAP.fields;
  return {
    type: "object",
    additionalProperties: false,
    properties,
    ...(required.length > 0 && { required }),
    ...(isMap && { oneOf: [{ required: ["steps"] }, { required: ["agent_template"] }] }),
  };
}

function textSchema({ least, pattern }: Shape & { readonly kind: "text" }): Schema {
  return {
    type: "string",
    ...(least !== undefined && { minLength: least }),
    ...(pattern !== undefined && { pattern: pattern.source }),
  };
}

function schemaOf(shape: Shape): Schema {
  switch (shape.kind) {
    case "text":
      return textSchema(shape);
    case "whole":
      return { type: "integer", minimum: shape.least, maximum: shape.most };
    case "number":
      return { type: "number", exclusiveMinimum: shape.above };
    case "flag":
      return { type: "boolean" };
    case "literal":
      return { enum: shape.of };
    case "list":
      return { type: "array", items: schemaOf(shape.of), ...(shape.least > 0 && { minItems: shape.least }) };
    case "table":
      return {
        type: "object",
        propertyNames: { pattern: shape.names?.source },
        additionalProperties: schemaOf(shape.of),
      };
    case "object":
      return objectSchema(shape);
    case "later":
      return { $ref: `#/definitions/${shape.name}` };
    case "either":
      return { anyOf: shape.of.map(schemaOf) };
    default:
      return {};
  }
}
