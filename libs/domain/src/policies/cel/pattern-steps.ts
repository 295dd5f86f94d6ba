/**
 * What building a pattern takes at most, told from its text before anything is built: the package writes a repetition
 * out, so that a dozen characters become thousands of instructions. A step is about 2 µs; the count is the same on every
 * machine.
 */
export const patternSteps = (pattern: string): number => {
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(pattern);
  const groups: number[] = [];
  let [inGroup, last, classes] = [0, 0, 0];
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith('(')) {
      groups.push(inGroup);
      [inGroup, last] = [0, 0];
    } else if (token === ')') {
      last = inGroup + 2;
      inGroup = (groups.pop() ?? 0) + last;
    } else if (REPETITION.test(token)) {
      const times = timesOf(token);
      inGroup += last * (times - 1) + 1;
      last *= times;
    } else {
      last = isLiteralRun(token) ? token.length : 1;
      inGroup += last;
      classes += classSteps(token, ignoresCase);
    }
  }
  return classes + groups.reduce((total, steps) => total + steps, inGroup);
};

// A quoted run, an escape, a class, a repetition, the beginning of a group, any other character.
const TOKEN =
  /\\Q[^]*?(?:\\E|$)|\\(?:[pP](?:\{[^}]*\}|[^{])|x\{[^}]*\}|x[^]{0,2}|[^]|$)|\[\^?\]?(?:\\[^]|\[:[^\]]*:\]|[^\]\\])*\]?|\{\d+(?:,\d*)?\}|\((?:\?[^:)]*:)?|[^]/gu;

const REPETITION = /^\{\d/;

const timesOf = (token: string): number => Math.max(1, ...(token.match(/\d+/g) ?? []).map(Number));

const isLiteralRun = (token: string): boolean => token.startsWith('\\Q');

/** A table of Unicode is merged into the class; without regard to case, each of its ranges is looked up once more. */
const UNICODE_TABLE_STEPS = 25;
const FOLDED_UNICODE_TABLE_STEPS = 120;
/** Without regard to case a range is walked through character by character. */
const FOLDED_CHARACTERS_PER_STEP = 40;
const CHARACTERS_MAX = 0x1_10_000;

const classSteps = (token: string, ignoresCase: boolean): number => {
  const tables = token.match(/\\[pP]/g)?.length ?? 0;
  if (!ignoresCase) return tables * UNICODE_TABLE_STEPS;
  const ranges = token.startsWith('[') ? [...token.matchAll(RANGE)] : [];
  const folded = ranges.reduce((total, [, first, last]) => total + widthOf(first, last), 0);
  return tables * FOLDED_UNICODE_TABLE_STEPS + folded / FOLDED_CHARACTERS_PER_STEP;
};

const RANGE = /(\\x\{[^}]*\}|\\x..|\\.|[^\\])-(\\x\{[^}]*\}|\\x..|\\.|[^\\\]])/gu;

/** As wide as can be where an end is no plain character. */
const widthOf = (first: string | undefined, last: string | undefined): number => {
  const width = codePointOf(last, CHARACTERS_MAX) - codePointOf(first, 0);
  return Number.isFinite(width) ? Math.min(Math.max(width, 0), CHARACTERS_MAX) : CHARACTERS_MAX;
};

const codePointOf = (text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const hex = /^\\x\{?([0-9a-fA-F]+)\}?$/.exec(text)?.[1];
  if (hex !== undefined) return Number.parseInt(hex, 16);
  return text.startsWith('\\') ? otherwise : (text.codePointAt(0) ?? otherwise);
};
