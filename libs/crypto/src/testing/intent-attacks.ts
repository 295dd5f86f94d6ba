/** What verifiers in two languages must say of calls that an agent signed, or that somebody made up. */
import { digestOf } from '../digest.js';
import { type BundleAttack, broken } from './attacked-bundle.js';
import { at, OTHER_ORG } from './given-chain.js';
import { type HeldIntent, intentKey, signatureOf } from './held-intent.js';
import {
  ADDED,
  CALLED,
  honestIntentAt,
  intentBundle,
  type IntentChoice,
  type IntentChoices,
  NEIGHBOUR,
  neighbourKey,
  nextKey,
  REMOVED,
  strangeKey,
} from './intent-bundle.js';
import { textOf } from './witnessed-bundle.js';

const ARGS = 'action.args_digest';
const lateBy = (seconds: number) => ({ call: { [CALLED.later]: { action: { created_at: at(REMOVED + seconds) } } } });
const byRemovedKey = { intents: { [CALLED.later]: { key: intentKey } } };

/** Intact, with so many calls proven and so many left open. */
export const INTENTS_LEFT_OPEN: readonly {
  readonly name: string;
  readonly choices: IntentChoices;
  readonly signed: number;
  readonly unsigned: number;
  readonly unchecked: number;
}[] = [
  { name: 'nothing', choices: {}, signed: 4, unsigned: 6, unchecked: 0 },
  {
    ...{ name: 'an intent that is not given', signed: 3, unsigned: 6, unchecked: 1 },
    choices: { gives: (seq, member) => seq !== CALLED.second || member !== 'who.intent_hash' },
  },
  {
    ...{ name: 'arguments that are not given', signed: 3, unsigned: 6, unchecked: 1 },
    choices: { gives: (seq, member) => seq !== CALLED.second || member !== ARGS },
  },
  {
    ...{ name: 'no argument that the first format digests', signed: 4, unsigned: 6, unchecked: 0 },
    choices: { gives: (seq, member) => seq !== CALLED.first || member !== ARGS },
  },
  {
    ...{ name: 'a registration that is not given', signed: 2, unsigned: 6, unchecked: 2 },
    choices: { gives: (seq) => seq !== ADDED },
  },
  {
    ...{ name: 'a removal that is not given', signed: 3, unsigned: 6, unchecked: 1 },
    choices: { ...byRemovedKey, gives: (seq) => seq !== REMOVED },
  },
  {
    ...{ name: 'no call that may have crossed the removal', signed: 4, unsigned: 6, unchecked: 0 },
    choices: { ...byRemovedKey, ...lateBy(60) },
  },
  {
    ...{ name: 'a bundle that begins behind a registration', signed: 2, unsigned: 4, unchecked: 2 },
    choices: { first: 4 },
  },
  { name: 'a bundle that begins behind all of them', choices: { first: 13 }, signed: 0, unsigned: 1, unchecked: 1 },
];

const made = (name: string, choice: IntentChoice, seq: number = CALLED.second, more: IntentChoices = {}) =>
  broken('bad_intent', seq, `an intent ${name}`, () => intentBundle({ ...more, intents: { [seq]: choice } }));

const fields = (name: string, change: IntentChoice['fields'], seq?: number): BundleAttack =>
  made(name, change === undefined ? {} : { fields: change }, seq);

const times = (iat: number, exp: number) => {
  const called = Date.parse(at(CALLED.second));
  return { iat: called + iat, exp: called + exp };
};

const withSignature = (signature: (honest: HeldIntent) => string): IntentChoice => ({
  held: (honest) => ({ ...honest, signature: signature(honest) }),
});

/** Other bytes, signed by the key of the agent, or under the signature of the honest ones. */
const withBytes = (bytesOf: (text: string) => string, isSigned = true): IntentChoice => ({
  held: ({ value, signature }) => {
    const changed = Buffer.from(bytesOf(value.toString()));
    const digest = digestOf(changed);
    return { value: changed, digest, signature: isSigned ? signatureOf(intentKey, digest) : signature };
  },
});

