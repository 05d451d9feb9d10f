// The JSON Schema of workflow files, for editors; made from the same table as the checker.
import { type Fields, MAP_FIELDS, type Shape, STEP, WORKFLOW_FIELDS } from "./workflow-shapes.ts";

type Schema = { readonly [name: string]: unknown };

const KINDS = ["shell", "set", "agent", "claude"];

export function workflowJsonSchema(): string {
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "A Holdfast workflow",
    ...objectSchema(WORKFLOW_FIELDS),
    definitions: { step: { ...schemaOf(STEP), oneOf: KINDS.map((kind) => ({ required: [kind] })) } },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function objectSchema(fields: Fields): Schema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, { shape, says }]) => [name, { description: says, ...schemaOf(shape) }]),
  );
  const required = Object.keys(fields).filter((name) => fields[name]?.required === true);
  const oneOf = fields === MAP_FIELDS ? { oneOf: [{ required: ["steps"] }, { required: ["agent_template"] }] } : {};
  return {
    type: "object",
    additionalProperties: false,
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...oneOf,
  };
}

function schemaOf(shape: Shape): Schema {
  switch (shape.kind) {
    case "text":
      return {
        type: "string",
        minLength: 1,
        ...(shape.pattern === undefined ? {} : { pattern: shape.pattern.source }),
      };
    case "whole":
      return { type: "integer", minimum: shape.least, maximum: shape.most };
    case "yesNo":
      return { type: "boolean" };
    case "duration":
      return {
        anyOf: [
          { type: "string", pattern: "^\\d+(\\.\\d+)?(ms|s|m|h|d)$" },
          { type: "number", exclusiveMinimum: 0 },
        ],
      };
    case "word":
      return { enum: shape.of };
    case "list":
      return { type: "array", items: schemaOf(shape.of), ...(shape.least > 0 ? { minItems: shape.least } : {}) };
    case "names":
      return {
        type: "object",
        propertyNames: { pattern: shape.pattern.source },
        additionalProperties: schemaOf(shape.of),
      };
    case "object":
      return objectSchema(shape.fields);
    case "value":
      return {};
    case "later":
      return { $ref: `#/definitions/${shape.name}` };
    case "either":
      return { anyOf: shape.of.map(schemaOf) };
  }
}
