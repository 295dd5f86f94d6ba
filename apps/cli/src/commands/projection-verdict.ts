import type { ProjectionName, RebuildReport, RowDifference } from '#libs/infra/read-models';
import { table, type Answer } from '../terminal.js';

export type Verified = Extract<RebuildReport, { type: 'verified' }>;

export const isBroken = ({ difference_count: count }: Verified): boolean => count > 0;

/** What `ags projections verify` answers. @param isWhole whether all were compared that were to be */
export const verdictOf = (verified: readonly Verified[], isWhole = true): Answer => ({
  objects: verified.map(objectOf),
  text: verified.some(isBroken)
    ? brokenText(verified)
    : `${isWhole ? 'Intact' : PARTLY_INTACT}: every row is what the log gives.\n\n${countsOf(verified)}`,
});

const PARTLY_INTACT = 'Intact as far as it was compared, which is not all';

const objectOf = (report: Verified): object => {
  const { projection, events, position, rows, difference_count, differences, duration_ms } = report;
  const result = isBroken(report) ? 'broken' : 'intact';
  return {
    object: 'projection_verification',
    projection,
    result,
    events,
    position,
    rows,
    difference_count,
    differences,
    duration_ms,
  };
};

const brokenText = (verified: readonly Verified[]): string => {
  const count = verified.reduce((sum, { difference_count: of }) => sum + of, 0);
  const shown = verified.flatMap(({ differences }) => differences);
  const rest = shown.length < count ? `; of each projection the first ${SHOWN_AT_MOST} below` : '';
  const what =
    count === 1 ? '1 row is not what the log gives' : `${count.toLocaleString('en')} rows are not what the log gives`;
  const names = verified.filter(isBroken).map(({ projection }) => projection);
  return [
    `Broken: ${what}${rest}.`,
    '',
    table(['TABLE', 'KEY', 'WHAT'], shown.map(rowOf)),
    '',
    countsOf(verified),
    '',
    nextStepOf(names),
  ].join('\n');
};

const SHOWN_AT_MOST = 100;

const countsOf = (verified: readonly Verified[]): string =>
  table(
    ['PROJECTION', 'EVENTS READ', 'ROWS', 'DIFFERENT', 'SECONDS'],
    verified.map(({ projection, events, rows, difference_count: different, duration_ms }) => [
      projection,
      ...[events, rows, different].map((number) => number.toLocaleString('en')),
      (duration_ms / 1000).toFixed(1),
    ]),
  );

const nextStepOf = (names: readonly ProjectionName[]): string =>
  [
    'The service writes no such rows: keep a copy of the database as it is, and run `npm run ags -- audit` for the log itself.',
    'Then make the rows anew:',
    ...names.map((name) => `  npm run ags -- projections rebuild ${name}`),
  ].join('\n');

const rowOf = ({ table: name, key, kind, columns }: RowDifference): readonly string[] => [
  name,
  key.map(printable).join(' '),
  kind === 'changed' ? `changed: ${columns.join(', ')}` : KINDS[kind],
];

const KINDS = {
  missing: 'missing: the log gives this row',
  unexpected: 'unexpected: the log gives no such row',
} as const satisfies Readonly<Record<Exclude<RowDifference['kind'], 'changed'>, string>>;

/** A key that somebody invented may be anything, also what a terminal would obey. */
const printable = (text: string): string => text.slice(0, KEY_SHOWN_CHARACTERS).replaceAll(/[^\x20-\x7e]/g, '?');

const KEY_SHOWN_CHARACTERS = 80;
