import { Module } from '@nestjs/common';
import { InlineExecutionStarter } from '#libs/domain/gate';
import { type Logger, operatorMetadata, type OrgId, type UserId } from '#libs/domain/kernel';
import { requireMailAddress } from '#libs/domain/people';
import { parseConfig, signInLink } from '#libs/infra/config';
import { type Deployment, InfraModule, prepareDeployment, type Prepared } from '#libs/infra/deployment';
import { expect, vi } from 'vitest';
import { ApiModule, ApiServer } from '../../apps/api/src/api.module.js';
import { Projector } from '../../apps/projector/src/projector.module.js';
import { Worker } from '../../apps/worker/src/worker.module.js';
import { undescribedIn } from '../http/described-answer.js';
import { createWholeDatabase, type TestDatabase } from './database.js';
import { removeStateDir, temporaryStateDir } from './service.js';
import { silentLogger } from './silent-logger.js';

const BASE_URL = 'https://ags.example.com';

export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
  readonly error: Record<string, unknown>;
  readonly text: string;
}

/** What a browser does with cookies and its own origin. */
export class Browser {
  private readonly cookies = new Map<string, string>();
  csrf: string | null = null;

  constructor(
    private readonly url: string,
    private readonly address = '192.0.2.1',
  ) {}

  cookie(name: string): string | undefined {
    return this.cookies.get(`__Host-service_${name}`);
  }

  get jar(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** @param body a text is sent as it is: JavaScript cannot spell every number */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<BrowserAnswer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        'X-Forwarded-For': this.address,
        ...(this.cookies.size === 0 ? {} : { Cookie: this.jar }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : { Origin: BASE_URL, 'Sec-Fetch-Site': 'same-origin' }),
        ...(method === 'GET' || this.csrf === null ? {} : { 'Service-CSRF': this.csrf }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    this.keep(response.headers.getSetCookie());
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('text/plain') !== true && text !== '';
    const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
    const described = { status: response.status, headers: response.headers, text, json: isJson ? json : null };
    const error = (json['error'] ?? {}) as Record<string, unknown>;
    expect(undescribedIn(method, path, described)).toEqual([]);
    return { status: response.status, headers: response.headers, json, error, text };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<BrowserAnswer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<BrowserAnswer> {
    return this.send('POST', path, body, headers);
  }

  /** Signs in by the token of a link. */
  async use(token: string): Promise<BrowserAnswer> {
    const answer = await this.post('/v1/auth/callback', { token });
    this.csrf = this.cookie('csrf') ?? null;
    return answer;
  }

  private keep(set: readonly string[]): void {
    for (const line of set) {
      const [pair = '', ...attributes] = line.split('; ');
      const [name = '', value = ''] = pair.split('=');
      expect(attributes).toEqual(expect.arrayContaining(['Path=/', 'Secure']));
      if (attributes.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

export interface ReceivedMail {
  readonly to: string;
  readonly text: string;
  readonly token: string;
  readonly code: string | null;
}

/** The whole service in this process, in production behind a proxy, with an owner who has an address. */
export class PeopleBench {
  private readonly read = new Set<string>();

  private constructor(
    readonly deployment: Deployment,
    readonly prepared: Prepared,
    readonly url: string,
    private readonly parts: {
      readonly database: TestDatabase;
      readonly stateDir: string;
      readonly server: ApiServer;
      readonly worker: Worker;
      readonly projector: Projector;
    },
  ) {}

  static async start(env: Readonly<Record<string, string>> = {}, logger: Logger = silentLogger): Promise<PeopleBench> {
    const [database, stateDir] = await Promise.all([createWholeDatabase(), temporaryStateDir()]);
    const config = parseConfig({
      SERVICE_STATE_DIR: stateDir,
      SERVICE_PORT: '0',
      SERVICE_ENV: 'production',
      SERVICE_BASE_URL: BASE_URL,
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      DATABASE_URL: database.connectionString,
      ...env,
    });
    const { deployment, prepared } = await prepareDeployment(config, 'ags tests', logger, () => undefined);
    const [server, worker, projector] = [new ApiServer(deployment), new Worker(deployment), new Projector(deployment)];
    await worker.start();
    await projector.start();
    const starter: InlineExecutionStarter = worker.inlineStarter;
    @Module({ imports: [InfraModule.forRoot(deployment, starter), ApiModule.forRoot(deployment, server.edge)] })
    class StartedModule {}
    await server.listen(StartedModule);
    const { port } = server.edge.adapter.getInstance().server.address() as { port: number };
    const url = `http://127.0.0.1:${port}`;
    return new PeopleBench(deployment, prepared, url, { database, stateDir, server, worker, projector });
  }

  get org(): OrgId {
    return this.prepared.org;
  }

  get owner(): UserId {
    return this.prepared.owner;
  }

  get adminKey(): Record<string, string> {
    return { Authorization: `Bearer ${this.prepared.adminKey ?? ''}` };
  }

  get connectionString(): string {
    return this.parts.database.connectionString;
  }

  get agentKey(): Record<string, string> {
    return { Authorization: `Bearer ${this.prepared.agentKey ?? ''}` };
  }

  browser(address?: string): Browser {
    return new Browser(this.url, address);
  }

  link(token: string): string {
    return signInLink(BASE_URL, token);
  }

  /** The owner, signed in by a link of the operator's. */
  async ownerBrowser(): Promise<Browser> {
    const metadata = operatorMetadata(this.deployment, this.org);
    const browser = this.browser();
    const answer = await browser.use(await this.deployment.persons().issueLink(this.org, this.owner, metadata));
    expect(answer.status).toBe(200);
    return browser;
  }

  async giveAddress(user: UserId, email: string): Promise<void> {
    const metadata = operatorMetadata(this.deployment, this.org);
    await this.deployment.persons().setAddress(this.org, user, requireMailAddress(email), metadata);
  }

  /** The next mail to an address that was not read yet. */
  async mail(to: string): Promise<ReceivedMail> {
    return vi.waitFor(
      async () => {
        const waiting = await this.deployment.people.desk.waiting();
        const found = waiting.find(({ id, mail }) => mail.to === to && !this.read.has(id));
        if (!found) throw new Error(`no mail to ${to}`);
        this.read.add(found.id);
        const { text } = found.mail;
        const token = /#token=([A-Za-z0-9_-]{43})/.exec(text)?.[1] ?? '';
        return { to, text, token, code: /^(\d{6})$/m.exec(text)?.[1] ?? null };
      },
      { timeout: 20_000, interval: 20 },
    );
  }

  /** Invited by the owner, joined, and signed in. */
  async member(owner: Browser, email: string, role: string): Promise<Browser> {
    const invited = await owner.post('/v1/org/members', { email, role });
    expect(invited.status).toBe(201);
    const browser = this.browser();
    const answer = await browser.use((await this.mail(email)).token);
    expect(answer.status).toBe(200);
    return browser;
  }

  /** What is done while this service’s clock is ahead. */
  async later<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
    const { clock } = this.deployment;
    const now = clock.nowMs.bind(clock);
    const moved = vi.spyOn(clock, 'nowMs').mockImplementation(() => now() + ms);
    try {
      return await work();
    } finally {
      moved.mockRestore();
    }
  }

  async close(): Promise<void> {
    const { database, stateDir, server, worker, projector } = this.parts;
    worker.takeUpNothingMore();
    await server.drain(5_000);
    await worker.stop(5_000);
    await projector.stop();
    await server.close();
    await this.deployment.close();
    await removeStateDir(stateDir);
    await database.drop();
  }
}
