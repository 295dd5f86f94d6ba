import type { Digest } from '#libs/crypto';

import { DomainError, epochMsOf, type Timestamp, timestampOf } from '../kernel/index.js';

/** What a server says its tool does. A policy may read it; nothing else relies on it. */
export type ToolHints = {
  readonly read_only: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly open_world: boolean;
};

/** A tool as a server lists it. The definition itself, what agents are shown, is a row beside the log. */
export type ListedTool = {
  readonly name: string;
  /** Digest of the definition in RFC 8785 form. */
  readonly definition: Digest;
  readonly hints: ToolHints;
};

/**
 * Why a tool of a list is not served. `name`, `form`: not as the protocol has it. `header`: it annotates arguments against
 * the protocol's rules. `too_large`: its definition. `too_many`: beyond the bounds of a list. `repeated`: the name is taken.
 */
export type LeftOutWhy = 'name' | 'form' | 'header' | 'too_large' | 'too_many' | 'repeated';

export type LeftOutTools = { readonly why: LeftOutWhy; readonly count: number };

/** A list as it was fetched from a server. */
export interface ToolList {
  /** The protocol revision that the server speaks. */
  readonly protocol: string;
  /** Over protocol, names and definitions, whatever their order. */
  readonly listDigest: Digest;
  /** In the server's order. */
  readonly tools: readonly ListedTool[];
  readonly leftOut: readonly LeftOutTools[];
}

/** A tool that a server named once, as the log has it. */
export interface DiscoveredTool {
  readonly name: string;
  /** The definition that was recorded last; null where the last list did not have the tool. */
  readonly observed: Digest | null;
  /** The definition that may be called; null where nobody has accepted one. */
  readonly accepted: Digest | null;
  readonly hints: ToolHints;
  /** When observed or accepted became what they are. */
  readonly changedAt: Timestamp;
}

/** The tools of a connector whose server names them. */
export interface DiscoveredTools {
  readonly protocol: string;
  readonly listDigest: Digest;
  /** In the server's order; those that are gone come last. */
  readonly tools: readonly DiscoveredTool[];
  readonly leftOut: readonly LeftOutTools[];
  readonly recordedAt: Timestamp;
  /** Until when lists were recorded in advance, at one in {@link LIST_INTERVAL_MS}. */
  readonly recordedUntil: Timestamp;
}

/** `new`: nobody has accepted a definition. `changed`: another than the accepted one. Both are held (rule CON-12). */
export const DISCOVERED_STATUSES = ['accepted', 'new', 'changed', 'gone'] as const;
export type DiscoveredStatus = (typeof DISCOVERED_STATUSES)[number];

export const discoveredStatusOf = ({ observed, accepted }: DiscoveredTool): DiscoveredStatus => {
  if (observed === null) return 'gone';
  if (observed === accepted) return 'accepted';
  return accepted === null ? 'new' : 'changed';
};

/** Whether an admin has to look at what the server says of it now, before it may be called (rule CON-12). */
export const isHeldTool = ({ observed, accepted }: DiscoveredTool): boolean =>
  observed !== null && observed !== accepted;

/** How many tools wait for an admin: calls of them are denied until somebody accepts what the server says now. */
export const heldToolsIn = (discovered: DiscoveredTools | undefined): number =>
  (discovered?.tools ?? []).filter(isHeldTool).length;

/** Which tools are accepted without a person: none that changed, none that changed and none that is new, or all. */
export type AcceptanceRule = 'changed' | 'all' | 'none';

/** Lists that are recorded at once, and then one in ten minutes (rule CON-13): a server that goes back and forth fills no log. */
const LISTS_AT_ONCE = 10;
const LIST_INTERVAL_MS = 600_000;
/** Of one connector. A new name beyond them waits for a person, so that no server fills the log with names. */
const NAMES_MAX = 2_000;

/** The members of `ConnectorToolsRecorded` beside those of every connector event. */
export type RecordedTools = {
  readonly protocol: string;
  readonly list_digest: Digest;
  readonly tools: readonly ListedTool[];
  /** Names whose listed definition may be called from here on, without a person having looked at it. */
  readonly accepted: readonly string[];
  readonly left_out: readonly LeftOutTools[];
};

/** The members of `ConnectorToolsAccepted`. */
export type AcceptedTools = {
  readonly tools: readonly { readonly name: string; readonly definition: Digest }[];
};

/**
 * What a fetched list adds to the log; null where it says what the log says.
 * @param after the list that the log had when the fetch began: a list may be older than one that was recorded meanwhile
 * @throws {DomainError} conflict, rate_limited
 */
export const recordedTools = (
  list: ToolList,
  {
    before,
    after,
    rule,
    at,
  }: { before: DiscoveredTools | undefined; after: Digest | null; rule: AcceptanceRule; at: Timestamp },
): RecordedTools | null => {
  if (before?.listDigest === list.listDigest) return null;
  if ((before?.listDigest ?? null) !== after) throw new DomainError('conflict', { message: ANOTHER_LIST });
  requireSlowEnough(before, at);
  return {
    protocol: list.protocol,
    list_digest: list.listDigest,
    tools: list.tools,
    accepted: acceptedByThemselves(list.tools, before, rule),
    left_out: list.leftOut,
  };
};

