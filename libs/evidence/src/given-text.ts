import type { Given } from './given.js';
import { valueLines, visible } from './value-text.js';

const ABSENT = {
  removed:
    'removed, as the service says: its retention has ended. The deed proves that it was there, and not what it was.',
  missing: 'missing: the service should have it, and could not give it.',
  not_given:
    'not in this bundle: it was exported without evidence, or this value was taken out of it. Ask for the whole export (?evidence=true).',
} as const;

/** A value as lines, or why it is not there, in brackets. */
export const givenLines = (given: Given): readonly string[] =>
  'absent' in given ? [`(${ABSENT[given.absent]})`] : valueLines(given.value);

/** A text on its own: what a person wrote, without quotes. */
export const wordsLines = (given: Given): readonly string[] =>
  'value' in given && typeof given.value === 'string' ? given.value.split('\n').map(visible) : givenLines(given);
