import { type DatabaseState, inspectDatabases } from '#libs/infra/diagnosis';
import { spaceText } from '#libs/infra/runtime';
import type { Examination } from './examination.js';
import { ok, problem, warning, type Finding } from './finding.js';

/** As many names as fit into a sentence. */
const NAMED = 8;
/** A decoder looks at itself every second; one that has not for so long follows nothing. */
const SILENT_MS = 60_000;
/** What a slot keeps on the disk of its database before somebody should look. */
const MUCH_BYTES = 1024 ** 3;

/** Of these the log that a decoder needs is gone: it cannot go on by itself. */
const LOST = new Set(['slot_invalidated', 'log_restored']);

/** What the last tests of connectors to databases found: none is made here, since a test asks other systems. */
export const checkDatabaseConnectors = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeDatabaseConnectors(await inspectDatabases(pool));
};

export const judgeDatabaseConnectors = (databases: readonly DatabaseState[]): Finding => {
  if (databases.length === 0) return ok('There is no active connector to a database.');
  const failing = databases.filter(({ health }) => health === 'failing');
  const [first] = failing;
  if (first !== undefined) {
    const [fault] = first.failed;
    const why = fault === undefined ? '' : ` (${first.name}: ${fault.detail.replace(/\.$/, '')})`;
    return problem(`${listed(failing)} ${failing.length === 1 ? 'is' : 'are'} not ready${why}.`, testing(first));
  }
  const untested = databases.filter(({ health }) => health === 'not_tested');
  if (untested[0] !== undefined) {
    const message = `${listed(untested)} ${untested.length === 1 ? 'was' : 'were'} not tested, or changed since.`;
    return warning(message, testing(untested[0]));
  }
  return ok('Every connector to a database was ready when it was tested last.');
};

/** Whether each change log that confirms calls is followed, and what its slot keeps on the disk of its database. */
export const checkDecoderSlots = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeDecoderSlots(await inspectDatabases(pool), Date.now());
};

export const judgeDecoderSlots = (databases: readonly DatabaseState[], nowMs: number): Finding => {
  const witnessed = databases.filter(({ isWitnessed }) => isWitnessed);
  if (witnessed.length === 0) return ok('No connector has a witness that follows a change log.');
  const lost = witnessed.filter(({ decoder }) => LOST.has(decoder?.reason ?? ''));
  if (lost[0] !== undefined) {
    return problem(`The slot of ${listed(lost)} is lost: no change there is confirmed any more.`, testing(lost[0]));
  }
  const silent = witnessed.filter(({ decoder }) => decoder === null || nowMs - decoder.seenMs > SILENT_MS);
  if (silent.length > 0) {
    return warning(
      `Nobody follows the change log of ${withSizes(silent)}.`,
      'Start the worker (`npm start`, or `npm run start:worker`): a slot that nobody reads fills the disk of its database.',
    );
  }
  const down = witnessed.filter(({ decoder }) => decoder?.reason === 'decoder_down');
  if (down[0] !== undefined) {
    return problem(`The decoder of ${withSizes(down)} cannot read its change log.`, testing(down[0]));
  }
  const behind = witnessed.filter(
    ({ decoder }) => decoder?.reason === 'slot_lagging' || (decoder?.lagBytes ?? 0) > MUCH_BYTES,
  );
  if (behind.length > 0) {
    return warning(
      `The decoder of ${withSizes(behind)} is behind, so calls there end unverifiable.`,
      'Wait, or look for what writes so much there.',
    );
  }
  return ok(`Every change log that confirms calls is followed (${withSizes(witnessed)}).`);
};

/** Names of connectors to databases whose server writes no log that a decoder could follow. */
export const withoutLogicalLog = (databases: readonly DatabaseState[]): string | null => {
  const without = databases.filter(({ failed }) => failed.some(({ check }) => check === 'wal_level'));
  return without.length === 0 ? null : listed(without);
};

const testing = ({ name }: DatabaseState): string =>
  `Run \`npm run ags -- connectors test ${name}\`, which says what to do.`;

const listed = (databases: readonly DatabaseState[]): string => told(databases.map(({ name }) => name));

const withSizes = (databases: readonly DatabaseState[]): string =>
  told(
    databases.map(({ name, decoder }) =>
      decoder?.lagBytes === null || decoder?.lagBytes === undefined
        ? name
        : `${name}, ${spaceText(decoder.lagBytes)} kept`,
    ),
    '; ',
  );

const told = (names: readonly string[], between = ', '): string =>
  names.length <= NAMED
    ? names.join(between)
    : `${names.slice(0, NAMED).join(between)} and ${names.length - NAMED} more`;
