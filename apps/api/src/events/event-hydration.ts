import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { agentOfList } from '#libs/domain/agents';
import { approvalOf, recordedReview, type ApprovalReview } from '#libs/domain/gate';
import { Clock, FoldedStreams, Logger, streamRef, timestampOf, type OrgId } from '#libs/domain/kernel';
import { organizationDecider } from '#libs/domain/people';
import { RepeatedFault } from '#libs/infra/logging';
import {
  ActionRow,
  AgentRow,
  ApprovalRow,
  ProjectionProgress,
  READ_YOUR_WRITES_TIMEOUT_MS,
  ReadModels,
  type OrgRow,
  type ProjectionName,
  type RowType,
} from '#libs/infra/read-models';
import { agentView } from '../agents/agent.view.js';
import { approvalView } from '../approvals/approval.view.js';
import { actionView } from '../gate/action.view.js';
import { Site } from '../http/site.js';
import type { ReadEvent } from './event-feed.js';
import { grouped } from './grouped.js';

/** Objects by the id that a thin object has. */
type Objects = ReadonlyMap<string, JsonObject>;
const NOTHING: Objects = new Map();

/** Where and when events are looked at. */
@Injectable()
export class EventViewpoint {
  constructor(
    private readonly site: Site,
    private readonly clock: Clock,
  ) {}

  get viewpoint(): { readonly baseUrl: string; readonly clock: Clock } {
    return { baseUrl: this.site.baseUrl, clock: this.clock };
  }

  get now(): string {
    return timestampOf(this.clock.nowMs());
  }
}

/** Reads what events are about, in the shape of its list: a batch at once, each kind in one query. */
@Injectable()
export class EventHydration {
  private readonly unread: RepeatedFault;

  constructor(
    private readonly readModels: ReadModels,
    private readonly progress: ProjectionProgress,
    private readonly streams: FoldedStreams,
    private readonly place: EventViewpoint,
    log: Logger,
  ) {
    this.unread = new RepeatedFault((fault) => log.warn('events are told with their thin objects', fault));
  }

  /**
   * By the ids of thin objects; what cannot be read, or has no row within the time that a list waits for one, is left out.
   * Never throws: an event is told all the same.
   */
  async of(org: OrgId, events: readonly ReadEvent[]): Promise<Objects> {
    const kinds = grouped(events, ({ type }) => type.slice(0, type.indexOf('.')));
    const read = [...kinds].map(async ([kind, ofKind]) => {
      try {
        return await this.ofKind(kind, org, ofKind);
      } catch (error) {
        this.unread.met(error);
        return NOTHING;
      }
    });
    return new Map((await Promise.all(read)).flatMap((objects) => [...objects]));
  }

  private async ofKind(kind: string, org: OrgId, events: readonly ReadEvent[]): Promise<Objects> {
    switch (kind) {
      case 'action':
        return this.actions(org, await this.told('actions', events));
      case 'approval':
        return this.approvals(org, await this.told('actions', events));
      case 'agent':
        return this.agents(org, await this.told('agents', events));
      default:
        return NOTHING;
    }
  }

  /** The ids of those whose rows tell of them already. */
  private async told(name: ProjectionName, events: readonly ReadEvent[]): Promise<readonly string[]> {
    const last = BigInt(events.at(-1)?.seq ?? 0);
    const reached = await this.progress.reach(name, last, READ_YOUR_WRITES_TIMEOUT_MS);
    return [...new Set(events.flatMap(({ seq, thin }) => (BigInt(seq) <= reached ? [thin.id] : [])))];
  }

  private rows<Row extends OrgRow>(org: OrgId, rowType: RowType<Row>, ids: readonly string[]): Promise<readonly Row[]> {
    return ids.length === 0
      ? Promise.resolve([])
      : this.readModels.of(org, rowType).where('row.id = ANY(:ids)', { ids }).all();
  }

  private async actions(org: OrgId, ids: readonly string[]): Promise<Objects> {
    const rows = await this.rows(org, ActionRow, ids);
    return new Map(
      rows.map(({ id, folded, deed }) => [id, actionView({ action: folded, deed }, this.place.viewpoint)]),
    );
  }

  /** As an admin key reads it in the list: without what depends on the person. */
  private async approvals(org: OrgId, ids: readonly string[]): Promise<Objects> {
    const rows = await this.rows(org, ApprovalRow, ids);
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') return NOTHING;
    const now = this.place.now;
    return new Map(
      rows.map(({ folded, deed }) => {
        const review = recordedReview(folded, state, now, null) as ApprovalReview;
        return [approvalOf(folded.submission.action), approvalView(review, deed)];
      }),
    );
  }

  private async agents(org: OrgId, ids: readonly string[]): Promise<Objects> {
    const rows = await this.rows(org, AgentRow, ids);
    const now = this.place.now;
    return new Map(rows.map(({ id, folded }) => [id, agentView(agentOfList(folded), now)]));
  }
}
