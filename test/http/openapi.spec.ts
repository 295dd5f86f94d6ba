import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { IsString } from 'class-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '#libs/domain/kernel';
import { SERVED_TYPES } from '#libs/domain/connectors';
import type { LedgerCheck } from '#libs/domain/ledger';
import { compilePolicy } from '#libs/domain/policies';
import { packageRoot } from '#libs/infra/runtime';
import { HealthModule } from '../../apps/api/src/health/health.module.js';
import { Route } from '../../apps/api/src/http/route.decorator.js';
import { fieldsOf } from '../../apps/api/src/http/shape.js';
import { OpenApiController } from '../../apps/api/src/openapi/openapi.controller.js';
import { readOpenApiDocument } from '../../apps/api/src/openapi/openapi-document.js';
import { silentLogger } from '../support/silent-logger.js';
import { compareInterface } from './compare-interface.js';
import { clientOf } from './edge-client.js';
import { startEdge, TestClock, type TestEdge } from './edge-harness.js';

const since = '2026-10-01';
const text = readOpenApiDocument();
const document = parse(text) as {
  openapi: string;
  'x-service-errors': Record<'any' | 'keyed' | 'changing', string[]>;
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: Record<string, Record<string, unknown>>;
};
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'parameters')
    .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);

class NameQuery {
  @IsString()
  name!: string;
}

class NameBody {
  @IsString()
  name!: string;
}

@Controller('v1/samples')
class SamplesController {
  @Get()
  @Route({ auth: 'session_or_key', role: 'viewer', scopes: ['deeds:read'], since })
  list(@Query() query: NameQuery) {
    return query;
  }

  @Post(':id/rename')
  @Route({ auth: 'session_or_key', role: 'viewer', admin: true, since })
  rename(@Body() body: NameBody) {
    return body;
  }
}

/** A union of the code as a list: a member too few or too many does not compile. */
const LEDGER_CHECK_REASONS = {
  bad_record: true,
  record_mismatch: true,
  bad_cose_signature: true,
  gap: true,
  body_hash_mismatch: true,
  not_canonical: true,
  schema: true,
  wrong_seq: true,
  wrong_kid: true,
  wrong_org: true,
  bad_signature: true,
  duplicate: true,
  broken_link: true,
  time_went_back: true,
  seal_key_revoked: true,
  outside_key_window: true,
  unknown_key: true,
  key_not_pinned: true,
  missing_deeds: true,
  time_limit: true,
} satisfies Record<NonNullable<LedgerCheck['reason']>, true>;

/** What an operation says of its credentials, where it is not what the document says of all. */
const SECURITY: Readonly<Record<string, unknown>> = { public: [], session: [{ session: [] }] };

let edge: TestEdge;
const { get, send } = clientOf(() => edge);

beforeAll(async () => {
  edge = await startEdge({
    controllers: [OpenApiController, SamplesController],
    imports: [HealthModule.forRoot({ checks: [], clock: new TestClock(), logger: silentLogger })],
  });
});
afterAll(async () => edge.close());

