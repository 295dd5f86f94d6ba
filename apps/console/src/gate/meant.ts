import { keyNameIn } from '../kernel/key-name.ts';
import type { Names } from '../ledger/names.ts';

/** As the header of a call may have it. */
const REFERENCE = /^[A-Za-z0-9._~:@/+=-]{1,256}$/;
const RULE_ID = /^[a-z][a-z0-9_-]{0,63}$/;
const AGENTS_MAX = 3;

interface Meant {
  /** Of the filter. */
  readonly name: string;
  readonly word: string;
  readonly value: string;
  /** What a person calls the value. */
  readonly said: string;
}

/** The filters that a text may be meant for which the search does not find. Empty where it can be a value of none. */
export const meantBy = (text: string, agents: Names): readonly Meant[] => {
  const exact = (name: string, word: string, value = text): Meant => ({ name, word, value, said: value });
  const key = keyNameIn(text);
  return [
    ...[...agents]
      .filter(([, name]) => name.toLowerCase().includes(text.toLowerCase()))
      .slice(0, AGENTS_MAX)
      .map(([id, said]) => ({ name: 'agent', word: 'agent', value: id, said })),
    ...(key === null ? [] : [exact('key', 'key', key)]),
    ...(REFERENCE.test(text) ? [exact('on_behalf_of', 'on behalf of'), exact('session', 'session')] : []),
    ...(RULE_ID.test(text) ? [exact('rule_id', 'rule')] : []),
  ];
};
