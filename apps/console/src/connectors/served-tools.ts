import type { Schemas } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import type { BadgeLook } from '../kit/badges.tsx';
import type { Json } from './draft.ts';

/** A tool as the server of its connector describes it, and as it was accepted. */
export type ServedTool = Schemas['ConnectorTool'];
export type Definition = Readonly<Record<string, Json>>;
type Status = ServedTool['status'];

export const STATUSES: Readonly<Record<Status, BadgeLook>> = {
  accepted: ['ok', 'checkCircle', 'Accepted'],
  new: ['warn', 'alert', 'New, waits for an admin'],
  changed: ['warn', 'alert', 'Changed, waits for an admin'],
  gone: ['quiet', 'ban', 'Gone'],
};

/** What a status means for agents, where they cannot call the tool. */
export const MEANINGS: Readonly<Record<Exclude<Status, 'accepted'>, string>> = {
  new: 'Nobody has accepted it. Agents do not see it, and calls of it are denied.',
  changed: 'The server describes it otherwise than was accepted. Agents do not see it, and calls of it are denied.',
  gone: 'The server does not list it any more, so calls of it are denied. If it comes back otherwise than it was accepted, it waits for an admin.',
};

/** What is known of one of the two definitions: a definition that is there may have been lost. */
export type Known =
  | { readonly is: 'none' }
  | { readonly is: 'lost'; readonly digest: string }
  | { readonly is: 'stored'; readonly digest: string; readonly definition: Definition };

const known = (digest: string | null, definition: Definition | null): Known => {
  if (digest === null) return { is: 'none' };
  return definition === null ? { is: 'lost', digest } : { is: 'stored', digest, definition };
};

/** What the server says now. */
export const presentOf = (tool: ServedTool): Known => known(tool.definition_digest, tool.definition);
export const acceptedOf = (tool: ServedTool): Known => known(tool.accepted_digest, tool.accepted_definition);

/** A tool with the digest of what a person has looked at: what is accepted, and nothing else. */
export interface LookedAt {
  readonly name: string;
  readonly definition_digest: string;
}

/** Of the shown tools those that can be accepted: what was lost was looked at by nobody. */
export const lookedAt = (tools: readonly ServedTool[]): readonly LookedAt[] =>
  tools.flatMap(({ name, definition_digest, definition }) =>
    definition_digest === null || definition === null ? [] : [{ name, definition_digest }],
  );

/** The name of the tool that the server has changed since it was looked at; null if the error is another one. */
export const overtakenTool = (error: Error | null, tools: readonly LookedAt[]): string | null => {
  if (!(error instanceof ApiError) || error.code !== 'conflict') return null;
  const [, index] = /^tools\[(\d+)\]\.definition_digest$/.exec(error.param ?? '') ?? [];
  return index === undefined ? null : (tools[Number(index)]?.name ?? null);
};

/** A refusal because somebody asked too often, with how long to wait in place of the name of a header. */
export const waitInWords = ({ message, retryAfterS }: ApiError): string => {
  const said = message.replace(/\s*[^.]*\bRetry-After\b[^.]*\./g, '');
  if (retryAfterS === null) return `${said} Try again in a moment.`;
  const [count, unit] = retryAfterS < 120 ? [retryAfterS, 'second'] : [Math.ceil(retryAfterS / 60), 'minute'];
  return `${said} Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`;
};

/** The members of a definition in the order of reading; the name of the tool stands above them. */
const MEMBERS = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'];

/** The names of the members that one or the other definition has. */
export const membersOf = (...definitions: readonly (Definition | null)[]): readonly string[] => {
  const there = new Set(definitions.flatMap((definition) => Object.keys(definition ?? {})));
  there.delete('name');
  const others = [...there].filter((name) => !MEMBERS.includes(name));
  return [...MEMBERS.filter((name) => there.has(name)), ...others];
};

/** A member as text: a text as it is, anything else as JSON. Null if the definition does not have it. */
export const memberText = (definition: Definition, name: string): string | null => {
  const value = definition[name];
  if (value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
};
