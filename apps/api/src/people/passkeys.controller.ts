import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { DomainError, parseId, timestampOf } from '#libs/domain/kernel';
import { type ListedPasskey, Passkeys } from '#libs/domain/people';
import { RegisterPasskey, RemovePasskey } from '#libs/domain/people/handlers';
import { SESSION } from '../control-plane.js';
import { CursorCodec } from '../http/cursor-codec.js';
import type { Exchange } from '../http/exchange.js';
import type { ListEnvelope } from '../http/list-envelope.js';
import { RequestContext } from '../http/parameters.js';
import { ListQuery } from '../http/query-shape.js';
import { Route } from '../http/route.decorator.js';
import { Site } from '../http/site.js';
import { pageOfAll } from '../lists/page-of-all.js';
import { PasskeyLimits } from './passkey-limits.js';
import { RegisterPasskeyBody } from './passkey.dto.js';

const BODY_MAX_BYTES = 32_768;

/** What a person does with the passkeys that are the person's own, in the organization of the session. */
@Controller('v1/passkeys')
export class PasskeysController {
  constructor(
    private readonly passkeys: Passkeys,
    private readonly commands: CommandBus,
    private readonly cursors: CursorCodec,
    private readonly limits: PasskeyLimits,
    private readonly site: Site,
  ) {}

  /** Newest first. */
  @Get()
  @Route(SESSION)
  async list(@Query() query: ListQuery, @RequestContext() exchange: Exchange): Promise<ListEnvelope<JsonObject>> {
    const listed = await this.passkeys.list(exchange.person.session);
    return pageOfAll(listed, query, this.cursors.forList(exchange, query), {
      item: viewOf,
      id: ({ passkey }) => passkey.passkey,
    });
  }

  /** What a device is to be asked for. */
  @Post('options')
  @HttpCode(200)
  @Route({ ...SESSION, idempotency: 'none' })
  async options(@RequestContext() exchange: Exchange): Promise<JsonObject> {
    const { user, session } = exchange.person;
    this.limits.admit(user);
    const {
      rp,
      user: account,
      pubKeyCredParams,
      excludeCredentials,
      ...others
    } = await this.passkeys.options(session, this.site.relyingParty);
    return {
      object: 'passkey_creation',
      public_key: {
        ...others,
        rp: { ...rp },
        user: { ...account },
        pubKeyCredParams: pubKeyCredParams.map((each) => ({ ...each })),
        excludeCredentials: excludeCredentials.map((each) => ({ ...each })),
        authenticatorSelection: { ...others.authenticatorSelection },
        extensions: { ...others.extensions },
      },
    };
  }

  @Post()
  @HttpCode(201)
  @Route({ ...SESSION, maxBodyBytes: BODY_MAX_BYTES })
  async register(
    @Body() { name, credential }: RegisterPasskeyBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const answer = {
      credential: credential.id,
      clientDataJson: credential.client_data_json,
      attestationObject: credential.attestation_object,
    };
    const named = { name, isOffered: credential.discoverable ?? null };
    const { session } = exchange.person;
    const metadata = exchange.commandMetadata();
    return viewOf(
      await this.commands.execute(new RegisterPasskey(session, named, answer, this.site.relyingParty, metadata)),
    );
  }

  @Delete(':id')
  @Route(SESSION)
  async remove(@Param('id') text: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const id = parseId('pky', text);
    if (!id) throw new DomainError('not_found');
    const metadata = exchange.commandMetadata();
    const { passkey } = await this.commands.execute(new RemovePasskey(exchange.person.session, id, metadata));
    return { object: 'passkey', id: passkey, deleted: true };
  }
}

const viewOf = ({ passkey, row }: ListedPasskey): JsonObject => ({
  object: 'passkey',
  id: passkey.passkey,
  name: row?.name ?? null,
  alg: passkey.alg,
  rp_id: passkey.rpId,
  discoverable: row?.isOffered ?? null,
  created_at: passkey.createdAt,
  last_used_at: timeOf(row?.lastUsedAtMs ?? null),
  counter_fell_at: timeOf(row?.counterFellAtMs ?? null),
});

const timeOf = (ms: number | null): string | null => (ms === null ? null : timestampOf(ms));
