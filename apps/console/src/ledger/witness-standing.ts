import type { Schemas } from '../kernel/client.ts';
import type { BadgeLook } from '../kit/badges.tsx';

type State = Schemas['WitnessStanding']['state'];

/** How a witness stands, in words. */
export interface StandingWords {
  readonly look: BadgeLook;
  readonly means: string;
  /** What a person does next; null where nothing has to be done. */
  readonly next: string | null;
}

export const STANDINGS: Readonly<Record<State, StandingWords>> = {
  never_asked: {
    look: ['quiet', 'clock', 'Not asked yet'],
    means: 'It is asked about the next checkpoint. One is made each minute in which a deed was sealed.',
    next: null,
  },
  current: {
    look: ['ok', 'eye', 'Up to date'],
    means: 'It has cosigned the newest checkpoint.',
    next: null,
  },
  behind: {
    look: ['quiet', 'clock', 'Behind'],
    means: 'It has cosigned an earlier checkpoint, and is asked about the newest.',
    next: null,
  },
  unknown_log: {
    look: ['warn', 'question', 'Does not know you'],
    means: 'It does not know this ledger yet.',
    next: 'Send its operator the verifier key of your ledger, which stands below. It is asked again by itself.',
  },
  disagrees: {
    look: ['bad', 'triangle', 'Disagrees'],
    means:
      'It holds a longer or another ledger under your key: a backup was restored, somebody has a copy of the key, or the ledger was written anew. It is not asked again.',
    next: 'Call an operator of the service now, and keep this witness: what it holds is the proof. `npm run ags -- ledger compare` finds the deed where two copies part.',
  },
  failing: {
    look: ['warn', 'alert', 'No answer'],
    means: 'It gave no answer that counts.',
    next: 'It is asked again by itself. Where that does not help, ask its operator.',
  },
};

/** How many of the witnesses are enough, as a sentence. */
export const quorumInWords = (quorum: number, witnesses: number): string => {
  if (witnesses === 0) return 'No witness is asked.';
  if (witnesses === 1) return 'The one witness must cosign.';
  return quorum === witnesses ? `All ${witnesses} witnesses must cosign.` : `${quorum} of ${witnesses} must cosign.`;
};

/** The policy without one of its witnesses; the others stay enough of them. */
export const without = (
  { quorum, witnesses }: Schemas['WitnessPolicy'],
  name: string,
): Schemas['WitnessPolicyInput'] => {
  const left = witnesses.filter((witness) => witness.name !== name).map(inputOf);
  return { quorum: Math.min(quorum, left.length), witnesses: left };
};

/** The policy with one witness more; of the first one it is enough. */
export const withOneMore = (
  { quorum, witnesses }: Schemas['WitnessPolicy'],
  added: Schemas['WitnessPolicyInput']['witnesses'][number],
): Schemas['WitnessPolicyInput'] => ({
  quorum: Math.max(1, quorum),
  witnesses: [...witnesses.map(inputOf), added],
});

export const withQuorum = (policy: Schemas['WitnessPolicy'], quorum: number): Schemas['WitnessPolicyInput'] => ({
  quorum,
  witnesses: policy.witnesses.map(inputOf),
});

const inputOf = ({
  name,
  vkey,
  url,
}: Schemas['LedgerWitness']): Schemas['WitnessPolicyInput']['witnesses'][number] => ({ name, vkey, url });
