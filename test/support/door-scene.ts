import { expect, vi } from 'vitest';
import { Furnisher } from '../http/access-matrix/furniture.js';
import { McpClient, type RpcReplied } from './mcp-client.js';
import type { ScriptedServer } from './mcp-server.js';
import { type Browser, PeopleBench } from './people-bench.js';

type Json = Record<string, unknown>;

/** For whatever the service does by itself. */
export const PATIENCE = { timeout: 20_000, interval: 20 };
/** Of a client that takes tasks. */
export const TASKS = { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
const POLICY = `version: 1
default: deny
rules:
  - id: asked
    match:
      tools:
        - srv.ask
    decision: require_approval
  - id: others
    match:
      tools:
        - "*.*"
    decision: allow
`;

/** An agent, and whoever calls as it. */
export interface DoorAgent {
  readonly id: string;
  readonly key: string;
  /** At a door: `/mcp/srv` unless another is said. */
  at(door?: string): McpClient;
}

/** The whole service in this process, MCP servers behind it, an owner who is signed in, and agents at its door. */
export class DoorScene {
  private constructor(
    readonly bench: PeopleBench,
    readonly owner: Browser,
    readonly furnisher: Furnisher,
  ) {}

  /** With `POLICY` enforced. */
  static async start(): Promise<DoorScene> {
    const bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
    const owner = await bench.ownerBrowser();
    const scene = new DoorScene(bench, owner, new Furnisher(bench, owner));
    await scene.enforce(POLICY);
    return scene;
  }

  async enforce(source: string): Promise<void> {
    const { id } = await this.furnisher.make('POST', '/v1/policies', { name: 'MCP', source });
    await this.furnisher.make('POST', `/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' });
  }

  /** Its list is read before this resolves. */
  async connect(name: string, server: Pick<ScriptedServer, 'url'>, config: Json = {}): Promise<void> {
    const url = server.url.replace('mcp.example', '127.0.0.1');
    const whole = { url, auth: { kind: 'none' }, ...config };
    await this.furnisher.make('POST', '/v1/connectors', { type: 'mcp_http', name, config: whole });
    await vi.waitFor(async () => {
      const { json } = await this.owner.get(`/v1/connectors/${name}/tools`);
      expect(json['data']).not.toEqual([]);
    }, PATIENCE);
  }

  async agent(name: string): Promise<DoorAgent> {
    const made = await this.furnisher.make('POST', '/v1/agents', { name, key: { scopes: ['actions:execute'] } });
    const secret = String((made['key'] as { secret?: string }).secret ?? made['secret']);
    return {
      id: String(made['id']),
      key: secret,
      at: (door = '/mcp/srv') => new McpClient(`${this.bench.url}${door}`, { Authorization: `Bearer ${secret}` }),
    };
  }

  /** Calls that wait for a person, the oldest first. */
  async waiting(agent: DoorAgent): Promise<string[]> {
    const { json } = await this.owner.get('/v1/approvals?status=pending&limit=100');
    const pending = json['data'] as { action: string; agent: { id: string } | string }[];
    const isOf = (one: (typeof pending)[number]): boolean => JSON.stringify(one.agent).includes(agent.id);
    return pending.filter(isOf).map(({ action }) => action);
  }

  /** The first call of the agent that waits for a person, once there is one. */
  async asked(agent: DoorAgent): Promise<string> {
    return vi.waitFor(async () => {
      const [action] = await this.waiting(agent);
      if (action === undefined) throw new Error('nobody was asked yet');
      return action;
    }, PATIENCE);
  }

  async decide(action: string, decision: 'approve' | 'deny') {
    const path = `/v1/approvals/${action.replace('act_', 'apr_')}`;
    const { json } = await this.owner.get(path);
    return this.owner.post(`${path}/${decision}`, { context_digest: json['context_digest'] });
  }

  async action(id: unknown): Promise<Json> {
    return (await this.owner.get(`/v1/actions/${String(id)}`)).json;
  }

  /** How many actions of the agent there are. */
  async actionsOf({ id }: DoorAgent): Promise<number> {
    const { json } = await this.owner.get(`/v1/actions?agent=${id}&limit=100`);
    return (json['data'] as unknown[]).length;
  }

  close(): Promise<void> {
    return this.bench.close();
  }
}

export const metaOf = ({ result }: RpcReplied): Json => result['_meta'] as Json;

export const textOf = ({ result }: RpcReplied): string =>
  (result['content'] as { text: string }[]).map(({ text }) => text).join('\n');

export const namesIn = ({ result }: RpcReplied): string[] =>
  (result['tools'] as { name: string }[]).map(({ name }) => name);
