import { Agent, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

/** What comes back of a request. */
export interface BalancedAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

const HEALTH_INTERVAL_MS = 50;
const REFUSED_WHILE_DRAINING = 'The service is shutting down.';

/**
 * What stands in front of several apis: keeps connections, asks each for its health, sends nothing more to one that drains or
 * refuses connections, and sends on what that one has certainly not taken in. Anything else that goes wrong is its client's.
 */
export class LoadBalancer {
  private readonly agent = new Agent({ keepAlive: true });
  private readonly out = new Set<string>();
  private readonly probes: NodeJS.Timeout;
  private turn = 0;
  /** Requests that came to one that drained, and were sent to another. */
  sentOn = 0;

  constructor(private readonly targets: () => readonly string[]) {
    this.probes = setInterval(() => void this.probe(), HEALTH_INTERVAL_MS);
  }

  async send(method: string, path: string, key: string, body?: object): Promise<BalancedAnswer> {
    for (;;) {
      const target = this.next();
      const answer = await this.ask(target, method, path, { Authorization: `Bearer ${key}` }, body);
      if (answer !== null) return answer;
      this.out.add(target);
      this.sentOn += 1;
    }
  }

  close(): void {
    clearInterval(this.probes);
    this.agent.destroy();
  }

  private next(): string {
    const there = this.targets().filter((target) => !this.out.has(target));
    const target = there[(this.turn += 1) % there.length];
    if (target === undefined) throw new Error('no api is there');
    return target;
  }

  private async probe(): Promise<void> {
    const asked = this.targets().filter((target) => !this.out.has(target));
    for (const target of asked) {
      const answer = await this.ask(target, 'GET', '/v1/health', {}).catch(() => 'ask again');
      if (answer === null || (typeof answer === 'object' && answer.json['status'] === 'draining')) this.out.add(target);
    }
  }

  /** Null where it was certainly not taken in. */
  private async ask(
    target: string,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<BalancedAnswer | null> {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const outgoing = request(target + path, { method, agent: this.agent, headers: { ...headers, ...type } });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    try {
      const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
      let text = '';
      for await (const chunk of incoming) text += String(chunk);
      const json = JSON.parse(text) as BalancedAnswer['json'];
      const { message } = (json['error'] ?? {}) as { readonly message?: string };
      if (incoming.statusCode === 503 && message?.startsWith(REFUSED_WHILE_DRAINING)) return null;
      return { status: incoming.statusCode ?? 0, json };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return null;
      throw error;
    }
  }
}
