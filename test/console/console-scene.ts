import type { Browser, BrowserContext, Page } from 'playwright-core';
import { vi } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { runAgsHere } from '../support/run-ags.js';
import { type Answer, type RunningService, startService } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

export const OWNER = 'owner@example.com';
export const VIEWER = 'viewer@example.com';

const POLICY = `version: 1
default: deny
rules:
  - id: no-exports
    description: Nobody takes the list of customers with them
    match:
      tools:
        - crm.export_customers
    decision: deny
    message: Lists of customers are never exported by an agent.
  - id: closing-needs-a-person
    description: Closing an account cannot be taken back
    match:
      tools:
        - crm.close_account
    decision: require_approval
  - id: notes-are-read
    description: A note is read by a person before it is stored
    match:
      tools:
        - crm.add_note
    decision: require_approval
  - id: crm
    description: All else in the CRM is free
    match:
      tools:
        - crm.*
    decision: allow
`;

const id = { in: 'path', type: 'string', required: true };
const text = { in: 'body', type: 'string' };

const TOOLS = [
  { name: 'get_customer', description: 'Read a customer', method: 'GET', path: '/v1/customers/{id}', args: { id } },
  { name: 'get_status', description: 'Read a status', method: 'GET', path: '/v1/customers/{id}/status', args: { id } },
  {
    name: 'set_status',
    description: 'Change the status of a customer',
    method: 'POST',
    path: '/v1/customers/{id}/status',
    args: { id, status: text },
    readback: { tool: 'get_status', args: { id: '{{args.id}}' }, expect: { 'body.status': '{{args.status}}' } },
  },
  {
    name: 'add_note',
    title: 'write a note about a customer',
    description: 'Kept for as long as the customer is one',
    method: 'POST',
    path: '/v1/customers/{id}/notes',
    args: {
      id,
      note: text,
      amount: { in: 'body', type: 'integer', money: { currency: 'eur' } },
      tags: { in: 'body', type: 'array' },
    },
  },
  {
    name: 'close_account',
    description: 'Close the account of a customer',
    method: 'DELETE',
    path: '/v1/customers/{id}',
    args: { id },
  },
  { name: 'export_customers', description: 'Export all customers', method: 'GET', path: '/v1/customers', args: {} },
];

/**
 * A stand-in for a CRM. A status that is set to `lost` is stored as `active`, so that its read-back gives a mismatch.
 */
const crm = () => {
  const statuses = new Map<string, string>();
  return startUpstream(({ method, path, body }, response) => {
    const [, , , customer = ''] = path.split('/');
    if (method === 'POST' && path.endsWith('/status')) {
      const asked = (JSON.parse(body) as { status?: string }).status ?? '';
      statuses.set(customer, asked === 'lost' ? 'active' : asked);
    }
    const failed = customer === 'gone';
    const answer = { id: customer, status: statuses.get(customer) ?? 'active', name: 'Ada Möller' };
    response
      .writeHead(failed ? 404 : 200, { 'content-type': 'application/json' })
      .end(JSON.stringify(failed ? { error: 'no such customer' } : answer));
  });
};

/** The real service with a policy, a connector, agents and people, and signed-in browser windows. */
export class ConsoleScene {
  /** Ids of mails that a test has used. */
  private readonly read = new Set<unknown>();
  private readonly states = new Map<string, Awaited<ReturnType<BrowserContext['storageState']>>>();

  private constructor(
    readonly service: RunningService,
    readonly upstream: Upstream,
    private readonly browser: Browser,
  ) {}

  /** @param port the service's port, for tests that start it again on the same one; by default any free port */
  static async start(browser: Browser, port = 0): Promise<ConsoleScene> {
    const env = { LOG_LEVEL: 'error', SERVICE_PORT: String(port) };
    const [service, upstream] = await Promise.all([startService({ env }), crm()]);
    const scene = new ConsoleScene(service, upstream, browser);
    await scene.furnish();
    return scene;
  }

  startAgain(): Promise<void> {
    return this.service.restart();
  }

  async close(): Promise<void> {
    await this.service.stop();
    await this.upstream.close();
  }

  url(path: string): string {
    return `${this.service.baseUrl}${path}`;
  }

  /**
   * Sends a request with the admin key.
   * @throws {Error} if the service refuses it
   */
  async make(method: string, path: string, body?: unknown): Promise<JsonObject> {
    const call = { key: this.service.adminKey, ...(body === undefined ? {} : { body }) };
    const answer = await this.service.call(method, path, call);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as JsonObject;
  }

  async agentKey(name: string, others: JsonObject = {}): Promise<string> {
    const made = await this.make('POST', '/v1/agents', {
      name,
      ...others,
      key: { scopes: ['actions:execute', 'actions:read'] },
    });
    return made['secret'] as string;
  }

