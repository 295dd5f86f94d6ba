import { digestOf } from '#libs/crypto';
import { type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import fc from 'fast-check';
import type { ArbitraryStream } from './arbitrary-events.js';
import { testId } from './given-log.js';

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const digest = fc.string().map((text) => digestOf(Buffer.from(text).toString('hex')));

/** Deeds of `actions` actions that are in the log before them. */
export const ledgerStream = (actions: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const deeds = fc.array(
    fc.record({
      kind: fc.constantFrom('action' as const, 'amendment' as const, 'admin' as const),
      number: fc.integer({ min: 1, max: actions }),
      issued_at: instant,
      body: text.map((said) =>
        JSON.stringify({
          who: { agent: testId('agt', 1) },
          ...{ action: { tool: said }, admin: null, approval: null, policy: null, execution: null, witness: null },
        }),
      ),
      body_hash: digest,
      prev_hash: fc.option(digest),
      kid: text,
      signature: text,
      cose_signature: text,
    }),
    { maxLength: 6 },
  );
  return deeds.map((all) => ({
    stream: `ledger-${testId('org', 1)}`,
    events: all.map(({ kind, number, ...rest }, index): LedgerEvent => {
      const seq = index + 1;
      const action = kind === 'admin' ? null : testId('act', number);
      return {
        type: 'DeedSealed',
        data: { ...rest, org: testId('org', 1), deed: testId('deed', seq), seq, kind, action },
      };
    }),
  }));
};
