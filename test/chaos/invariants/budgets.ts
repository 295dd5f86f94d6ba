import { endingUnrun, groupedBy, membersOf, outcomeOf, textOf, type ActionFile, type Dossier } from '../dossier.js';
import type { Members } from '../evidence.js';

/** What one action was charged of one bound of a budget, and what it uses up of it in the end. */
interface Used {
  readonly action: string;
  readonly bound: string;
  readonly amount: number;
  readonly limit: number;
}

/**
 * INV-11. What ran, and what may have run, never passes a budget, by the charges that its decisions name. What was refused by
 * a budget holds nothing of any, and whatever reached its tool was charged where others of its kind were.
 */
export const budgetsHold = ({ actions }: Dossier): readonly string[] => {
  const files = [...actions.values()];
  const bounds = groupedBy(files.flatMap(usedBy), ({ bound }) => bound);
  const overspent = [...bounds].flatMap(([bound, used]) => {
    const sum = used.reduce((total, { amount }) => total + amount, 0);
    // It may have been raised meanwhile; a lower one holds for what came after.
    const limit = Math.max(...used.map((each) => each.limit));
    return sum > limit ? [`${bound} allows ${limit}, and ${used.length} actions use up ${sum}`] : [];
  });
  return [...overspent, ...uncharged(files), ...refusedAndCharged(files)];
};

const chargesOf = ({ events }: ActionFile): readonly Members[] => {
  const charges = events.find(({ type }) => type === 'ActionDecided')?.data['charges'];
  return Array.isArray(charges) ? charges.map(membersOf) : [];
};

const usedBy = (file: ActionFile): readonly Used[] => {
  const outcome = outcomeOf(file);
  const isFailed = outcome?.['status'] === 'failed';
  if (endingUnrun(file) !== null || (isFailed && outcome['attempt'] === 0)) return [];
  const cost = membersOf(outcome?.['cost']);
  return chargesOf(file).map(({ budget, period, currency, calls, amount, limit }) => {
    const foreseen = Number(currency === null ? calls : amount);
    const spent = cost['currency'] === currency ? Number(cost['amount']) : foreseen;
    return {
      action: file.id,
      bound: `${textOf(budget)} ${textOf(period)} ${textOf(currency) || 'calls'}`,
      amount: currency !== null && isFailed ? 0 : spent,
      limit: Number(limit),
    };
  });
};

const mayRun = ({ decision }: ActionFile): boolean => decision !== null && decision['outcome'] !== 'deny';

/** One policy holds for a whole run: of calls of one tool, either all are charged or none. */
const uncharged = (files: readonly ActionFile[]): readonly string[] =>
  [...groupedBy(files.filter(mayRun), ({ submitted }) => textOf(submitted?.['tool']))].flatMap(([tool, ofTool]) => {
    const charged = ofTool.filter((file) => chargesOf(file).length > 0).length;
    return charged === 0 || charged === ofTool.length
      ? []
      : [`${ofTool.length - charged} of ${ofTool.length} calls of ${tool} were charged to no budget`];
  });

const refusedAndCharged = (files: readonly ActionFile[]): readonly string[] =>
  files
    .filter((file) => !mayRun(file) && chargesOf(file).length > 0)
    .map(({ id }) => `${id} was refused and holds a budget all the same`);
