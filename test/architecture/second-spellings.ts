import { OWNED_PATTERNS, OWNED_SETS, type OwnedSet } from './owned-facts.js';

const WORD = "'[^'\\n\\\\]+'";
/** `['a', 'b']` and `'a' | 'b'`: how a closed set is spelled as a list and as a type. */
const LISTS = [
  new RegExp(`\\[\\s*(?:${WORD}\\s*,\\s*)+${WORD}\\s*,?\\s*\\]`, 'g'),
  new RegExp(`${WORD}(?:\\s*\\|\\s*${WORD})+`, 'g'),
];
/** A reason's limit where a form, a check or a sentence spells it as a number. */
const REASON_LIMIT = /(?:[mM]axLength\W{1,4}|REASON\w* = )280\b|\b280 characters/g;
const REASON_OWNER = 'libs/domain/src/kernel/checked-reason.ts';

const sorted = (values: readonly string[]): string => values.toSorted().join(' ');
const ownersOf = (values: readonly string[]): readonly OwnedSet[] =>
  OWNED_SETS.filter((owned) => owned.values.length > 1 && sorted(owned.values) === sorted(values));

/** `ActionState` as `ACTION_STATE`, the Console's way to begin the names of what it takes from the document. */
const inConsole = (schema: string): string => schema.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();

const fromOwner = (path: string, owner: { name: string; file: string; schema: string | null }, kind: string): string =>
  path.startsWith('apps/console/') && owner.schema !== null
    ? `import ${inConsole(owner.schema)}_${kind} of apps/console/src/kernel/contract.ts.`
    : `import ${owner.name} of ${owner.file}.`;

/** What of a pattern tells it: without its ends, unless it is so short that it says nothing without them. */
const spelledBy = ({ source }: RegExp): string =>
  source.length < 12 ? source : source.replaceAll('\\/', '/').replace(/^\^/, '').replace(/\$$/, '');

/** Where a file spells again what has an owner elsewhere, each with what to do instead. */
export const secondSpellings = (path: string, source: string): readonly string[] => {
  const text = source.replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, '');
  const lineOf = (index: number): number => text.slice(0, index).split('\n').length;
  const found: string[] = [];
  for (const match of LISTS.flatMap((list) => [...text.matchAll(list)])) {
    const values = [...match[0].matchAll(/'([^']+)'/g)].map(([, value]) => value as string);
    const owners = ownersOf(values);
    if (owners.length === 0 || owners.some(({ file }) => file === path)) continue;
    const next = owners.map((owner) => fromOwner(path, owner, 'VALUES')).join(' Or ');
    found.push(`${path}:${lineOf(match.index)} spells ${values.join(', ')} again: ${next}`);
  }
  for (const owner of OWNED_PATTERNS.filter(({ file }) => file !== path)) {
    const spelled = spelledBy(owner.pattern);
    const at = text.replaceAll('\\/', '/').indexOf(spelled);
    if (at >= 0) found.push(`${path} spells the pattern ${spelled} again: ${fromOwner(path, owner, 'PATTERN')}`);
  }
  if (path !== REASON_OWNER) {
    for (const { index } of text.matchAll(REASON_LIMIT)) {
      const owner = { name: 'REASON_MAX_CHARACTERS', file: REASON_OWNER, schema: 'ReasonText' };
      found.push(
        `${path}:${lineOf(index)} spells the limit of a reason again: ${fromOwner(path, owner, 'MAX_LENGTH')}`,
      );
    }
  }
  return found;
};
