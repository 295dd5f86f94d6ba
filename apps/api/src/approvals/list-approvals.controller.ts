import { Controller, Get, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import { recordedReview, type ApprovalReview } from '#libs/domain/gate';
import {
  Clock,
  DomainError,
  FoldedStreams,
  streamRef,
  timestampOf,
  type OrgId,
  type UserId,
} from '#libs/domain/kernel';
import { organizationDecider, PeopleDirectory, type LivingOrganization } from '#libs/domain/people';
import type { ApprovalRow } from '#libs/infra/read-models';
import { READ } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { ListAnswers } from '../lists/list-answers.js';
import type { PageRequest } from '../lists/listed.js';
import { approvalView, standingOf } from './approval.view.js';
import { expiryPositionOf, ListApprovals, type ExpiryPosition } from './list-approvals.query-handler.js';

class ListApprovalsQuery extends filteredQuery('listApprovals') {}

/** What waits for people, and what they said. */
@Controller()
export class ListApprovalsController {
  constructor(
    private readonly lists: ListAnswers,
    private readonly streams: FoldedStreams,
    private readonly clock: Clock,
    private readonly people: PeopleDirectory,
  ) {}

  /** A person sees of each whether it is theirs to decide; what would be decided on is for the single read to say. */
  @Get('/v1/approvals')
  @Route(READ)
  async list(
    @Query() query: ListApprovalsQuery,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListEnvelope<JsonObject>> {
    const { caller } = exchange;
    const filters = filtersIn('listApprovals', query);
    const organization = await this.organization(caller.org);
    const now = timestampOf(this.clock.nowMs());
    const reader = caller.kind === 'person' ? await this.reader(caller.user) : null;
    const item = ({ folded, deed }: ApprovalRow): JsonObject => {
      const review = recordedReview(folded, organization, now, reader) as ApprovalReview;
      const view = approvalView(review, deed);
      return caller.kind === 'person' ? { ...view, you: standingOf(review, caller.user) } : view;
    };
    return this.lists.page(
      { query, exchange, reply },
      (page: PageRequest<ExpiryPosition>) => new ListApprovals(caller.org, filters, page),
      { item, position: expiryPositionOf },
    );
  }

  private async reader(user: UserId) {
    return { user, address: (await this.people.addressesOf([user])).get(user) };
  }

  private async organization(org: OrgId): Promise<LivingOrganization> {
    const { state } = await this.streams.load(streamRef(organizationDecider, org));
    if (state.status === 'none') throw new DomainError('not_found');
    return state;
  }
}
