import { type ConnectorsState, inspectConnectors } from '#libs/infra/diagnosis';
import type { Examination } from './examination.js';
import { ok, warning, type Finding } from './finding.js';

/** As many names as fit into a sentence. */
const NAMED = 8;

/** What the last tests of the connectors found: none is made here, since a test sends requests to other systems. */
export const checkConnectors = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeConnectors(await inspectConnectors(pool));
};

export const judgeConnectors = ({ failing, untested, total }: ConnectorsState): Finding => {
  if (total === 0) return ok('There is no active connector.');
  const first = failing[0] ?? untested[0];
  if (first === undefined) return ok('Every active connector passed its last test, or warned.');
  const faults = [
    ...(failing.length === 0 ? [] : [`${listed(failing)} failed ${failing.length === 1 ? 'its' : 'their'} last test`]),
    ...(untested.length === 0
      ? []
      : [`${listed(untested)} ${untested.length === 1 ? 'was' : 'were'} not tested, or changed since`]),
  ];
  return warning(
    `Of the connectors, ${faults.join(', and ')}.`,
    `Test each, in the Console or with \`npm run ags -- connectors test ${first}\`, which says what to do.`,
  );
};

const listed = (names: readonly string[]): string =>
  names.length <= NAMED ? names.join(', ') : `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more`;
