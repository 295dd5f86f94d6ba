import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import type { JsonObject } from '#libs/crypto';
import {
  type CommandMetadata,
  deedOf as deedIdOf,
  type DeedId,
  DomainError,
  type MembershipId,
  parseId,
  streamOf,
} from '#libs/domain/kernel';
import {
  checkedChatAccounts,
  checkedReferences,
  Members,
  organizationDecider,
  type OrganizationEvent,
  requireMailAddress,
} from '#libs/domain/people';
import {
  ChangeMember,
  InviteMember,
  type MemberChange,
  referencesCommand,
  RemoveMember,
} from '#libs/domain/people/handlers';
import { CHANGE, OWN, READ } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ChangeDeeds } from '../ledger/change-deeds.js';
import { filteredQuery, filtersIn } from '../lists/filters.js';
import { pageOfAll } from '../lists/page-of-all.js';
import { membershipView } from './member.view.js';
import { ChangeMemberBody, InviteMemberBody, RemoveMemberQuery } from './organization.dto.js';

class ListMembersQuery extends filteredQuery('listMembers') {}

/** The people of the organization. */
@Controller('v1/org/members')
export class MembersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly members: Members,
    private readonly deeds: ChangeDeeds,
    private readonly cursors: CursorCodec,
  ) {}

  /** In the order in which they were invited; who was removed only where `status` asks for it. */
  @Get()
  @Route(READ)
  async list(
    @Query() query: ListMembersQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<ListEnvelope<JsonObject>> {
    const { status: asked } = filtersIn('listMembers', query);
    const organization = await this.members.organization(exchange.caller.org);
    const wanted = [...organization.members.values()].filter(({ status }) =>
      asked === null ? status !== 'removed' : status === asked,
    );
    const addresses = await this.members.addressesOf(organization, wanted);
    return pageOfAll(wanted, query, this.cursors.forList(exchange, query), {
      item: (member) => membershipView(organization, member, addresses.get(member.membership) ?? null),
      id: (member) => member.membership,
    });
  }

  /** 201 for who is new, 200 for a fresh link; the older ones are void. */
  @Post()
  @Route(CHANGE)
  async invite(
    @Body() { email, role }: InviteMemberBody,
    @RequestContext() exchange: Exchange,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = requireMailAddress(email);
    const invited = await this.commands.execute(new InviteMember(exchange.caller.org, { address, role }, metadata));
    void reply.code(invited.isNew ? 201 : 200);
    // As the inviter typed it: how others spell it, or that anybody knows it, is not said.
    const view = membershipView(invited.organization, invited.member, address.spelling);
    return { ...view, deed: await this.deedOf(metadata) };
  }

  /**
   * An owner's: role, and which references and chat accounts mean this person. A deed each, and one for each admin key that
   * ends with a role below admin.
   */
  @Patch(':id')
  @Route(OWN)
  async change(
    @Param('id') id: string,
    @Body() { role, keep_keys: keepKeys, references, chat_accounts: chatAccounts }: ChangeMemberBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    if (keepKeys !== undefined && role === undefined) throw keysWithoutRole();
    const changes = {
      ...(role === undefined ? {} : { role }),
      ...(keepKeys === undefined ? {} : { keepKeys }),
      ...(references === undefined ? {} : { references: checkedReferences(references) }),
      ...(chatAccounts === undefined ? {} : { chatAccounts: checkedChatAccounts(chatAccounts) }),
    };
    const changed = await this.commands.execute(
      new ChangeMember(exchange.caller.org, membershipOf(id), changes, metadata),
    );
    const ended = await this.endOf(metadata);
    const deeds = [...ended.deeds, ...(await this.deeds.deedsOf(streamOfOrg(metadata), referencesCommand(metadata)))];
    return { ...(await this.view(changed)), ...ended, deed: deeds[0] ?? null, deeds };
  }

  /**
   * Removing oneself is leaving, which every member may; the decider says who may remove whom. A misspelt `keep_keys[]` would
   * end keys that somebody wanted to keep: no parameter is passed over.
   */
  @Delete(':id')
  @Route({ ...READ, unknownQuery: 'refused' })
  async remove(
    @Param('id') id: string,
    @Query() { 'keep_keys[]': keepKeys = [] }: RemoveMemberQuery,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const removed = await this.commands.execute(
      new RemoveMember(exchange.caller.org, membershipOf(id), metadata, keepKeys),
    );
    const ended = await this.endOf(metadata);
    return { ...(await this.view(removed)), ...ended, deed: ended.deeds[0] ?? null };
  }

  /** What a removal or a demotion sealed, and what became of the person's admin keys by it; of a retry what its first try did. */
  private async endOf(metadata: CommandMetadata) {
    const events = await this.deeds.eventsOf<OrganizationEvent>(streamOfOrg(metadata), metadata);
    return {
      revoked_keys: events.flatMap(({ event }) => (event.type === 'AdminKeyRevoked' ? [event.data.key] : [])),
      kept_keys: events.flatMap(({ event }) => (isEnd(event) ? (event.data.kept_keys ?? []) : [])),
      deeds: events.flatMap((envelope) => deedIdOf(envelope) ?? []),
    };
  }

  private async view({ organization, member }: MemberChange): Promise<JsonObject> {
    const addresses = await this.members.addressesOf(organization, [member]);
    return membershipView(organization, member, addresses.get(member.membership) ?? null);
  }

  private deedOf(metadata: CommandMetadata): Promise<DeedId | null> {
    return this.deeds.deedOf(streamOfOrg(metadata), metadata);
  }
}

const streamOfOrg = ({ org }: CommandMetadata): string => streamOf(organizationDecider.category, org as string);

const isEnd = (event: OrganizationEvent) => event.type === 'MemberRemoved' || event.type === 'MemberRoleChanged';

const keysWithoutRole = (): DomainError =>
  new DomainError('validation_failed', {
    param: 'keep_keys',
    message: 'The field keep_keys goes with a role: it says which admin keys a demotion leaves. Send role too.',
  });

/** @throws {DomainError} not_found */
const membershipOf = (text: string): MembershipId => {
  const id = parseId('mem', text);
  if (!id) throw new DomainError('not_found');
  return id;
};