const nextDigit = (digit: string): string => (digit === '0' ? '1' : '0');

const turned = ({ signature }: HeldIntent): string => {
  const bytes = Buffer.from(signature, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
  return bytes.toString('base64url');
};

const DEAR = { amount: 9_999, member: ARGS, note: 'Grüße', seq: CALLED.second };

/** Deeds sealed with the real key: what its holder cannot make up. */
export const intentAttacks: readonly BundleAttack[] = [
  fields('of another agent', { agent: NEIGHBOUR }),
  fields('of another organization', { org: OTHER_ORG }),
  fields('of another tool', { tool: 'crm.delete_customer' }),
  fields('for another customer', { on_behalf_of: 'customer:4712' }),
  fields('with a session that the call has not', { session: 'a' }),
  fields('of other arguments', { args_digest: digestOf(textOf(DEAR)) }),
  fields('of other arguments, in the first format', { args_digest: digestOf(textOf(DEAR)) }, CALLED.first),
  fields('that had expired', times(-200_000, -60_001)),
  fields('from the future', times(60_001, 70_000)),
  fields('that is good for too long', times(0, 300_001)),
  fields('that ends before it begins', times(10, 10)),
  fields('of another version', { v: 'service.intent/2' }),
  fields('with a member too many', { amount: 1 }),
  fields('with a number as its nonce', { nonce: 1 }),
  fields('that names another key than signed it', { kid: nextKey.publicKey.kid }),
  made('by a key that nobody registered', { key: strangeKey }),
  made('by the key of another agent', { key: neighbourKey }, CALLED.later),
  made('by a key that is registered later', { key: neighbourKey }),
  made('by a key that was removed before', { key: intentKey }, CALLED.later),
  made('by a key that was removed a minute before', { key: intentKey }, CALLED.later, lateBy(61)),
  made('by a key that was removed before, where its registration is not given', { key: intentKey }, CALLED.later, {
    gives: (seq) => seq !== ADDED,
  }),
  made('with one bit of the signature turned', withSignature(turned)),
  made(
    'with a signature of another call',
    withSignature(() => honestIntentAt(CALLED.first).signature),
  ),
  made(
    'with a signature in another spelling',
    withSignature(({ signature }) => `${signature.slice(0, -1)}_`),
  ),
  made(
    'with bytes that were changed',
    withBytes((text) => text.replace(/(?<="nonce":")./, nextDigit), false),
  ),
  made(
    'in another order',
    withBytes((text) => text.replace(/^\{("agent":"[^"]+"),(.*)\}$/, '{$2,$1}')),
  ),
  made(
    'that is no object',
    withBytes(() => '[]'),
  ),
  made(
    'that is no whole number where one must be',
    withBytes((text) => text.replace(/"iat":(\d+)/, '"iat":$1.5')),
  ),
  broken('bad_intent', CALLED.second, 'a call whose arguments were changed, with what commits to them', () =>
    intentBundle({ values: { [`${CALLED.second} ${ARGS}`]: DEAR } }),
  ),
  broken('bad_intent', CALLED.second, 'a call of another tool, in the deed', () =>
    intentBundle({
      call: { [CALLED.second]: { action: { tool: 'crm.delete_customer' } } },
      intents: { [CALLED.second]: { fields: { tool: 'crm.get_customer' } } },
    }),
  ),
  broken('bad_intent', CALLED.second, 'a call of a tool whose name is cut', () =>
    intentBundle({ call: { [CALLED.second]: { action: { tool_truncated: true } } } }),
  ),
  broken('bad_intent', CALLED.second, 'a call without the person that the agent named', () =>
    intentBundle({
      call: { [CALLED.second]: { who: { on_behalf_of: null } } },
      intents: { [CALLED.second]: { fields: { on_behalf_of: 'customer:4711' } } },
    }),
  ),
  broken('bad_evidence', CALLED.second, 'an intent whose bytes the deed does not name', () =>
    intentBundle({
      intents: {
        [CALLED.second]: { held: (honest) => ({ ...honest, value: Buffer.from(`${honest.value.toString()} `) }) },
      },
    }),
  ),
];