describe('the document', () => {
  it('is OpenAPI 3.1.1', () => {
    expect(document.openapi).toBe('3.1.1');
  });

  it('is valid for @seriousme/openapi-schema-validator', async () => {
    const { valid, errors } = await new Validator().validate(text);
    expect([valid, errors]).toEqual([true, undefined]);
  });

  it('has no problem for @redocly/cli', async () => {
    const root = packageRoot();
    const cli = join(root, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
    const file = join(root, 'dist', 'openapi.yaml');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [cli, 'lint', file, '--extends', 'recommended', '--format', 'json'],
      {
        cwd: root,
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' },
      },
    );
    const { totals, problems } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
      totals: object;
      problems: unknown[];
    };
    expect([totals, problems]).toEqual([{ errors: 0, warnings: 0, ignored: 0 }, []]);
  });

  it.each(operations)('says of %s who may call it, since when, and what it refuses', (_, operation) => {
    expect(['public', 'agent_key', 'session', 'session_or_key']).toContain(operation['x-service-auth']);
    expect(operation['x-service-since']).toBe(since);
    expect(operation['security']).toEqual(SECURITY[operation['x-service-auth'] as string]);
    for (const code of (operation['x-service-errors'] ?? []) as string[]) {
      expect([code, isErrorCode(code)]).toEqual([code, true]);
      const { status } = ERROR_CATALOGUE[code as ErrorCode];
      expect([code, String(status) in (operation['responses'] as object)]).toEqual([code, true]);
    }
  });

  it('names the codes that operations share, which are their response `default`', () => {
    const shared = Object.values(document['x-service-errors']).flat();
    expect(shared.filter((code) => !isErrorCode(code))).toEqual([]);
    expect(new Set(shared).size).toBe(shared.length);
    const others = operations.filter(([, { responses, 'x-service-page': isPage }]) => {
      const response = { $ref: `#/components/responses/${isPage === true ? 'ConsoleErrorPage' : 'Error'}` };
      return JSON.stringify((responses as { default?: object }).default) !== JSON.stringify(response);
    });
    expect(others.map(([name]) => name)).toEqual([]);
  });

  it('describes the config of every connector type that is served', () => {
    const { ConnectorConfig: config } = document.components['schemas'] as unknown as Record<string, { anyOf?: Json }>;
    const nameOf = (type: string): string =>
      `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Config`;
    // A composition of one schema is none for redocly.
    expect(config?.anyOf ?? [config]).toEqual(
      SERVED_TYPES.map((type) => ({ $ref: `#/components/schemas/${nameOf(type)}` })),
    );
  });

  it('lists every reason of a ledger check', () => {
    const { LedgerCheck: check } = document.components['schemas'] as unknown as Record<
      string,
      { properties: Record<string, { enum?: unknown[] }> }
    >;
    expect(check?.properties['reason']?.enum).toEqual([...Object.keys(LEDGER_CHECK_REASONS), null]);
  });

  it('gives only policies that the service would take', () => {
    const sources: string[] = [];
    JSON.stringify(document, (name, value: unknown) => {
      // A decision has a `source` too, in one word.
      if (name === 'source' && typeof value === 'string' && value.includes('\n')) sources.push(value);
      return value;
    });
    expect(sources.length).toBeGreaterThan(3);
    for (const source of sources) expect(compilePolicy(source)).toMatchObject({ ok: true });
  });

  it('gives only examples that its schemas accept', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addSchema({ $id: 'document', components: document.components });
    const examples = examplesIn(document as unknown as Json, '#');
    expect(examples.length).toBeGreaterThan(30);
    for (const { at, schema, example } of examples) {
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as object);
      expect([at, validate(example), validate.errors]).toEqual([at, true, null]);
    }
  });
});

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Every place that has a schema and an example of it. */
const examplesIn = (node: Json, at: string): { at: string; schema: Json; example: Json }[] => {
  if (node === null || typeof node !== 'object') return [];
  const own =
    !Array.isArray(node) && 'schema' in node && 'example' in node
      ? [{ at, schema: node['schema'], example: node['example'] }]
      : [];
  return [...own, ...Object.entries(node).flatMap(([name, child]) => examplesIn(child, `${at}/${name}`))];
};

describe('GET /api/openapi.yaml', () => {
  it('answers with the document as it was put together', async () => {
    const { status, headers, text: served } = await get('/api/openapi.yaml');
    expect([status, headers.get('content-type'), served]).toEqual([200, 'application/yaml; charset=utf-8', text]);
  });

  it('answers 304 to who has it', async () => {
    const etag = (await get('/api/openapi.yaml')).headers.get('etag') as string;
    expect(etag).toMatch(/^"sha256:[0-9a-f]{64}"$/);
    const again = await get('/api/openapi.yaml', { 'If-None-Match': etag });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await send('HEAD', '/api/openapi.yaml')).status).toBe(200);
  });
});

describe('compareInterface', () => {
  const differences = () => compareInterface(text, edge.edge.routes.entries(), fieldsOf);

  it('finds no fault with what is served as it is described', () => {
    const own = ['/v1/health', '/v1/version', '/api/openapi.yaml'];
    expect(differences().filter((each) => own.some((path) => each.includes(path)))).toEqual([]);
  });

  it('tells what is served and not described, and what is described and not served', () => {
    expect(differences()).toContain('GET /v1/samples is served, but not described');
    expect(differences()).toContain('POST /v1/actions is described, but not served');
  });

  it('tells every way in which a description is wrong', () => {
    const described = `
paths:
  /v1/samples:
    get:
      x-service-auth: public
      x-service-since: '2027-01-01'
      x-service-admin: true
      parameters: [{ name: nam, in: query }]
  /v1/samples/{id}/rename:
    post:
      x-service-auth: session_or_key
      x-service-role: viewer
      x-service-since: '2026-10-01'
      x-service-admin: true
      parameters: [{ name: id, in: path }, { name: Idempotency-Key, in: header }, { name: Service-Version, in: header }]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Rename' } } } }
components: { schemas: { Rename: { properties: { name: {} } } } }`;
    const samples = edge.edge.routes.entries().filter(({ pattern }) => pattern.startsWith('/v1/samples'));
    expect(compareInterface(described, samples, fieldsOf)).toEqual([
      'GET /v1/samples: x-service-auth is "session_or_key", described as "public"',
      'GET /v1/samples: x-service-since is "2026-10-01", described as "2027-01-01"',
      'GET /v1/samples: x-service-scopes is ["deeds:read"], described as []',
      'GET /v1/samples: x-service-role is "viewer", described as null',
      'GET /v1/samples: x-service-admin is false, described as true',
      'GET /v1/samples: query parameters is ["name"], described as ["nam"]',
      'GET /v1/samples: Service-Version is true, described as false',
      'POST /v1/samples/{id}/rename: body size is "At most 64 KiB.", described as null',
    ]);
  });
});
