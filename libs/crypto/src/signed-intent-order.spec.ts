import { describe, expect, it } from 'vitest';

import type { VerifiedPublicKey } from './ed25519.js';
import { canonicalize } from './jcs.js';
import { checkSignedIntent, INTENT_REPLAY, type IntentFacts } from './signed-intent.js';
import type { JsonObject } from './strict-json.js';
import { OTHER_ORG } from './testing/given-chain.js';
import { claims, facts, intent, key, NOW, otherKey, signed } from './testing/given-intent.js';

/** One way to fail each check, all of which can be combined. */
interface Attack {
  json?: (value: JsonObject) => JsonObject;
  text?: (text: string) => string;
  signer?: typeof key;
  header?: (header: string) => string;
  facts?: Partial<IntentFacts>;
  verdict: string;
}

const ATTACKS: readonly Attack[] = [
  { header: (header) => `${header}=`, verdict: '1 syntax Service-Intent' },
  { text: (text) => text.padEnd(2_049), verdict: '2 too_large Service-Intent' },
  { text: (text) => text.replace('{', '{"v":"",'), verdict: '3 strict Service-Intent' },
  { text: (text) => text.replace('{', '{ '), verdict: '4 not_canonical Service-Intent' },
  { json: (value) => ({ ...value, extra: 1 }), verdict: '5 schema extra' },
  { facts: { org: OTHER_ORG }, verdict: '6 org_mismatch org' },
  { facts: { keys: [] as VerifiedPublicKey[] }, verdict: '7 unknown_kid kid' },
  { signer: otherKey, verdict: '8 bad_signature kid' },
  { facts: { now: NOW + 3_600_000 }, verdict: '9 expired exp' },
  { facts: { tool: 'crm.get_customer' }, verdict: '10 tool_mismatch tool' },
  { facts: { args: {} }, verdict: '11 args_mismatch args_digest' },
  { facts: { onBehalfOf: 'someone' }, verdict: '12 unsigned_obo Service-On-Behalf-Of' },
];

describe('the order of the checks (rule INTENT-2): of any two that fail, the first is told and the nonce stays', () => {
  const consumed = new Set([claims.nonce]);

  /** The gate in small: checks 1 to 12, then the nonce, which was used before. */
  const gate = (attacks: readonly Attack[]): string => {
    const value = attacks.reduce<JsonObject>((json, attack) => attack.json?.(json) ?? json, intent);
    const text = attacks.reduceRight((bytes, attack) => attack.text?.(bytes) ?? bytes, canonicalize(value));
    const signer = attacks.find((attack) => attack.signer !== undefined)?.signer ?? key;
    const header = attacks.reduce((sent, attack) => attack.header?.(sent) ?? sent, signed(Buffer.from(text), signer));
    const change = Object.assign({}, ...attacks.map((attack) => attack.facts ?? {})) as Partial<IntentFacts>;
    const verdict = checkSignedIntent([header], { ...facts, ...change });
    const last = verdict.ok && consumed.has(verdict.nonce) ? INTENT_REPLAY : verdict;
    return last.ok ? 'accepted' : `${last.check} ${last.reason} ${last.param}`;
  };

  const pairs = ATTACKS.flatMap((first, index) => ATTACKS.slice(index + 1).map((second) => [first, second] as const));

  it('has 12 x 11 / 2 pairs among checks 1 to 12, and one of each with check 13', () => {
    expect(pairs.length + ATTACKS.length).toBe(78);
  });

  it.each(pairs)('$verdict before $1.verdict', (first, second) => {
    expect(gate([first, second])).toBe(first.verdict);
    expect(gate([second])).toBe(second.verdict);
  });

  it.each(ATTACKS)('$verdict before 13 replay nonce', (attack) => {
    expect(gate([attack])).toBe(attack.verdict);
  });

  it('13: a nonce that was used', () => {
    expect(gate([])).toBe('13 replay nonce');
  });
});
