import type { Digest } from '#libs/crypto';
import type { ErrorCode, OrgId, PolicyId, ReplayId, Timestamp } from '../kernel/index.js';
import type { ReplayCursor } from './recorded-calls.port.js';
import type { Replay, ReplayRequest, ReplayResult } from './replay.js';
import type { StoredSums } from './replay-sums.js';

/** Which replays a list shows, newest first. */
export interface ReplayPage {
  /** Null: of all policies. */
  readonly policy: PolicyId | null;
  readonly limit: number;
  readonly after: { readonly createdAt: string; readonly id: string } | null;
}

/**
 * Replays as rows: work, not facts. Losing one costs the time to run it again. Adapter: libs/infra/src/replays.
 */
export abstract class ReplayRows {
  /**
   * Writing the same id again changes nothing. Replays of the organization that ended before `forgetBefore` go.
   * @param openMax how many may be queued or running in one organization
   * @returns the replay as it stands; null where too many are open
   */
  abstract insert(request: ReplayRequest, openMax: number, forgetBefore: Timestamp): Promise<Replay | null>;
  abstract find(org: OrgId, id: ReplayId): Promise<Replay | null>;
  abstract page(org: OrgId, page: ReplayPage): Promise<{ readonly rows: readonly Replay[]; readonly hasMore: boolean }>;
  /** Changes nothing where it has ended. @returns how it stands then; null where there is none */
  abstract cancel(org: OrgId, id: ReplayId, at: Timestamp): Promise<Replay | null>;
}

/** A replay that somebody runs, and how far it was when it was taken up. */
export interface ReplayUnderWay {
  readonly replay: Replay;
  /** Null at the start of the window. */
  readonly cursor: ReplayCursor | null;
  readonly sums: StoredSums | null;
  /** How often it was taken up since it last got on, this time included. */
  readonly attempts: number;
}

/**
 * What the one process writes that holds a replay's claim: each is one statement over the session of the claim, so one
 * whose claim is gone writes nothing. False: the replay has ended meanwhile, and nothing was written.
 */
export abstract class ReplayWork {
  /** Null where it has ended, or is not there. */
  abstract takeUp(): Promise<ReplayUnderWay | null>;
  abstract save(done: number, cursor: ReplayCursor, sums: StoredSums): Promise<boolean>;
  abstract succeed(done: number, result: ReplayResult, digest: Digest, at: Timestamp): Promise<boolean>;
  abstract fail(errorCode: ErrorCode, at: Timestamp): Promise<boolean>;
}