  /**
   * Submits a call.
   * @returns the action, whether the call ran or was denied
   */
  async act(
    tool: string,
    args: JsonObject,
    { key = this.service.agentKey, headers = {} }: { key?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<JsonObject> {
    const answer: Answer = await this.service.call('POST', '/v1/actions', {
      key,
      headers,
      body: { tool, args, wait: tool === 'crm.add_note' || tool === 'crm.close_account' ? 0 : 10 },
    });
    return (answer.json['object'] === 'action' ? answer.json : answer.error['action']) as JsonObject;
  }

  /**
   * Submits a call that waits for approval.
   * @returns the approval's id
   */
  async ask(tool: string, args: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const action = await this.act(tool, args, { headers });
    return (action['approval'] as JsonObject)['id'] as string;
  }

  /**
   * Opens a browser window in which a person is signed in. The first window of a person signs in with a mail code;
   * later ones reuse its cookies.
   */
  async window(
    email: string,
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ readonly context: BrowserContext; readonly page: Page; readonly complaints: string[] }> {
    const known = this.states.get(email) ?? (await this.signIn(email));
    const context = await this.browser.newContext({ ...options, storageState: known });
    const page = await context.newPage();
    const complaints: string[] = [];
    await page.exposeFunction('report', (complaint: string) => complaints.push(complaint));
    await page.addInitScript(
      "addEventListener('securitypolicyviolation', (event) => report(event.violatedDirective + ' ' + event.blockedURI))",
    );
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text());
    });
    return { context, page, complaints };
  }

  /**
   * Signs the same person in a second time.
   * @returns the browser's cookies and storage
   */
  signedInAnew(email: string) {
    return this.signIn(email);
  }

  private async signIn(email: string) {
    const context = await this.browser.newContext();
    const page = await context.newPage();
    await page.goto(this.url('/login?next=%2Fapp%2Factions'));
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send the e-mail' }).click();
    await page.getByLabel('Code from the e-mail').fill(await this.nextInMail(email, /^(\d{6})$/m));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/app/actions');
    const state = await context.storageState();
    await context.close();
    this.states.set(email, state);
    return state;
  }

  /**
   * The part of an unread mail to somebody that matches. Waits until there is such a mail; the mailbox may hold mails
   * about approvals, too.
   */
  private nextInMail(to: string, part: RegExp): Promise<string> {
    return vi.waitFor(
      async () => {
        const { objects } = await runAgsHere(['mail', 'outbox', '--json'], { env: this.service.environment });
        const isNew = (mail: Readonly<Record<string, unknown>>): boolean =>
          mail['to'] === to && !this.read.has(mail['id']) && part.test(String(mail['text']));
        const mail = objects.findLast(isNew);
        if (mail === undefined) throw new Error('no new mail');
        this.read.add(mail['id']);
        return part.exec(String(mail['text']))?.[1] ?? '';
      },
      { timeout: 60_000, interval: 500 },
    );
  }

  private async furnish(): Promise<void> {
    const ags = (...args: string[]) => runAgsHere(args, { env: this.service.environment });
    const { object } = await ags('people', 'login-link', '--json');
    const given = await ags('people', 'set-address', String(object['user']), OWNER);
    if (given.code !== 0) throw new Error(given.stderr);
    await this.make('PATCH', '/v1/org', { name: 'Nordlicht GmbH', timezone: 'Europe/Vienna' });
    await this.make('POST', '/v1/connectors', {
      type: 'rest',
      name: 'crm',
      config: {
        base_url: this.upstream.baseUrl,
        auth: { kind: 'none' },
        allowed_methods: ['GET', 'POST', 'DELETE'],
        allowed_path_prefixes: ['/v1/customers'],
        tools: TOOLS,
      },
    });
    const policy = await this.make('POST', '/v1/policies', { name: 'support', source: POLICY });
    await this.make('POST', `/v1/policies/${policy['id'] as string}/versions/1/activate`, { mode: 'enforce' });
  }

  async joinedViewer(): Promise<void> {
    await this.joinedAs('viewer', VIEWER);
  }

  /** Invites a person with a role, who joins by the link in the mail. */
  async joinedAs(role: 'viewer' | 'admin', email: string): Promise<void> {
    await this.make('POST', '/v1/org/members', { email, role });
    this.states.set(email, await this.joined(email));
  }

  /**
   * Makes another organization of which the owner is an admin. Later windows of the owner begin there.
   * @returns its name
   */
  async besides(name: string): Promise<string> {
    const ags = (...args: string[]) => runAgsHere(args, { env: this.service.environment });
    const { object } = await ags('org', 'create', name, '--json');
    const invited = await this.service.call('POST', '/v1/org/members', {
      key: object['admin_key'] as string,
      body: { email: OWNER, role: 'admin' },
    });
    if (invited.status !== 201) throw new Error(invited.text);
    this.states.set(OWNER, await this.joined(OWNER));
    return name;
  }

  /**
   * Joins by the link that was mailed to somebody.
   * @returns the browser's cookies and storage
   */
  private async joined(email: string) {
    const link = await this.nextInMail(email, /(http\S+\/auth\/confirm#token=\S+)/);
    const context = await this.browser.newContext();
    const page = await context.newPage();
    await page.goto(link.replace(/^https?:\/\/[^/]+/, this.service.baseUrl));
    await page.getByRole('button', { name: 'Join and sign in' }).click();
    await page.waitForURL('**/app');
    const state = await context.storageState();
    await context.close();
    return state;
  }
}
