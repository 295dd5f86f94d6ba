import { EMPTY_ROOT } from '#libs/crypto';
import type { OrgId, Timestamp } from '../kernel/index.js';
import { rootText, type CheckpointTail } from './checkpoint-journal.js';

/** What was signed last of an organization's tree, as it is remembered outside of the database. */
export interface RememberedTree {
  readonly org: OrgId;
  readonly origin: string;
  /** 0 where nothing was signed. */
  readonly size: number;
  /** In base64, as notes spell it. */
  readonly root: string;
  /** The highest number that an origin was given here, also where nothing was signed under it. */
  readonly begun: number;
}

/**
 * What was signed, remembered outside of the database. A database that goes back in time forgets its newest checkpoints
 * with the deeds that they are of, and would have another root signed for a size that others hold one of (rule DEED-19).
 */
export abstract class RememberedTrees {
  /**
   * Null where nothing is remembered of the organization.
   * @throws {StoreUnavailable} when what is remembered cannot be read: nothing may be signed then
   */
  abstract of(org: OrgId): Promise<RememberedTree | null>;
  /**
   * Durable when it returns. Never goes back: of two trees of one origin the larger one stays, and of two numbers the higher.
   * @throws {StoreUnavailable} when it cannot be kept: nothing may be signed then
   */
  abstract remember(tree: RememberedTree): Promise<void>;
}

/** Of the two what was signed later. */
export const laterOf = (kept: RememberedTree | null, tree: RememberedTree): RememberedTree => {
  if (kept === null) return tree;
  const begun = Math.max(kept.begun, tree.begun);
  const isKept = kept.origin === tree.origin ? kept.size >= tree.size : isLaterOrigin(kept.origin, tree.origin);
  return { ...(isKept ? kept : tree), begun };
};

/**
 * How what is remembered stands to what the log says was signed. `older`: the log has begun another origin since.
 * `comparable`: the tree must continue both. `newer`: an origin was begun of which the log knows nothing.
 */
export const standingOf = ({ origin }: RememberedTree, tail: CheckpointTail): 'older' | 'comparable' | 'newer' => {
  if (tail.origin === null || tail.origin === origin) return 'comparable';
  return isLaterOrigin(tail.origin, origin) ? 'older' : 'newer';
};

/** `<host>/ledger/<org id>`, and after a break `<host>/ledger/<org id>/1` and so on. */
const partsOf = (origin: string): { readonly base: string; readonly number: number } => {
  const [, base = origin, number = '0'] = /^(.*\/ledger\/[^/]+)(?:\/(\d+))?$/.exec(origin) ?? [];
  return { base, number: Number(number) };
};

export const originNumber = (origin: string): number => partsOf(origin).number;

const isLaterOrigin = (one: string, other: string): boolean => {
  const [later, earlier] = [partsOf(one), partsOf(other)];
  return later.base === earlier.base && later.number > earlier.number;
};

/**
 * An origin that was never used before. The numbers that were given are counted outside of the database, because a restored
 * one has forgotten the last of them. Where they are not known there, the number is the time, in seconds, which comes once.
 */
export const originAfter = (
  origin: string,
  remembered: RememberedTree | null,
  now: Timestamp,
): { readonly origin: string; readonly number: number } => {
  const { base, number } = partsOf(origin);
  const isCounted = remembered !== null && remembered.begun >= number;
  const next = isCounted ? remembered.begun + 1 : Math.max(number + 1, Math.floor(Date.parse(now) / 1_000));
  return { origin: `${base}/${next}`, number: next };
};

/** Where nothing was signed yet, so that what was begun has a place. */
export const nothingSignedUnder = (org: OrgId, origin: string): RememberedTree => ({
  org,
  origin,
  size: 0,
  root: rootText(EMPTY_ROOT),
  begun: originNumber(origin),
});
