import { type CommandMetadata, type Decider, DomainError, type OrgId, type Timestamp } from '../kernel/index.js';
import type { NamedWitness, WitnessPolicyEvent } from './witness-policy.events.js';

/** A witness that is asked, since when. */
export interface LedgerWitness extends NamedWitness {
  readonly addedAt: Timestamp;
}

/** Who cosigns an organization's checkpoints. No witness and no quorum before the first change. */
export interface WitnessPolicy {
  readonly witnesses: readonly LedgerWitness[];
  /** So many of them are enough; 0 with none. */
  readonly quorum: number;
  readonly updatedAt: Timestamp | null;
}

/** What a change of the policy must not do. */
export interface ReplacingTerms {
  /**
   * Whether it may ask somebody no more, or fewer: from then on the evidence is weaker. False for a session that was left
   * open (rule PEOPLE-13).
   */
  readonly canWeaken: boolean;
  /** When the policy was changed last as its author read it; null before the first change. Left out, any is replaced. */
  readonly expectedUpdatedAt?: Timestamp | null;
}

export interface ReplaceWitnessPolicy {
  readonly type: 'ReplaceWitnessPolicy';
  readonly data: ReplacingTerms & {
    readonly org: OrgId;
    readonly quorum: number;
    readonly witnesses: readonly NamedWitness[];
  };
  readonly metadata: CommandMetadata;
}

const decide = (
  { data: { org, quorum, witnesses, ...terms }, metadata: { now: at } }: ReplaceWitnessPolicy,
  state: WitnessPolicy,
): readonly WitnessPolicyEvent[] => {
  const removed = state.witnesses.filter((known) => !witnesses.some((wanted) => isSame(known, wanted)));
  const added = witnesses.filter((wanted) => !state.witnesses.some((known) => isSame(known, wanted)));
  // Whoever sends the same again has it answered again: it is so already.
  if (removed.length + added.length > 0 || quorum !== state.quorum) requireAsRead(terms, state);
  if (!terms.canWeaken && (removed.length > 0 || quorum < state.quorum)) {
    throw new DomainError('recent_sign_in_required');
  }
  return [
    ...removed.map((known): WitnessPolicyEvent => ({ type: 'WitnessRemoved', data: { org, ...named(known), at } })),
    ...added.map((wanted): WitnessPolicyEvent => ({ type: 'WitnessAdded', data: { org, ...named(wanted), at } })),
    ...(quorum === state.quorum
      ? []
      : [{ type: 'WitnessPolicyChanged', data: { org, quorum, at } } satisfies WitnessPolicyEvent]),
  ];
};

const requireAsRead = ({ expectedUpdatedAt: expected }: ReplacingTerms, { updatedAt }: WitnessPolicy): void => {
  if (expected === undefined || expected === updatedAt) return;
  throw new DomainError('conflict', {
    param: 'expected_updated_at',
    message:
      'The policy is not the one of expected_updated_at: it has changed since you read it. Read it again and decide anew.',
  });
};

const isSame = (one: NamedWitness, other: NamedWitness): boolean =>
  one.witness === other.witness && one.name === other.name && one.url === other.url;

const named = ({ witness, name, vkey, url }: NamedWitness): NamedWitness => ({ witness, name, vkey, url });

const evolve = (state: WitnessPolicy, event: WitnessPolicyEvent): WitnessPolicy => {
  const { quorum, witnesses } = state;
  switch (event.type) {
    case 'WitnessAdded': {
      const { at } = event.data;
      return { quorum, witnesses: [...witnesses, { ...named(event.data), addedAt: at }], updatedAt: at };
    }
    case 'WitnessRemoved': {
      const { witness, at } = event.data;
      return { quorum, witnesses: witnesses.filter((known) => known.witness !== witness), updatedAt: at };
    }
    case 'WitnessPolicyChanged':
      return { quorum: event.data.quorum, witnesses, updatedAt: event.data.at };
  }
};

export const witnessPolicyDecider: Decider<WitnessPolicy, ReplaceWitnessPolicy, WitnessPolicyEvent> = {
  category: 'ledgerwitnesses',
  eventTypes: { WitnessAdded: true, WitnessPolicyChanged: true, WitnessRemoved: true },
  initialState: () => ({ witnesses: [], quorum: 0, updatedAt: null }),
  decide,
  evolve,
};
