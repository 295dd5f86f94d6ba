/** A run of characters, and whether the other text does not have it there. */
export interface Run {
  readonly text: string;
  readonly differs: boolean;
}

/** Some lines of a text. Those that the other text does not have are told apart, and in them what exactly differs. */
export interface Part {
  readonly isSame: boolean;
  readonly runs: readonly Run[];
}

export interface Comparison {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
}

/** Steps that one comparison takes at most: some milliseconds. Beyond them, texts are compared less finely. */
const STEPS_MAX = 1_000_000;
/** More parts, and more runs in all of them, are nothing that a person compares; and each becomes elements of the page. */
const PARTS_MAX = 60;
const RUNS_MAX = 120;

/** Two texts, line by line; lines that were replaced by others also word by word. */
export const compareTexts = (before: string, after: string): Comparison => {
  const budget = { steps: STEPS_MAX, runs: RUNS_MAX };
  const edits = editsOf(linesOf(before), linesOf(after), budget);
  if (edits.length > PARTS_MAX) return { before: [partOf(before)], after: [partOf(after)] };
  const parts = edits.map(({ isSame, removed, added }) => {
    if (isSame) return { before: samePart(removed), after: samePart(added) };
    const [was, is] = runsOf(removed, added, budget);
    return { before: { isSame, runs: was }, after: { isSame, runs: is } };
  });
  const having = (side: 'before' | 'after'): readonly Part[] =>
    parts.map((part) => part[side]).filter(({ runs }) => runs.length > 0);
  return { before: having('before'), after: having('after') };
};

const samePart = (text: string): Part => ({ isSame: true, runs: [{ text, differs: false }] });

/** Lines that differ as a whole. */
const partOf = (text: string): Part => ({ isSame: false, runs: text === '' ? [] : [{ text, differs: false }] });

const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];

/** Of lines that replaced others: which words of each the other does not have. Of lines that are new or gone: the whole. */
const runsOf = (removed: string, added: string, budget: Budget): readonly [readonly Run[], readonly Run[]] => {
  const whole = [partOf(removed).runs, partOf(added).runs] as const;
  if (removed === '' || added === '') return whole;
  const edits = editsOf(wordsOf(removed), wordsOf(added), budget);
  // Where no word is the same, to mark all of them says nothing.
  const hasCommonWord = edits.some(({ isSame, removed: text }) => isSame && text.trim() !== '');
  if (!hasCommonWord || edits.length > budget.runs) return whole;
  budget.runs -= edits.length;
  const runs = (side: 'removed' | 'added'): readonly Run[] =>
    edits.map((edit) => ({ text: edit[side], differs: !edit.isSame })).filter(({ text }) => text !== '');
  return [runs('removed'), runs('added')];
};

interface Budget {
  steps: number;
  runs: number;
}

interface Edit {
  readonly isSame: boolean;
  readonly removed: string;
  readonly added: string;
}

/**
 * How the tokens of one text became those of the other, by their longest common subsequence. Where that would take too
 * many steps, everything between the common beginning and the common end counts as replaced.
 */
const editsOf = (before: readonly string[], after: readonly string[], budget: Budget): readonly Edit[] => {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [was, is] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const edits: Edit[] = [];
  const add = (isSame: boolean, removed: readonly string[], added: readonly string[]): void => {
    if (removed.length + added.length > 0) edits.push({ isSame, removed: removed.join(''), added: added.join('') });
  };
  add(true, before.slice(0, head), after.slice(0, head));
  const steps = was.length * is.length;
  let [i, j] = [0, 0];
  if (steps <= budget.steps) {
    budget.steps -= steps;
    for (const [from, to, length] of commonRuns(was, is)) {
      add(false, was.slice(i, from), is.slice(j, to));
      add(true, was.slice(from, from + length), is.slice(to, to + length));
      [i, j] = [from + length, to + length];
    }
  }
  add(false, was.slice(i), is.slice(j));
  add(true, before.slice(before.length - tail), after.slice(after.length - tail));
  return edits;
};

/** Where runs of common tokens begin in both, and how long they are. */
const commonRuns = (was: readonly string[], is: readonly string[]): readonly [number, number, number][] => {
  const width = is.length + 1;
  /** The length of the longest common subsequence of what follows, for each place in both. */
  const longest = new Uint32Array((was.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = was.length - 1; i >= 0; i -= 1)
    for (let j = is.length - 1; j >= 0; j -= 1)
      longest[i * width + j] = was[i] === is[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const runs: [number, number, number][] = [];
  for (let [i, j] = [0, 0]; i < was.length && j < is.length;) {
    if (was[i] === is[j]) {
      const last = runs.at(-1);
      if (last !== undefined && last[0] + last[2] === i && last[1] + last[2] === j) last[2] += 1;
      else runs.push([i, j, 1]);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return runs;
};
