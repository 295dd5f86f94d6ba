import { digestOf, ID_PATTERN, type Digest } from '#libs/crypto';
import { parseTimestamp, type RecordedEvent } from '#libs/domain/kernel';

/**
 * What an auditor is shown of an event: where it stands, who caused it, and digests of the rest. Whatever an organization,
 * an agent or a tool wrote is in the data, and shows as its digest alone.
 */
export interface EventLine {
  readonly object: 'event';
  /** In the order of the log, from 0, without gaps. */
  readonly position: number;
  /** Category and ids; a part that is neither stands as its digest. */
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string | null;
  /** Our own time. Null here and below: the event does not say, or not in the form that the service writes. */
  readonly at: string | null;
  readonly org: string | null;
  readonly actor: { readonly type: string; readonly id: string | null } | null;
  readonly request_id: string | null;
  readonly causation: string | null;
  readonly correlation: string | null;
  /** Of a deed: the event it seals. */
  readonly source: { readonly stream: string; readonly revision: number; readonly event_id: string } | null;
  readonly data_digest: Digest;
  readonly metadata_digest: Digest;
}

/** The members stand in one order: the same event is the same bytes, always. */
export const eventLineOf = (recorded: RecordedEvent): EventLine => {
  const metadata = membersOf(recorded.metadata);
  return {
    object: 'event',
    position: Number(recorded.position),
    stream: shownStream(recorded.stream),
    revision: recorded.revision,
    id: recorded.id,
    type: matching(TYPE, recorded.type),
    at: timeOf(metadata['at']),
    org: matching(ID, metadata['org']),
    actor: actorOf(metadata['actor']),
    request_id: matching(ID, metadata['request_id']),
    causation: referenceOf(metadata['causation']),
    correlation: referenceOf(metadata['correlation']),
    source: sourceOf(metadata['source']),
    data_digest: digestOf(recorded.data),
    metadata_digest: digestOf(recorded.metadata),
  };
};

/** Whose the event is; null for the deployment's own, and where it does not say. */
export const orgOf = ({ metadata }: RecordedEvent): string | null => matching(ID, membersOf(metadata)['org']);

const ID = new RegExp(`^[a-z]{2,4}_${ID_PATTERN.source.slice(1)}`);
const TYPE = /^[A-Z][A-Za-z]{1,63}$/;
const CATEGORY = /^[a-z]{1,32}$/;
const HEX_OR_UUID = /^[0-9a-f]{32}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ACTOR_TYPE = /^(?:agent|user|admin_key|operator|system)$/;

/** Whoever can write to the database can put anything there; no text passes but of the form that is expected. */
const matching = (pattern: RegExp, value: unknown): string | null =>
  typeof value === 'string' && pattern.test(value) ? value : null;

const timeOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= 30 && parseTimestamp(value) !== null ? value : null;

const isReference = (text: string): boolean => ID.test(text) || HEX_OR_UUID.test(text);

/** Two events with one causation are told by its digest as well. */
const referenceOf = (value: unknown): string | null => {
  if (typeof value !== 'string') return null;
  return isReference(value) ? value : digestOf(value);
};

/** `connector-<org>-<name>`: the name is the organization's. */
const shownStream = (stream: string): string => {
  const [category = '', ...parts] = stream.split('-');
  const shown = parts.map((part) => (isReference(part) ? part : digestOf(part)));
  return [CATEGORY.test(category) ? category : digestOf(category), ...shown].join('-');
};

const actorOf = (value: unknown): EventLine['actor'] => {
  const { type, id } = asMembers(value);
  const known = matching(ACTOR_TYPE, type);
  return known === null ? null : { type: known, id: matching(ID, id) };
};

const sourceOf = (value: unknown): EventLine['source'] => {
  const { stream, revision, event_id: eventId } = asMembers(value);
  const id = matching(HEX_OR_UUID, eventId);
  if (typeof stream !== 'string' || !Number.isSafeInteger(revision) || id === null) return null;
  return { stream: shownStream(stream), revision: revision as number, event_id: id };
};

const membersOf = (text: string): Readonly<Record<string, unknown>> => {
  try {
    return asMembers(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
};

const asMembers = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
