import { REFERENCE_PATTERN, RULE_ID_PATTERN } from '../kernel/contract.ts';
import { keyNameIn } from '../kernel/key-name.ts';
import type { Names } from '../ledger/names.ts';

const AGENTS_MAX = 3;

interface Meant {
  /** The filter's name in the API and the address. */
  readonly name: string;
  readonly word: string;
  readonly value: string;
  /** The value in words: an agent's name for its id. */
  readonly said: string;
}

/**
 * The filters that a text may be meant for, if the search does not find it. Empty if the text can be a value of none.
 */
export const meantBy = (text: string, agents: Names): readonly Meant[] => {
  const exact = (name: string, word: string, value = text): Meant => ({ name, word, value, said: value });
  const key = keyNameIn(text);
  return [
    ...[...agents]
      .filter(([, name]) => name.toLowerCase().includes(text.toLowerCase()))
      .slice(0, AGENTS_MAX)
      .map(([id, said]) => ({ name: 'agent', word: 'agent', value: id, said })),
    ...(key === null ? [] : [exact('key', 'key', key)]),
    ...(REFERENCE_PATTERN.test(text) ? [exact('on_behalf_of', 'on behalf of'), exact('session', 'session')] : []),
    ...(RULE_ID_PATTERN.test(text) ? [exact('rule_id', 'rule')] : []),
  ];
};