const acceptedByThemselves = (
  listed: readonly ListedTool[],
  before: DiscoveredTools | undefined,
  rule: AcceptanceRule,
): readonly string[] => {
  const known = new Map(before?.tools.map((tool) => [tool.name, tool]));
  let names = [...known.values()].filter(({ accepted }) => accepted !== null).length;
  const accepted: string[] = [];
  for (const { name, definition } of listed) {
    const tool = known.get(name);
    if (tool?.accepted === definition) continue;
    const isFirst = tool === undefined && (rule !== 'all' || before === undefined) && names < NAMES_MAX;
    const isFollowed = rule === 'none' && (tool !== undefined || names < NAMES_MAX);
    if (!isFirst && !isFollowed) continue;
    accepted.push(name);
    if ((tool?.accepted ?? null) === null) names += 1;
  }
  return accepted;
};

const recordedUntil = (before: DiscoveredTools | undefined, at: Timestamp): number =>
  Math.max(before === undefined ? 0 : epochMsOf(before.recordedUntil), epochMsOf(at)) + LIST_INTERVAL_MS;

const requireSlowEnough = (before: DiscoveredTools | undefined, at: Timestamp): void => {
  const waitMs = recordedUntil(before, at) - epochMsOf(at) - LISTS_AT_ONCE * LIST_INTERVAL_MS;
  if (waitMs <= 0) return;
  throw new DomainError('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000), message: TOO_OFTEN });
};

const ANOTHER_LIST = 'The tools of this connector were recorded meanwhile. Ask again.';
const TOO_OFTEN =
  'The server of this connector changes its tools too often: ten changes are recorded at once, and then one in ten minutes. What it changed meanwhile is not sent. Wait as long as Retry-After says.';

/**
 * What a person's word adds to the log; null where all of it was accepted before.
 * @throws {DomainError} conflict, param `tools[i].definition_digest`: what was looked at is not what is there
 */
export const acceptedTools = (
  asked: readonly { readonly name: string; readonly definition: string }[],
  before: DiscoveredTools | undefined,
): AcceptedTools | null => {
  const known = new Map(before?.tools.map((tool) => [tool.name, tool]));
  const tools = new Map<string, Digest>();
  asked.forEach(({ name, definition }, index) => {
    const tool = known.get(name);
    if (!tool || tool.observed === null || tool.observed !== definition) throw notObserved(index);
    if (tool.accepted !== tool.observed) tools.set(name, tool.observed);
  });
  return tools.size === 0 ? null : { tools: [...tools].map(([name, definition]) => ({ name, definition })) };
};

const notObserved = (index: number): DomainError =>
  new DomainError('conflict', {
    param: `tools[${index}].definition_digest`,
    message:
      'The server does not describe this tool in that form now. Read the tools of the connector again, and decide about what you see then.',
  });

export const afterRecorded = (
  before: DiscoveredTools | undefined,
  { protocol, list_digest, tools, accepted, left_out }: RecordedTools,
  at: Timestamp,
): DiscoveredTools => {
  const known = new Map(before?.tools.map((tool) => [tool.name, tool]));
  const byThemselves = new Set(accepted);
  const listed = tools.map(({ name, definition, hints }): DiscoveredTool => {
    const tool = known.get(name);
    known.delete(name);
    const now = byThemselves.has(name) ? definition : (tool?.accepted ?? null);
    return { name, observed: definition, accepted: now, hints, changedAt: sinceWhen(tool, definition, now, at) };
  });
  // A name that nobody ever accepted pins nothing.
  const gone = [...known.values()].filter((tool) => tool.accepted !== null);
  return {
    protocol,
    listDigest: list_digest,
    tools: [
      ...listed,
      ...gone.map((tool) => ({ ...tool, observed: null, changedAt: sinceWhen(tool, null, tool.accepted, at) })),
    ],
    leftOut: left_out,
    recordedAt: at,
    recordedUntil: timestampOf(recordedUntil(before, at)),
  };
};

export const afterAccepted = (before: DiscoveredTools, { tools }: AcceptedTools, at: Timestamp): DiscoveredTools => {
  const accepted = new Map(tools.map(({ name, definition }) => [name, definition]));
  return {
    ...before,
    tools: before.tools.map((tool) => {
      const definition = accepted.get(tool.name);
      return definition === undefined ? tool : { ...tool, accepted: definition, changedAt: at };
    }),
  };
};

const sinceWhen = (
  tool: DiscoveredTool | undefined,
  observed: Digest | null,
  accepted: Digest | null,
  at: Timestamp,
): Timestamp => (tool?.observed === observed && tool.accepted === accepted ? tool.changedAt : at);
