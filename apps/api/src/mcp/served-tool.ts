import type { JsonObject } from '#libs/crypto';
import type { ToolDescription } from '#libs/domain/connectors';
import { withoutMarks } from '../connectors/shown-schema.js';

/** The one tool that is the service's own: what waits for a person is waited for with it. */
export const AWAIT_TOOL = 'service_await_action';

/** As `tools/list` tells it. */
export const AWAIT_DEFINITION: JsonObject = {
  name: AWAIT_TOOL,
  title: 'Wait for an action that was submitted earlier',
  description:
    'Waits up to 25 seconds for an action that an earlier tool call began and that did not end in time, for example ' +
    'because a person has to approve it, and gives its result. Use it instead of repeating that tool call. If the ' +
    'action still waits, call it again with the same id.',
  inputSchema: {
    type: 'object',
    properties: {
      action: { type: 'string', description: 'The id that the earlier answer named: act_ and 26 characters.' },
    },
    required: ['action'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

/** Of a tool that its connector's config describes. What it answers has no schema. */
export const definitionOf = (
  name: string,
  { title, description, sideEffect, callsMayBe, isRepeatable, inputSchema }: ToolDescription,
): JsonObject => ({
  name,
  ...(title === undefined ? {} : { title: `${title.slice(0, 1).toUpperCase()}${title.slice(1)}` }),
  ...(description === null ? {} : { description }),
  inputSchema,
  annotations: {
    readOnlyHint: sideEffect === 'read',
    destructiveHint: [sideEffect, ...(callsMayBe ?? [])].some((one) => one === 'destructive' || one === 'unknown'),
    idempotentHint: isRepeatable || sideEffect === 'read',
    openWorldHint: true,
  },
});

/** Of a tool that its connector's server describes: as recorded, under the name that it has here. */
export const definitionIn = (name: string, body: string): JsonObject => {
  const definition = JSON.parse(body) as JsonObject;
  return { ...definition, name, inputSchema: withoutMarks(definition['inputSchema'] ?? { type: 'object' }) };
};
