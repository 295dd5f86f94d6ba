import { Body, Controller, Delete, Param, Put } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { JsonObject } from '#libs/crypto';
import { CREDENTIAL_BODY_MAX_BYTES, PutCredentials, RemoveCredentials } from '#libs/domain/connectors';
import { CHANGE } from '../control-plane.js';
import type { Exchange } from '../http/exchange.js';
import { RequestContext } from '../http/parameters.js';
import { Route } from '../http/route.decorator.js';
import { ConnectorAnswers } from './connector-answers.js';
import { PutCredentialsBody } from './connector.dto.js';

const LARGE_BODY_ADVICE = 'Send the secret of this connector alone, in the fields that its kind has.';

/** A connector's one credential: written, replaced and removed, never read (rule CON-3). */
@Controller('v1/connectors/:id/credentials')
export class CredentialsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly answers: ConnectorAnswers,
  ) {}

  @Put()
  @Route({ ...CHANGE, maxBodyBytes: CREDENTIAL_BODY_MAX_BYTES, largeBodyAdvice: LARGE_BODY_ADVICE })
  async put(
    @Param('id') id: string,
    @Body() { kind, secret }: PutCredentialsBody,
    @RequestContext() exchange: Exchange,
  ): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = await this.answers.addressOf(exchange.caller.org, id);
    const connector = await this.commands.execute(new PutCredentials(address, { kind, secret }, metadata));
    return this.answers.changed(connector, metadata);
  }

  /** Its calls then end as `credentials_missing`. */
  @Delete()
  @Route(CHANGE)
  async remove(@Param('id') id: string, @RequestContext() exchange: Exchange): Promise<JsonObject> {
    const metadata = exchange.commandMetadata();
    const address = await this.answers.addressOf(exchange.caller.org, id);
    return this.answers.changed(await this.commands.execute(new RemoveCredentials(address, metadata)), metadata);
  }
}
