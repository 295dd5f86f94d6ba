import pg from 'pg';
import { expect } from 'vitest';
import { EMBEDDED_DATABASE } from '#libs/infra/config';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/infra/postgres';
import { type AgsRun, runAgsHere } from '../../support/run-ags.js';
import { type Answer, type RunningService, type ServiceOptions, startService } from '../../support/service.js';
import { silentLogger } from '../../support/silent-logger.js';
import { operationFor, undescribedIn } from '../described-answer.js';
import { type RawAnswer, sendRaw } from '../raw-http.js';
import { furnish, type Lab, startLab } from './lab.js';
import { headersOf, type Sent } from './sent.js';
import { StagePeople } from './stage-people.js';

/**
 * The service as a user starts it, with a laboratory for its connectors, the command line beside it and a connection of
 * the test's own to its database, by which faults are made. Every answer that comes by here, refusal or not, is held
 * against what is promised of all answers and against the interface description.
 */
export class Stage {
  /** `POST /v1/actions policy_denied`: which operation answered which code. */
  readonly answered = new Set<string>();
  policy = '';
  /** An agent that nobody acts as: what is done to it disturbs no other test. */
  spareAgent = '';
  readonly people: StagePeople;

  private constructor(
    readonly service: RunningService,
    readonly lab: Lab,
    private readonly postgres: EmbeddedPostgres,
    readonly database: pg.Client,
  ) {
    this.people = new StagePeople({
      send: this.send,
      printed: () => service.stdout,
      ownerToken: () => service.signInToken,
    });
  }

  static async open({ program, env = {} }: Pick<ServiceOptions, 'program' | 'env'> = {}): Promise<Stage> {
    const lab = await startLab();
    const service = await startService({ env: { LOG_LEVEL: 'error', ...env }, ...(program && { program }) });
    const postgres = await startEmbeddedPostgres({ stateDir: service.stateDir, log: silentLogger });
    const database = new pg.Client({ connectionString: postgres.connectionString(EMBEDDED_DATABASE) });
    await database.connect();
    const stage = new Stage(service, lab, postgres, database);
    try {
      await stage.people.signOwnerIn();
      stage.policy = await furnish(service, lab);
      stage.spareAgent = String((await stage.change('POST', '/v1/agents', { name: 'spare' }))['id']);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.lab.release();
    await this.database.end();
    await this.postgres.release();
    await this.service.stop();
    await this.lab.close();
  }

  readonly send = async (
    method: string,
    path: string,
    { key = null, json, text, headers = {}, as }: Sent = {},
  ): Promise<Answer> => {
    const body = json === undefined ? text : JSON.stringify(json);
    const response = await fetch(`${this.service.baseUrl}${path}`, {
      redirect: 'manual',
      method,
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(as === undefined ? {} : headersOf(method, as)),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    return this.received(method, path, answerOf(response.status, response.headers, await response.text()));
  };

  readonly owner = (method: string, path: string, sent: Sent = {}): Promise<Answer> =>
    this.send(method, path, { as: this.people.owner, ...sent });

  readonly admin = (method: string, path: string, sent: Sent = {}): Promise<Answer> =>
    this.send(method, path, { key: this.service.adminKey, ...sent });

  /** A change that the stage needs, by an admin; its answer's body. */
  readonly change = async (method: string, path: string, json: object): Promise<Answer['json']> => {
    const answer = await this.admin(method, path, { json });
    expect([200, 201]).toContain(answer.status);
    return answer.json;
  };

  readonly agent = (method: string, path: string, sent: Sent = {}): Promise<Answer> =>
    this.send(method, path, { key: this.service.agentKey, ...sent });

  /** POST /v1/actions of the agent. */
  readonly act = (
    tool: string,
    id: string,
    { headers = {}, ...fields }: { headers?: Record<string, string>; wait?: number } = {},
  ): Promise<Answer> => this.agent('POST', '/v1/actions', { json: { tool, args: { id }, ...fields }, headers });

  /** A request as its bytes, on a connection of its own: what no ordinary client sends. */
  readonly raw = async (request: string): Promise<Answer> => {
    const [method = '', path = ''] = request.split(' ', 2);
    return this.received(method, path, plainAnswer(await sendRaw(this.port, request)));
  };

  get port(): number {
    return Number(new URL(this.service.baseUrl).port);
  }

  /** `ags ... --json` on the service's state directory, while it runs. */
  async ags(...args: readonly string[]): Promise<AgsRun> {
    const run = await runAgsHere([...args, '--json'], { env: this.service.environment });
    expect(run).toMatchObject({ code: 0 });
    return run;
  }

  /** While the test holds `lock` in the service's database. */
  readonly whileLocked = async <Result>(lock: string, task: () => Promise<Result>): Promise<Result> => {
    await this.database.query('begin');
    try {
      await this.database.query(lock);
      return await task();
    } finally {
      await this.database.query('rollback');
    }
  };

  /** Holds an answer against what every answer has, and remembers what its operation said. */
  received(method: string, path: string, answer: Answer): Answer {
    const { headers } = answer;
    expect(headers.get('service-request-id')).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(headers.get('service-version')).toBe('2026-10-01');
    expect([headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual(['nosniff', 'no-referrer']);
    const { code } = answer.error;
    if (typeof code === 'string') {
      expect(answer.error['doc_url']).toBe(`${this.service.baseUrl}/docs/errors/${code}`);
    }
    const operation = operationFor(method, path);
    if (operation === null) return answer;
    expect(undescribedIn(method, path, answer)).toEqual([]);
    if (typeof code === 'string') this.answered.add(`${operation.name} ${code}`);
    return answer;
  }
}

export const plainAnswer = ({ status, headers, body }: RawAnswer): Answer => {
  const pairs = [...headers].flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return answerOf(status, new Headers(pairs), body);
};

const answerOf = (status: number, headers: Headers, text: string): Answer => {
  const json = text.startsWith('{') ? (JSON.parse(text) as Answer['json']) : {};
  return { status, headers, text, json, error: (json['error'] ?? {}) as Answer['error'] };
};
