import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { CheckpointEvent, WitnessPolicyEvent } from '#libs/domain/ledger';
import { digestOf } from '#libs/crypto';
import fc from 'fast-check';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);

/** What is recorded of an organization's tree, with any text in it. */
export const checkpointStream = (text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const org = testId('org', 1);
  const origin = fc.constantFrom(`example.org/ledger/${org}`, `example.org/ledger/${org}/1`);
  const about = { org: fc.constant(org), origin, at: instant };
  const tree = { size: fc.nat(20), root: text };
  const key = { kid: text, public_key: text };
  const events: EventArbitraries<CheckpointEvent> = {
    CheckpointMade: fc.record({ ...about, ...tree, note: text }),
    CheckpointCosigned: fc.record({
      ...about,
      ...{ size: tree.size, witness: text.map((vkey) => digestOf(vkey)), name: text, line: text, cosigned_at: instant },
    }),
    CheckpointKeyAnnounced: fc.record({
      ...about,
      ...key,
      alg: fc.constant('Ed25519' as const),
      activated_at: instant,
    }),
    CheckpointKeyWithdrawn: fc.record({ ...about, ...key }),
    LedgerBreakAccepted: fc.record({ ...about, broken: fc.record({ origin: text, ...tree }), reason: text }),
  };
  return fc.array(anyOf(events), { minLength: 1, maxLength: 6 }).map((made) => ({
    stream: `checkpoints-${org}`,
    events: made,
  }));
};

/** Who was asked to cosign it, with any text in what they are called. */
export const witnessPolicyStream = (text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const org = testId('org', 1);
  const about = { org: fc.constant(org), at: instant };
  const witness = { witness: text.map((key) => digestOf(key)), name: text, vkey: text, url: text };
  const events: EventArbitraries<WitnessPolicyEvent> = {
    WitnessAdded: fc.record({ ...about, ...witness }),
    WitnessRemoved: fc.record({ ...about, ...witness }),
    WitnessPolicyChanged: fc.record({ ...about, quorum: fc.nat(8) }),
  };
  return fc.array(anyOf(events), { minLength: 1, maxLength: 6 }).map((made) => ({
    stream: `ledgerwitnesses-${org}`,
    events: made,
  }));
};
