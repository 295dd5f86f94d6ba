import type { Digest } from '#libs/crypto';
import { decodeEvent, type EventStore, ForeseenFault, type OrgId } from '../kernel/index.js';
import type { LedgerEvent } from './deed.events.js';
import { ledgerStream, type LedgerTail, readTail } from './ledger-tails.js';

/** The last deed of an organization, as it is remembered outside of the database. */
export interface SealedHead {
  readonly org: OrgId;
  readonly seq: number;
  readonly bodyHash: Digest;
}

/**
 * Where ledgers end, remembered outside of the database. A database that goes back in time (a restored snapshot, a
 * failover that lost commits) lacks deeds that clients or auditors already hold (rule DEED-14).
 */
export abstract class SealedHeads {
  /** Null if no head is remembered for the organization. */
  abstract of(org: OrgId): Promise<SealedHead | null>;
  abstract all(): Promise<readonly SealedHead[]>;
  /** Remembers a head whose deed is in the log. If that fails, the service's log says so, and the deed stays sealed. */
  abstract remember(head: SealedHead): Promise<void>;
}

/** A ledger lacks a deed that it had. Sealing on would give the number of that deed out a second time. */
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
 * The tail of a ledger, after comparing it with the remembered head.
 * @throws {LedgerWentBack} when the ledger lacks the remembered deed
 * @throws {StoreUnavailable} when the store gives no answer
 */
export const readCheckedTail = async (store: EventStore, heads: SealedHeads, org: OrgId): Promise<LedgerTail> => {
  // The remembered head is read first: if another process seals meanwhile, the tail that is read later is ahead of it,
  // never behind.
  const head = await heads.of(org);
  const tail = await readTail(store, org);
  if (head !== null && !(await isHeld(store, head, tail))) throw new LedgerWentBack(head, tail.seq);
  return tail;
};

/**
 * Whether a ledger has the deed of a remembered head.
 * @throws {StoreUnavailable} when the store gives no answer
 */
export const isHeldBy = async (store: EventStore, head: SealedHead): Promise<boolean> =>
  isHeld(store, head, await readTail(store, head.org));

const isHeld = async (store: EventStore, { org, seq, bodyHash }: SealedHead, tail: LedgerTail): Promise<boolean> => {
  if (tail.seq <= seq) return tail.seq === seq && tail.bodyHash === bodyHash;
  const [recorded] = await store.readStream(ledgerStream(org), { from: seq - 1, limit: 1 });
  return recorded !== undefined && decodeEvent<LedgerEvent>(recorded).event.data.body_hash === bodyHash;
};

/** Few, because a store answers one such question at a time, and the sealer has questions of its own. */
const LEDGERS_AT_ONCE = 50;

export interface LedgerLengths {
  readonly shorter: readonly LedgerWentBack[];
  /**
   * Ledgers with more deeds than are remembered: the result of their append was unclear, or they were sealed before
   * heads were remembered.
   */
  readonly longer: readonly OrgId[];
}

/**
 * Compares the lengths of the remembered ledgers, not their contents.
 * @throws {StoreUnavailable} when the store gives no answer
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
