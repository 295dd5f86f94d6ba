import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { IsIn, IsInt, IsObject, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import type { JsonObject } from '#libs/crypto';
import { AppendTooLarge, DomainError, RevisionConflict, UnknownEventType } from '#libs/domain/kernel';
import { type Principal } from '../../apps/api/src/http/authenticator.port.js';
import { CursorCodec } from '../../apps/api/src/http/cursor-codec.js';
import { Exchange } from '../../apps/api/src/http/exchange.js';
import { pageOf } from '../../apps/api/src/http/list-envelope.js';
import { Caller, RequestContext } from '../../apps/api/src/http/parameters.js';
import { ListQuery, QueryInteger } from '../../apps/api/src/http/query-shape.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { IfPresent, Nested } from '../../apps/api/src/http/shape.js';

const since = '2026-10-01';

class ToolShape {
  @IsString()
  @Matches(/^[a-z_]+$/, { message: 'must be lower case' })
  name!: string;
}

class ConfigShape {
  @IfPresent()
  @Nested(() => ToolShape, { each: true })
  tools?: ToolShape[];
}

export class SubmitShape {
  @IsString()
  @MaxLength(200)
  tool!: string;

  @IsObject()
  args!: JsonObject;

  @IfPresent()
  @IsInt()
  @Min(0)
  @Max(25)
  wait?: number;

  @IfPresent()
  @IsIn(['gateway', 'proxy'])
  mode?: string;

  @IfPresent()
  @Nested(() => ConfigShape)
  config?: ConfigShape;
}

class NoteShape {
  @IfPresent()
  @IsString()
  note?: string;
}

export class ThingsQuery extends ListQuery {
  @IfPresent()
  @IsString()
  agent?: string;

  @IfPresent()
  @IsString()
  'created_at[gte]'?: string;
}

class DetailQuery {
  @QueryInteger(0, 25)
  wait?: number;

  @IfPresent()
  @IsIn(['request', 'result', 'events'], { each: true })
  'expand[]'?: string[];
}

/** Routes in the shape of the service's own, without its rules behind them. */
@Controller('v1')
export class SampleController {
  /** Handlers that ran, by name. */
  static ran: string[] = [];

  constructor(private readonly cursors: CursorCodec) {}

  @Get('health')
  @Route({ auth: 'public', since })
  health() {
    return { object: 'health', status: 'ok' };
  }

  @Get('unversioned')
  @Route({ auth: 'public', since, unversioned: true })
  unversioned() {
    return {};
  }

  @Post('login')
  @HttpCode(202)
  @Route({ auth: 'public', since })
  login(@Body() body: SubmitShape) {
    return { object: 'login', body };
  }

  @Post('actions')
  @HttpCode(200)
  @Route({
    auth: 'agent_key',
    scopes: ['actions:execute'],
    since,
    idempotency: 'gate',
    stop: 'recorded',
    confirms: 'handler',
    maxBodyBytes: 1_048_576,
  })
  submit(@Body() body: SubmitShape, @RequestContext() exchange: Exchange, @Caller() caller: Principal) {
    SampleController.ran.push('submit');
    return {
      object: 'action',
      args: body.args,
      wait: body.wait ?? null,
      caller: caller.kind,
      on_behalf_of: exchange.onBehalfOf,
      session: exchange.session,
      key: exchange.idempotencyKey,
      is_instance: body instanceof SubmitShape,
    };
  }

  @Get('actions')
  @Route({ auth: 'session_or_key', role: 'viewer', scopes: ['actions:read'], since, ledgerList: true })
  list(@Query() query: ThingsQuery, @RequestContext() exchange: Exchange) {
    const cursors = this.cursors.forList(exchange, query);
    const first = typeof cursors.after === 'number' ? cursors.after + 1 : 0;
    const rows = Array.from({ length: Math.max(0, Math.min(query.limit, 60 - first)) }, (_, index) => first + index);
    const hasMore = first + rows.length < 60;
    return pageOf({ rows, hasMore }, cursors, { item: (row) => ({ row }), position: (row) => row });
  }

  @Get('things')
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  things(@Query() query: ThingsQuery) {
    return { limit: query.limit };
  }

  @Get('actions/:id')
  @Route({ auth: 'session_or_key', role: 'viewer', scopes: ['actions:read'], since })
  read(@Param('id') id: string, @Query() query: DetailQuery, @RequestContext() exchange: Exchange) {
    SampleController.ran.push('read');
    exchange.actionId = id;
    return { id, wait: query.wait ?? null, expand: query['expand[]'] ?? null };
  }

  @Post('actions/:id/cancel')
  @HttpCode(200)
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  cancel(@Param('id') id: string) {
    return { id };
  }

  @Post('actions/:id/note')
  @HttpCode(200)
  @Route({ auth: 'session_or_key', role: 'viewer', since })
  note(@Body() body: NoteShape) {
    return { note: body.note ?? null };
  }

  @Get('policies')
  @Route({ auth: 'session_or_key', role: 'viewer', admin: true, since })
  policies(@Caller() caller: Principal) {
    return { kind: caller.kind };
  }

  @Delete('policies/:id')
  @Route({ auth: 'session_or_key', role: 'viewer', admin: true, since })
  remove(@Param('id') id: string) {
    return { id };
  }

  @Get('people')
  @Route({ auth: 'session', role: 'viewer', since })
  people() {
    return {};
  }

  /** Throws what its name says, so that the answer to it can be seen. */
  @Get('throw/:what')
  @Route({ auth: 'public', since })
  fail(@Param('what') what: string): never {
    const thrown = THROWN[what];
    throw thrown === undefined ? new DomainError('not_found') : thrown();
  }

  @Get('slow')
  @Route({ auth: 'public', since, timeoutMs: 50 })
  slow() {
    return new Promise(() => undefined);
  }
}

const THROWN: Readonly<Record<string, () => unknown>> = {
  defect: () => new TypeError('SELECT secret FROM somewhere'),
  nothing: () => undefined,
  text: () => 'a text',
  too_large: () => new AppendTooLarge(1_000_001),
  raced: () => new RevisionConflict('thing-1', 3, 4),
  diagnostics: () => new DomainError('policy_invalid', { extra: { diagnostics: [{ line: 1 }], checks: [] } }),
  limited: () => new DomainError('budget_exceeded', { retryAfterSeconds: 77 }),
  unavailable: () => new DomainError('service_unavailable'),
  of_newer_version: () => new UnknownEventType('thing-1', 'ThingRenamed'),
};
