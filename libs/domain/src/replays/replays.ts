import {
  DomainError,
  derivedId,
  epochMsOf,
  streamRef,
  timestampOf,
  type CommandMetadata,
  type FoldedStreams,
  type OrgId,
  type PolicyId,
  type ReplayId,
  type Timestamp,
} from '../kernel/index.js';
import { organizationDecider } from '../people/index.js';
import { loadPolicy, versionNamed } from '../policies/index.js';
import type { RecordedCalls } from './recorded-calls.port.js';
import type { Replay, ReplayWindow, VersionInForce } from './replay.js';
import type { ReplayPage, ReplayRows } from './replay-rows.port.js';
import { replayWindow } from './replay-window.js';

/** In one replay (rule REPLAY-1). */
export const REPLAY_ACTIONS_MAX = 1_000_000;
/** Queued and running ones of one organization, so that one leaves room for others. */
export const OPEN_MAX = 10;
/** As long as the longest window: a result says where its actions were, and those can be replayed no more. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

export interface StartReplay extends Partial<ReplayWindow> {
  readonly policy: PolicyId;
  /** A number, or a `pv_` id. */
  readonly version: string;
}

/** What people and keys may do with replays of their organization. Running them is for workers (`replay-run.ts`). */
export class Replays {
  constructor(
    private readonly streams: FoldedStreams,
    private readonly rows: ReplayRows,
    private readonly calls: RecordedCalls,
  ) {}

  /**
   * The same command again answers with the replay that it made. Whoever wants the newest actions in it waits for their
   * rows first.
   * @throws {DomainError} not_found; replay_window_invalid; replay_too_large; conflict when too many are open
   */
  async start(
    org: OrgId,
    { policy: id, version: name, ...asked }: StartReplay,
    metadata: CommandMetadata,
  ): Promise<Replay> {
    const policy = await loadPolicy(this.streams, org, id);
    const version = versionNamed(policy, name);
    const window = replayWindow(asked, metadata.now);
    const total = await this.calls.count(org, window, REPLAY_ACTIONS_MAX + 1);
    if (total > REPLAY_ACTIONS_MAX) throw new DomainError('replay_too_large', { param: 'from' });
    const request = {
      id: derivedId('rpl', metadata.commandId),
      org,
      purpose: 'manual' as const,
      policy: policy.policy,
      versionId: version.id,
      version: version.version,
      inForce: await this.inForce(org),
      ...window,
      requestedBy: metadata.actor,
      total,
      createdAt: metadata.now,
    };
    const forgetBefore = timestampOf(epochMsOf(metadata.now) - KEPT_MS);
    const replay = await this.rows.insert(request, OPEN_MAX, forgetBefore);
    if (replay !== null) return replay;
    throw new DomainError('conflict', {
      message: `The organization has ${OPEN_MAX} replays queued or running. Wait for one to end, or cancel one.`,
    });
  }

  private async inForce(org: OrgId): Promise<VersionInForce | null> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none' || state.enforced === null) return null;
    const { policy, versionId, version } = state.enforced;
    return { policy, versionId, version };
  }

  /** @throws {DomainError} not_found, also of another organization's */
  async get(org: OrgId, id: ReplayId): Promise<Replay> {
    const replay = await this.rows.find(org, id);
    if (replay === null) throw new DomainError('not_found');
    return replay;
  }

  list(org: OrgId, page: ReplayPage): ReturnType<ReplayRows['page']> {
    return this.rows.page(org, page);
  }

  /**
   * Whoever runs it leaves it within a second. Cancelling one that is cancelled changes nothing.
   * @throws {DomainError} not_found; conflict when it has ended otherwise
   */
  async cancel(org: OrgId, id: ReplayId, now: Timestamp): Promise<Replay> {
    const replay = await this.rows.cancel(org, id, now);
    if (replay === null) throw new DomainError('not_found');
    if (replay.status === 'cancelled') return replay;
    throw new DomainError('conflict', {
      message: `The replay has ${replay.status} already, so there is nothing to cancel. Read it to see what it found.`,
    });
  }
}
