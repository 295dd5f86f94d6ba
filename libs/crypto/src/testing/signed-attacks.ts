/** What two verifiers in two languages must say of decisions that devices signed, or that somebody made up. */
import { type BundleAttack, broken } from './attacked-bundle.js';
import {
  anna,
  APPROVED,
  ben,
  DECISIONS,
  DENIED,
  REGISTERED,
  REMOVED,
  signedBundle,
  signedBy,
  type SignedChoices,
  stranger,
} from './signed-bundle.js';

/** Intact, with so many decisions proven and so many left open. */
export const LEFT_OPEN: readonly {
  readonly name: string;
  readonly choices: SignedChoices;
  readonly signed: number;
  readonly unchecked: number;
}[] = [
  { name: 'nothing', choices: {}, signed: 3, unchecked: 0 },
  {
    ...{ name: 'an assertion that is not given', signed: 0, unchecked: 3 },
    choices: { gives: (_, member) => !member.endsWith('assertion') },
  },
  {
    ...{ name: 'what was shown, which is not given', signed: 1, unchecked: 2 },
    choices: { gives: (seq, member) => seq !== APPROVED || !member.includes('context') },
  },
  {
    ...{ name: 'a registration that is not given', signed: 2, unchecked: 1 },
    choices: { gives: (seq) => seq !== REGISTERED.anna },
  },
  { name: 'a bundle that begins behind the registrations', choices: { first: 7 }, signed: 0, unchecked: 3 },
];

const { FIRST, SECOND, NO } = DECISIONS;

const made = (name: string, value: object): BundleAttack =>
  broken('bad_assertion', APPROVED, `a decision ${name}`, () =>
    signedBundle({ values: { [`${APPROVED} approval.countersigned.0.assertion`]: { ...value } } }),
  );

const byRemovedPasskey = (when: string, choices: Pick<SignedChoices, 'gives'>): BundleAttack =>
  broken('bad_assertion', DENIED, `a decision by a passkey that was removed ${when}`, () =>
    signedBundle({
      removed: 'ben',
      values: { [`${REMOVED} admin.data_digest`]: { credential: ben.credential, user: NO.user } },
      ...choices,
    }),
  );

const turned = <Assertion extends { readonly signature: string }>(assertion: Assertion): Assertion => {
  const bytes = Buffer.from(assertion.signature, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  return { ...assertion, signature: bytes.toString('base64url') };
};

/** Sealed with the real key. */
export const signedAttacks: readonly BundleAttack[] = [
  made('signed by a passkey that nobody registered', signedBy(stranger, FIRST)),
  made('signed by another person', signedBy(ben, FIRST)),
  made('signed by that person for another', signedBy(ben, SECOND)),
  made('signed over another one', signedBy(anna, { ...FIRST, decision: 'deny' })),
  made('signed over what somebody else was shown', signedBy(anna, { ...FIRST, context: SECOND.context })),
  made('signed over another approval', signedBy(anna, { ...FIRST, seq: DENIED })),
  made('signed for another site', signedBy(anna, FIRST, 'elsewhere.example')),
  made('with what is no assertion', { credential: anna.credential }),
  made('with an empty object', {}),
  made('with one bit of the signature turned', turned(signedBy(anna, FIRST))),
  byRemovedPasskey('before', {}),
  byRemovedPasskey('before, which is left out of the evidence', { gives: (seq) => seq !== REMOVED }),
];
