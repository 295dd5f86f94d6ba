import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Companions, NewEvent, Position, RecordedEvent } from '#libs/domain/kernel';
import { bigintArray, textArray, uuidArray } from '../../postgres/index.js';
import { revisionNumber } from '../append-rules.js';
import type { AppendInCommit } from '../transactional-appends.js';
import type { AppendFunctions } from './append-functions.js';

const APPEND = {
  name: 'event_store_append',
  text: 'select stream, is_recorded, revision, log_position from event_store.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
} as const;

/** What is known about a call before it is made. */
export interface Departure {
  /** The end of the log as far as this process has seen it. */
  readonly head: Position;
  /** The events of the call, with the positions that they get if the log still ends at `head`. */
  readonly events: readonly RecordedEvent[];
  /** The companions of the call, which are written only if the log still ends at `head`. */
  readonly companions: Companions | null;
}

/**
 * The statement that writes these appends and their companions.
 * @param functions null if the store was given none: then there are neither payloads nor companions
 */
export const statementOf = (
  appends: readonly AppendInCommit[],
  departure: Departure | null,
  functions: AppendFunctions | null,
): pg.QueryConfig => {
  if (functions === null) return { values: [...argumentsOf(appends)], ...APPEND };
  const payloads = appends.flatMap((append) => append.payloads ?? []);
  if (departure !== null && departure.companions !== null) {
    const { head, events, companions } = departure;
    const demanded = [...companions.requires];
    const conditions = [
      appends.length,
      events.length,
      head,
      textArray(demanded.map(([stream]) => stream)),
      bigintArray(demanded.map(([, revision]) => revision)),
    ];
    const all = argumentsOf([...appends, ...companions.appends]);
    return { values: [...conditions, ...all, ...functions.payloadArrays(payloads)], ...functions.accompanied };
  }
  if (payloads.length === 0) return { values: [...argumentsOf(appends)], ...APPEND };
  return { values: [...argumentsOf(appends), ...functions.payloadArrays(payloads)], ...functions.withPayloads };
};

const argumentsOf = (appends: readonly AppendInCommit[]): readonly Buffer[] => {
  const [events, streams, revisions]: [NewEvent[], string[], number[]] = [[], [], []];
  for (const append of appends) {
    let revision = revisionNumber(append.expectedRevision);
    for (const event of append.events) {
      revision += 1;
      events.push(event);
      streams.push(append.stream);
      revisions.push(revision);
    }
  }
  return [
    textArray(appends.map(({ stream }) => stream)),
    bigintArray(appends.map(({ expectedRevision }) => revisionNumber(expectedRevision))),
    textArray(streams),
    bigintArray(revisions),
    uuidArray(events.map(({ id }) => id)),
    textArray(events.map(({ type }) => type)),
    textArray(events.map(({ data }) => data)),
    textArray(events.map(({ metadata }) => metadata)),
    ...requirementArrays(appends),
  ];
};

/** For each requirement: the stream of the append that has it, the required stream, and its revision. */
const requirementArrays = (appends: readonly AppendInCommit[]): readonly Buffer[] => {
  const requirements = appends.flatMap(({ stream, requires }) =>
    [...(requires ?? [])].map(([required, revision]) => ({ stream, required, revision })),
  );
  return [
    textArray(requirements.map(({ stream }) => stream)),
    textArray(requirements.map(({ required }) => required)),
    bigintArray(requirements.map(({ revision }) => revision)),
  ];
};

/**
 * The size of the trial event: large enough to need room on the disk, and random, so that no server can compress it.
 */
const TRIAL_BYTES = 12_288;

/** An SQLSTATE of our own: the trial raises it to roll its append back, and catches it in the same statement. */
const TAKEN_BACK = 'AGT01';

/**
 * An append that its own statement rolls back, so that the log's lock is not held across a round trip. Otherwise a
 * process that stops between the append and the rollback would block every writer until its transaction is ended.
 */
export const trialStatement = (): string => {
  const data = JSON.stringify({ trial: randomBytes(TRIAL_BYTES).toString('base64') });
  const id = randomUUID();
  return `do $trial$ begin
    begin
      perform event_store.append(
        array['trial-${id}'], array[-1]::bigint[],
        array['trial-${id}'], array[0]::bigint[], array['${id}'::uuid], array['Trial'], array['${data}'], array['{}'],
        '{}', '{}', '{}');
      raise sqlstate '${TAKEN_BACK}';
    exception when sqlstate '${TAKEN_BACK}' then null;
    end;
  end $trial$`;
};
