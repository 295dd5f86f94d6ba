import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { IsBoolean, IsInt, IsString, Max, Min, ValidateIf } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { KeyDirectory, OVERLAP_MAX_SECONDS } from '#libs/domain/agents';
import { CreateAdminKey, RevokeAdminKey, RollAdminKey } from '#libs/domain/agents/handlers';
import {
  type CommandMetadata,
  DomainError,
  type KeyId,
  type OrgId,
  parseId,
  parseTimestamp,
  streamOf,
  type Timestamp,
  timestampOf,
} from '#libs/domain/kernel';
import { type AdminKey, Members, organizationDecider } from '#libs/domain/people';
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

const END_MESSAGE = 'must be a time to come such as 2027-01-31T00:00:00Z, or null for a key without an end';
const OVERLAP_MESSAGE = `must be a whole number of seconds from 0 to ${OVERLAP_MAX_SECONDS} (7 days)`;

class CreateAdminKeyBody {
  @IfPresent()
  @IsBoolean({ message: 'must be true or false' })
  livemode?: boolean;

  /** Null: no end, as when it is left out. */
  @ValidateIf((_, value) => value !== undefined && value !== null)
  @IsString({ message: END_MESSAGE })
  expires_at?: string | null;
}

class RollAdminKeyBody {
  @IfPresent()
  @IsInt({ message: OVERLAP_MESSAGE })
  @Min(0, { message: OVERLAP_MESSAGE })
  @Max(OVERLAP_MAX_SECONDS, { message: OVERLAP_MESSAGE })
  overlap_seconds?: number;
}

/** The organization's admin keys: made and rolled by people, never by another admin key (rule KEY-7). */
@Controller('v1/org/keys')
export class AdminKeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly members: Members,
    private readonly deeds: ChangeDeeds,
    private readonly cursors: CursorCodec,
    private readonly directory: KeyDirectory,
  ) {}

  /** Newest first, revoked and expired ones included. */
  @Get()
  @Route(CHANGE)
  async list(@Query() query: ListQuery, @RequestContext() exchange: Exchange): Promise<ListEnvelope<JsonObject>> {
    const { org, adminKeys } = await this.members.organization(exchange.caller.org);
    const keys = [...adminKeys.values()].reverse();
    const uses = await this.directory.lastUses(keys.map(({ prefix }) => prefix));
    return pageOfAll(keys, query, this.cursors.forList(exchange, query), {
      item: (key) => adminKeyView(org, key, uses),
      id: ({ key }) => key,
    });
  }

  /** The secret is shown once. */
  @Post()
  @Route(CHANGE)
  async create(
    @Body() { livemode, expires_at: expiresAt }: CreateAdminKeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const end = endOf(expiresAt);
    const metadata = exchange.commandMetadata();
    const { org } = exchange.caller;
    const { key, secret } = await this.commands.execute(new CreateAdminKey(org, livemode ?? true, metadata, end));
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
    const rolled = await this.commands.execute(new RollAdminKey(org, { key, livemode, ...overlap }, metadata));
    return this.shown(org, rolled.key, rolled.secret, metadata);
  }

  /** Ends the key on every instance with the answer. */
  @Delete(':id')
  @Route(CHANGE)
  async revoke(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { org } = exchange.caller;
    const { key } = await this.find(org, id);
    const metadata = exchange.commandMetadata();
    await this.commands.execute(new RevokeAdminKey(org, key, metadata));
    return { ...(await this.view(org, await this.find(org, id))), deed: await this.deedOf(org, metadata) };
  }

  private async shown(org: OrgId, key: KeyId, secret: string | null, metadata: CommandMetadata): Promise<JsonObject> {
    const view = await this.view(org, await this.find(org, key));
    return { ...view, secret, deed: await this.deedOf(org, metadata) };
  }

  private async view(org: OrgId, key: AdminKey): Promise<JsonObject> {
    return adminKeyView(org, key, await this.directory.lastUses([key.prefix]));
  }

  /** @throws {DomainError} not_found */
  private async find(org: OrgId, text: string): Promise<AdminKey> {
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

/** @throws {DomainError} validation_failed */
const endOf = (text: string | null = null): Timestamp | null => {
  if (text === null) return null;
  const epochMs = parseTimestamp(text);
  if (epochMs !== null) return timestampOf(epochMs);
  throw new DomainError('validation_failed', { param: 'expires_at', message: `The field expires_at ${END_MESSAGE}.` });
};

const adminKeyView = (org: OrgId, key: AdminKey, uses: ReadonlyMap<string, number>): JsonObject => ({
  object: 'api_key',
  id: key.key,
  org,
  prefix: key.prefix,
  livemode: key.livemode,
  scopes: ['admin'],
  created_at: key.createdAt,
  created_by: key.createdBy === null ? null : { ...key.createdBy },
  last_used_at: lastUseOf(key, uses),
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  replaced_by: key.successor,
});

const lastUseOf = ({ prefix }: AdminKey, uses: ReadonlyMap<string, number>): Timestamp | null => {
  const usedMs = uses.get(prefix);
  return usedMs === undefined ? null : timestampOf(usedMs);
};
