import { ACTION_ID_PATTERN } from './contract.ts';

/** What stands behind the prefix of every id. */
const AFTER_PREFIX = ACTION_ID_PATTERN.source.replace(/^\^act_/, '');

/** An id with one of these prefixes, which is its first group. */
export const idPattern = (...prefixes: readonly string[]): RegExp =>
  new RegExp(`^(${prefixes.join('|')})_${AFTER_PREFIX}`);
