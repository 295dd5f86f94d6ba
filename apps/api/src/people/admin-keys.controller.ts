import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { IsBoolean, IsInt, Max, Min } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { OrganizationAdministration, OVERLAP_MAX_SECONDS } from '#libs/domain/agents';
import { type CommandMetadata, DomainError, type KeyId, type OrgId, parseId, streamOf } from '#libs/domain/kernel';
import { MemberAdministration, organizationDecider, type StoredKey } from '#libs/domain/people';
import { CHANGE } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { IfPresent } from '../http/shape.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { pageOfAll } from '../lists/page-of-all.js';

const OVERLAP_MESSAGE = `must be a whole number of seconds from 0 to ${OVERLAP_MAX_SECONDS} (7 days)`;

class CreateAdminKeyBody {
  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  livemode?: boolean;
}

class RollAdminKeyBody {
  @IfPresent()
  @IsInt({ message: OVERLAP_MESSAGE })
  @Min(0, { message: OVERLAP_MESSAGE })
  @Max(OVERLAP_MAX_SECONDS, { message: OVERLAP_MESSAGE })
  overlap_seconds?: number;
}

/** The organization's admin keys: made and rolled by people, never by another admin key (document 2). */
@Controller('v1/org/keys')
export class AdminKeysController {
  constructor(
    private readonly organizations: OrganizationAdministration,
    private readonly members: MemberAdministration,
    private readonly deeds: ChangeDeeds,
    private readonly cursors: CursorCodec,
  ) {}

  /** Newest first, revoked and expired ones included. */
  @Get()
  @Route(CHANGE)
  async list(@Query() query: ListQuery, @RequestContext() exchange: Exchange): Promise<ListEnvelope<JsonObject>> {
    const { org, adminKeys } = await this.members.organization(exchange.caller.org);
    return pageOfAll([...adminKeys.values()].reverse(), query, this.cursors.forList(exchange, query), {
      item: (key) => adminKeyView(org, key),
      id: ({ key }) => key,
    });
  }

  /** The secret is shown once. */
  @Post()
  @Route(CHANGE)
  async create(@Body() { livemode }: CreateAdminKeyBody, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const { org } = exchange.caller;
    const { key, secret } = await this.organizations.createAdminKey(org, livemode ?? true, metadata);
    return this.shown(org, key, secret, metadata);
  }

  /** The old key works until the overlap ends. */
  @Post(':id/roll')
  @Route(CHANGE)
  async roll(
    @Param('id') id: string,
    @Body() { overlap_seconds: overlapSeconds }: RollAdminKeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { livemode, key } = await this.find(org, id);
    const metadata = exchange.commandMetadata();
    const overlap = overlapSeconds === undefined ? {} : { overlapSeconds };
    const rolled = await this.organizations.rollAdminKey(org, { key, livemode, ...overlap }, metadata);
    return this.shown(org, rolled.key, rolled.secret, metadata);
  }

  /** Ends the key on every instance with the answer. */
  @Delete(':id')
  @Route(CHANGE)
  async revoke(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { key } = await this.find(org, id);
    const metadata = exchange.commandMetadata();
    await this.organizations.revokeAdminKey(org, key, metadata);
    return { ...adminKeyView(org, await this.find(org, id)), deed: await this.deedOf(org, metadata) };
  }

  private async shown(org: OrgId, key: KeyId, secret: string | null, metadata: CommandMetadata): Promise<JsonObject> {
    const view = adminKeyView(org, await this.find(org, key));
    return { ...view, secret, deed: await this.deedOf(org, metadata) };
  }

  /** @throws {DomainError} not_found */
  private async find(org: OrgId, text: string): Promise<StoredKey> {
    const id = parseId('key', text);
    const { adminKeys } = await this.members.organization(org);
    const found = id === null ? undefined : adminKeys.get(id);
    if (!found) throw new DomainError('not_found');
    return found;
  }

  private deedOf(org: OrgId, metadata: CommandMetadata) {
    return this.deeds.deedOf(streamOf(organizationDecider.category, org), metadata);
  }
}

const adminKeyView = (org: OrgId, key: StoredKey): JsonObject => ({
  object: 'api_key',
  id: key.key,
  org,
  prefix: key.prefix,
  livemode: key.livemode,
  scopes: ['admin'],
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
});
