import type { IntentMode } from '#libs/domain/agents';
import { AddIntentKey, ChangeAgent } from '#libs/domain/agents/handlers';
import pg from 'pg';
import {
  createSignedIntent,
  digestOfJson,
  type IntentClaims,
  type JsonObject,
  type SigningKey,
  SigningKey as Keys,
} from '#libs/crypto';
import type { ActionRequest, LivingAction, SubmitAction, SubmittedAction } from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';
import { PostgresEventStore } from '#libs/infra/event-store';
import { PostgresIntentNonces } from '#libs/infra/gate';
import { createWholeDatabase } from './database.js';
import { GateBench, ManualStarter } from './gate-bench.js';

const ARGS: JsonObject = { name: 'Ada' };
const TOOL = 'crm.update';

const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/customers', args: { id: { in: 'query', type: 'string' } } },
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];

/** What a call is sent with; the intent fits it unless a test changes one of the two. */
export type SignedCall = Partial<ActionRequest> & { readonly since?: SubmitAction['since'] };

/** A gate on PostgreSQL, log and nonces, whose agent has one intent key. Nothing is sent: what is accepted is left to lie. */
export class IntentScene {
  readonly key: SigningKey = Keys.generate();
  readonly starter: ManualStarter;

  private constructor(
    readonly bench: GateBench,
    readonly pool: pg.Pool,
    readonly nonces: PostgresIntentNonces,
    private readonly drop: () => Promise<void>,
  ) {
    this.starter = new ManualStarter(bench.executorId, null);
  }

  static async open(mode: IntentMode = 'optional'): Promise<IntentScene> {
    const database = await createWholeDatabase();
    const { connectionString } = database;
    const pool = new pg.Pool({ connectionString, max: 8 });
    pool.on('error', () => undefined);
    const common = { connectionString, applicationName: 'intents', onConnectionLost: () => undefined };
    const store = new PostgresEventStore(common);
    const nonces = new PostgresIntentNonces(pool);
    const bench = await new GateBench(store, {}, nonces).prepare('http://127.0.0.1:9', TOOLS);
    const scene = new IntentScene(bench, pool, nonces, async () => {
      await bench.executor.idle();
      bench.close();
      await store.close();
      await pool.end();
      await database.drop();
    });
    await scene.register(scene.key);
    await scene.setMode(mode);
    return scene;
  }

  close(): Promise<void> {
    return this.drop();
  }

  async register(key: SigningKey): Promise<void> {
    const { org, agent } = this.bench;
    await this.bench.commands.execute(new AddIntentKey(org, agent, key.publicKey.text, this.bench.metadata()));
  }

  async setMode(mode: IntentMode): Promise<void> {
    const { org, agent } = this.bench;
    await this.bench.commands.execute(new ChangeAgent(org, agent, { intentMode: mode }, this.bench.metadata()));
  }

  /** Of a call of this agent that is made now. */
  claims(changes: Partial<IntentClaims> = {}): IntentClaims {
    const { org, agent, clock } = this.bench;
    const iat = clock.nowMs();
    return { org, agent, tool: TOOL, args_digest: digestOfJson(ARGS), iat, exp: iat + 60_000, ...changes };
  }

  sign(changes: Partial<IntentClaims> = {}, key = this.key): string {
    return createSignedIntent(this.claims(changes), key).header;
  }

  /** With the header, unless the test says `intent` itself. */
  call(header: string, { since, ...request }: SignedCall = {}): Promise<SubmittedAction> {
    const whole = { tool: TOOL, args: ARGS, intent: [header], ...request };
    return this.bench.submit(whole, this.bench.handler(this.starter), this.bench.metadata(), since);
  }

  async recorded(id: ActionId): Promise<LivingAction> {
    return (await this.bench.action(id, ({ state }) => state !== 'none')) as LivingAction;
  }

  /** How many actions the log holds, abandoned ids not counted. */
  async countActions(): Promise<number> {
    const { rows } = await this.pool.query<{ n: string }>(
      `select count(*) as n from event_store.events where type = 'ActionSubmitted'`,
    );
    return Number(rows[0]?.n);
  }

  async countNonces(): Promise<number> {
    const { rows } = await this.pool.query<{ n: string }>(`select count(*) as n from gate.intent_nonces`);
    return Number(rows[0]?.n);
  }
}
