import type { Digest } from '#libs/crypto';
import { decodeEvent, type EventStore, ForeseenFault, type OrgId } from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import { ledgerStream, type LedgerTail, readTail } from './ledger-tails.js';

/** The last deed of an organization, as somebody outside of the database remembers it. */
export interface SealedHead {
  readonly org: OrgId;
  readonly seq: number;
  readonly bodyHash: Digest;
}

/**
 * Where ledgers end, remembered outside of the database. A database that goes back in time (a restored snapshot, a
 * failover that lost commits) forgets deeds that others hold (rule DEED-14).
 */
export abstract class SealedHeads {
  /** Null where none is remembered. */
  abstract of(org: OrgId): Promise<SealedHead | null>;
  abstract all(): Promise<readonly SealedHead[]>;
  /**
   * Call it once the deed is in the log. If it cannot be remembered, the service's log says so, and the deed stays
   * sealed.
   */
  abstract remember(head: SealedHead): Promise<void>;
}

/** A ledger lacks a deed that it had: going on would give its number out a second time. */
export class LedgerWentBack extends ForeseenFault {
  override readonly name = 'LedgerWentBack';
  readonly org: OrgId;

  constructor({ org, seq, bodyHash }: SealedHead, lastSeq: number) {
    super(
      `the ledger of ${org} had the deed ${seq}:${bodyHash}, which the database does not hold: it ends at seq ${lastSeq}. ` +
        'The database went back in time, and nothing is sealed for this organization until it holds that deed again, or ' +
        'you decide otherwise: `npm run ags -- confirm-restore --help`',
    );
    this.org = org;
  }
}

/**
 * The tail of a ledger, compared with what is remembered of it.
 * @throws {LedgerWentBack} {StoreUnavailable}
 */
export const readCheckedTail = async (store: EventStore, heads: SealedHeads, org: OrgId): Promise<LedgerTail> => {
  // The head is asked for first: if somebody seals meanwhile, the tail that is read later is ahead of it, never behind.
  const head = await heads.of(org);
  const tail = await readTail(store, org);
  if (head !== null && !(await isHeld(store, head, tail))) throw new LedgerWentBack(head, tail.seq);
  return tail;
};

/** Whether a ledger has the deed that somebody remembers of it. @throws {StoreUnavailable} */
export const isHeldBy = async (store: EventStore, head: SealedHead): Promise<boolean> =>
  isHeld(store, head, await readTail(store, head.org));

const isHeld = async (store: EventStore, { org, seq, bodyHash }: SealedHead, tail: LedgerTail): Promise<boolean> => {
  if (tail.seq <= seq) return tail.seq === seq && tail.bodyHash === bodyHash;
  const [recorded] = await store.readStream(ledgerStream(org), { from: seq - 1, limit: 1 });
  return recorded !== undefined && decodeEvent<LedgerEvent>(recorded).event.data.body_hash === bodyHash;
};

/** Few: a store answers one such question at a time, and whoever seals has questions, too. */
const LEDGERS_AT_ONCE = 50;

export interface LedgerLengths {
  readonly shorter: readonly LedgerWentBack[];
  /** Ledgers with deeds of which nothing is remembered: their append was unclear, or was before this memory. */
  readonly longer: readonly OrgId[];
}

/**
 * Compares the lengths of the ledgers that are remembered. What stands in them is not compared.
 * @throws {StoreUnavailable}
 */
export const compareLengths = async (store: EventStore, heads: SealedHeads): Promise<LedgerLengths> => {
  const shorter: LedgerWentBack[] = [];
  const longer: OrgId[] = [];
  const remembered = await heads.all();
  for (let first = 0; first < remembered.length; first += LEDGERS_AT_ONCE) {
    const some = remembered.slice(first, first + LEDGERS_AT_ONCE);
    const ends = await store.heads(some.map(({ org }) => ledgerStream(org)));
    for (const head of some) {
      const lastSeq = (ends.get(ledgerStream(head.org)) ?? -1) + 1;
      if (lastSeq < head.seq) shorter.push(new LedgerWentBack(head, lastSeq));
      if (lastSeq > head.seq) longer.push(head.org);
    }
  }
  return { shorter, longer };
};
