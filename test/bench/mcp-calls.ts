import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MCP_META, MCP_MODERN } from '#libs/domain/kernel';
import { allowBenchCrm } from './bench-crm.js';
import type { BenchService } from './bench-service.js';
import { BENCH_ARGS, BENCH_TOOL, change } from './calls-in-turns.js';
import { against, print, say } from './figure.js';
import { type LeanAnswer, LeanClient, leanRequest } from './lean-client.js';
import { quantile } from './pace.js';
import { busyMsOf } from './processes.js';

const CLIENTS = 32;
/** Calls of one way for so long, then of the next, and again: what drifts in a machine is in all of them. */
const ROUND_SECONDS = 2;
/** Of each way: what the compiler needs to have seen most of the code often enough. */
const WARM_UP_SECONDS = 10;

/** A way to the same tool. */
interface Way {
  readonly target: URL;
  readonly request: Buffer;
  readonly isDone: (answer: LeanAnswer) => boolean;
}

/** What the calls of one way took, each and all rounds together. */
class Taken {
  readonly callsMs: number[] = [];
  roundsMs = 0;
  /** Of the service's processor. */
  busyMs = 0;

  quantile(share: number): number {
    return quantile(this.callsMs, share);
  }

  get perSecond(): number {
    return (this.callsMs.length * 1_000) / this.roundsMs;
  }

  clear(): void {
    this.callsMs.length = 0;
    this.roundsMs = 0;
    this.busyMs = 0;
  }
}

/**
 * A call of an MCP server's tool through the door `/mcp/<connector>`, in units of the same call by `POST /v1/actions`, in turns:
 * one call after another, then by so many clients at once. Beside them, on standard error, the same call of the server itself.
 */
export const mcpCalls = async (service: BenchService, seconds: number): Promise<void> => {
  const server = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [address] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  try {
    await connectServer(service, address);
    const ways = [throughTheDoor(service), asAnAction(service), toTheServer(address)];
    say(
      `one call after another through /mcp, by POST /v1/actions and to the server itself, in turns, ${seconds} s each ...`,
    );
    const [door, action] = await inTurns(service, ways, { clients: 1, seconds });
    print(against('mcp_call_p50', [door.quantile(0.5), action.quantile(0.5)], 'ms'), service.profile);
    say(`${CLIENTS} clients, each sending its next call when the last has ended ...`);
    const [manyDoor, manyAction] = await inTurns(service, ways, { clients: CLIENTS, seconds });
    print(against('mcp_calls_per_second', [manyDoor.perSecond, manyAction.perSecond], 'calls/s'), service.profile);
  } finally {
    server.kill();
  }
};

const PROGRAM = fileURLToPath(new URL('mcp-server.child.js', import.meta.url));
const [CONNECTOR = '', TOOL = ''] = BENCH_TOOL.split('.');

const connectServer = async (service: BenchService, url: string): Promise<void> => {
  const config = { url, auth: { kind: 'none' } };
  await change(service, 'POST', '/v1/connectors', { type: 'mcp_http', name: CONNECTOR, config });
  await change(service, 'POST', `/v1/connectors/${CONNECTOR}/tools/refresh`, {});
  await allowBenchCrm(service);
};

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: TOOL,
    arguments: BENCH_ARGS,
    _meta: { [`${MCP_META}/protocolVersion`]: MCP_MODERN, [`${MCP_META}/clientCapabilities`]: {} },
  },
};

const callRequest = (path: string, headers: Record<string, string>): Buffer => {
  const own = { 'MCP-Protocol-Version': MCP_MODERN, 'Mcp-Method': CALL.method, 'Mcp-Name': CALL.params.name };
  const accepted = { Accept: 'application/json, text/event-stream' };
  return leanRequest('POST', path, { ...headers, ...own, ...accepted }, JSON.stringify(CALL));
};

const bearer = ({ agentKey }: BenchService): Record<string, string> => ({ Authorization: `Bearer ${agentKey}` });

const throughTheDoor = (service: BenchService): Way => ({
  target: new URL(service.baseUrl),
  request: callRequest(`/mcp/${CONNECTOR}`, bearer(service)),
  isDone: ({ body }) => body.includes('"service/deed":"deed_') && body.includes('Noted.'),
});

const asAnAction = (service: BenchService): Way => ({
  target: new URL(service.baseUrl),
  request: leanRequest('POST', '/v1/actions', bearer(service), JSON.stringify({ tool: BENCH_TOOL, args: BENCH_ARGS })),
  isDone: ({ body }) => body.includes('"state":"sealed"') && body.includes('Noted.'),
});

const toTheServer = (address: string): Way => ({
  target: new URL(address),
  request: callRequest(new URL(address).pathname, {}),
  isDone: ({ body }) => body.includes('Noted.'),
});

/** @returns of each way, in the order given */
const inTurns = async (
  { processes }: BenchService,
  ways: readonly Way[],
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
): Promise<[Taken, Taken, Taken]> => {
  const lanes = ways.map((way) => new Lane(way, clients));
  const busyMs = async (): Promise<number> => (await busyMsOf(processes)).service;
  const round = async (length: number): Promise<void> => {
    for (const lane of lanes) {
      const before = await busyMs();
      await lane.run(length);
      lane.taken.busyMs += (await busyMs()) - before;
    }
  };
  await round(WARM_UP_SECONDS);
  for (const { taken } of lanes) taken.clear();
  for (let left = seconds; left > 0; left -= ROUND_SECONDS) await round(Math.min(left, ROUND_SECONDS));
  const [door, action, direct] = lanes.map(({ taken }) => taken) as [Taken, Taken, Taken];
  say(`/mcp ${told(door)}; POST /v1/actions ${told(action)}; the server itself ${told(direct)}`);
  return [door, action, direct];
};

const told = (taken: Taken): string => {
  const ms = (share: number): string => taken.quantile(share).toFixed(2);
  const busyMs = (taken.busyMs / taken.callsMs.length).toFixed(2);
  return `p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms, ${taken.perSecond.toFixed(0)} calls/s, ${busyMs} ms of the service’s processor a call`;
};

/** The clients of one way. */
class Lane {
  readonly taken = new Taken();

  constructor(
    private readonly way: Way,
    private readonly clients: number,
  ) {}

  /**
   * Calls that began in time count, and the time until the last of them ended. Each client has a connection of its own for the
   * round: one that rests while the other ways have their turn may be closed by whoever it leads to.
   */
  async run(seconds: number): Promise<void> {
    const connected = Array.from({ length: this.clients }, () => LeanClient.connect(this.way.target));
    const clients = await Promise.all(connected);
    const begun = performance.now();
    const end = begun + seconds * 1_000;
    await Promise.all(clients.map((client) => this.callUntil(end, client)));
    this.taken.roundsMs += performance.now() - begun;
    for (const client of clients) client.close();
  }

  private async callUntil(end: number, client: LeanClient): Promise<void> {
    while (performance.now() < end) {
      const begun = performance.now();
      const answer = await client.send(this.way.request);
      this.taken.callsMs.push(performance.now() - begun);
      if (!this.way.isDone(answer)) throw new Error(`a call did not end well: ${answer.body}`);
    }
  }
}
