import { Body, Controller, Get, HttpCode, Patch, Post } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { StartOrganization, StopOrganization } from '#libs/domain/agents/handlers';
import { checkedName, type CommandMetadata, DomainError, streamOf, type Timestamp } from '#libs/domain/kernel';
import {
  checkedTimezone,
  type LivingOrganization,
  Members,
  organizationDecider,
  requireRecentSignIn,
} from '#libs/domain/people';
import { UpdateOrganization } from '#libs/domain/people/handlers';
import { CHANGE, OWN, READ } from '../control-plane.js';
import { ApiVersions } from '../http/api-versions.js';
import type { Principal } from '../http/authenticator.port.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { CountActionsInFlight } from './count-actions-in-flight.query-handler.js';
import { organizationView } from './member.view.js';
import { SwitchOrganizationBody, UpdateOrganizationBody } from './organization.dto.js';

/**
 * Rule PEOPLE-13. From then on a yes counts that nobody's device signed, so it takes more than a session that was left open. Only an
 * owner may say so, whom the organization itself judges; no key may.
 * @throws {DomainError} recent_sign_in_required
 */
const requireRecentToLoosen = (caller: Principal, now: Timestamp): void => {
  if (caller.kind !== 'person' || caller.role !== 'owner') return;
  if (caller.session.organization.approvals?.signed === true) requireRecentSignIn(caller.session.row, Date.parse(now));
};

/** The organization of whoever calls. */
@Controller('v1/org')
export class OrganizationController {
  constructor(
    private readonly members: Members,
    private readonly commands: CommandBus,
    private readonly deeds: ChangeDeeds,
    private readonly queries: QueryBus,
    private readonly versions: ApiVersions,
  ) {}

  @Get()
  @Route(READ)
  async get(@RequestContext() { caller }: Exchange): Promise<JsonObject> {
    return this.view(await this.members.organization(caller.org));
  }

  @Patch()
  @Route(CHANGE)
  async update(@Body() body: UpdateOrganizationBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { name, timezone, pinned_version: pinnedVersion, retention_days: retentionDays, approvals } = body;
    if (pinnedVersion !== undefined) this.requireServed(pinnedVersion);
    const changes = {
      ...(name === undefined ? {} : { name: checkedName(name) }),
      ...(timezone === undefined ? {} : { timezone: checkedTimezone(timezone) }),
      ...(pinnedVersion === undefined ? {} : { pinnedVersion }),
      ...(retentionDays === undefined ? {} : { retentionDays }),
      ...(approvals === undefined ? {} : { approvals }),
    };
    const metadata = exchange.commandMetadata();
    if (approvals?.signed === false) requireRecentToLoosen(exchange.caller, metadata.now);
    return this.changed(
      await this.commands.execute(new UpdateOrganization(exchange.caller.org, changes, metadata)),
      metadata,
    );
  }

  /** Stops every agent: it holds for every call that starts after the answer. */
  @Post('stop')
  @HttpCode(200)
  @Route(CHANGE)
  async stop(@Body() { reason }: SwitchOrganizationBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { organization } = await this.commands.execute(
      new StopOrganization(exchange.caller.org, reason ?? null, metadata),
    );
    return this.changed(organization, metadata);
  }

  /** Lifts the organization's Stop, and no agent's own. */
  @Post('start')
  @HttpCode(200)
  @Route(OWN)
  async start(@Body() { reason }: SwitchOrganizationBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { organization } = await this.commands.execute(
      new StartOrganization(exchange.caller.org, reason ?? null, metadata),
    );
    return this.changed(organization, metadata);
  }

  private async changed(organization: LivingOrganization, metadata: CommandMetadata): Promise<JsonObject> {
    const stream = streamOf(organizationDecider.category, organization.org);
    const deed = await this.deeds.deedOf(stream, metadata);
    return { ...(await this.view(organization)), deed };
  }

  private async view(organization: LivingOrganization): Promise<JsonObject> {
    return organizationView(organization, await this.queries.execute(new CountActionsInFlight(organization.org)));
  }

  private requireServed(version: string): void {
    if (this.versions.served.includes(version)) return;
    throw new DomainError('validation_failed', {
      param: 'pinned_version',
      message: `The field pinned_version must be a version that is served: ${this.versions.served.join(', ')}.`,
    });
  }
}
