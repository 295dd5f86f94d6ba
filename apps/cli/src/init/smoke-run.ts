import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '../demo/person.js';
import { type Answer, member, type ScratchService } from '../demo/scratch-service.js';

/** What was asked of the service, and what it answered, in one line. */
export interface Seen {
  /** Whether it is what the starter policy and the witness promise. */
  readonly isSo: boolean;
  readonly said: string;
}

const QUERY = { tool: 'demo.query', args: { sql: 'SELECT count(*) AS customers FROM customers' } };
const DELETE = { tool: 'demo.execute', args: { sql: 'DELETE FROM refunds' } };
const UPDATE = {
  tool: 'demo.execute',
  args: { sql: 'UPDATE refunds SET status = $1 WHERE id = $2', params: ['paid', 2] },
};

/** Of an answer that waits for the action. */
const WAIT_SECONDS = 25;
const SEALED_DEADLINE_MS = 60_000;
const LOOK_AGAIN_MS = 100;
/** As many columns of a changed row as fit into a line. */
const CHANGED_COLUMNS = 3;

/** Three calls of an agent by the public API: what init shows to whoever sets the service up. */
export class SmokeRun {
  constructor(
    private readonly service: ScratchService,
    /** The owner of the organization, signed in. */
    private readonly owner: Person,
    private readonly agentKey: string,
  ) {}

  /** A read, which the starter policy allows. */
  async query(): Promise<Seen> {
    const { status, json } = await this.submit(QUERY);
    const counted = member(json, 'execution', 'result', 'rows', '0', 'customers');
    const isSo = status === 200 && json['status'] === 'executed' && Number(counted) > 0;
    return isSo
      ? seen(QUERY, `executed: ${String(counted)} customers, sealed as ${String(json['deed'])}`)
      : unexpected(QUERY, { status, json });
  }

  /** A DELETE without WHERE, which the starter policy refuses. */
  async refusal(): Promise<Seen> {
    const answer = await this.submit(DELETE);
    const { code, message } = errorOf(answer);
    const isSealed = member(answer.json, 'error', 'action', 'state') === 'sealed';
    return code === 'policy_denied' && isSealed
      ? seen(DELETE, `policy_denied: ${message}`)
      : unexpected(DELETE, answer);
  }

  /** A change that waits for a person; with the owner's yes it runs, and the database's own change log confirms it. */
  async approval(): Promise<Seen> {
    const held = await this.submit(UPDATE);
    if (held.json['status'] !== 'pending_approval') return unexpected(UPDATE, held);
    const approved = await this.approved(`/v1/approvals/${String(member(held.json, 'approval', 'id'))}`);
    if (approved.status >= 300) return unexpected(UPDATE, approved);
    const ended = await this.sealed(String(held.json['id']));
    const [level, verdict] = ['level', 'verdict'].map((name) => member(ended.json, 'witness', name));
    const diffRows = Number(member(ended.json, 'witness', 'diff_rows') ?? 0);
    if (level !== 'L2' || verdict !== 'VERIFIED' || diffRows < 1) return unexpected(UPDATE, ended);
    const changed = changedRow(ended) ?? String(member(ended.json, 'witness', 'summary'));
    return seen(
      UPDATE,
      `pending_approval, approved by the owner, executed: VERIFIED at L2 by the change log, ${diffRows} changed ` +
        `${diffRows === 1 ? 'row' : 'rows'} (${changed}), sealed as ${String(ended.json['deed'])}`,
    );
  }

  private submit(call: object): Promise<Answer> {
    return this.service.call('POST', '/v1/actions', { key: this.agentKey, body: { ...call, wait: WAIT_SECONDS } });
  }

  /** As a page does it: what was looked at is what is approved. */
  private async approved(path: string): Promise<Answer> {
    const shown = await this.owner.send('GET', path);
    return this.owner.send('POST', `${path}/approve`, { context_digest: shown.json['context_digest'] });
  }

  /** As the owner sees it, once it is sealed; as it is when the time is over. */
  private async sealed(action: string): Promise<Answer> {
    for (const startedAt = performance.now(); ; await sleep(LOOK_AGAIN_MS)) {
      const answer = await this.owner.send('GET', `/v1/actions/${action}?wait=${WAIT_SECONDS}`);
      const isOver = performance.now() - startedAt > SEALED_DEADLINE_MS;
      if (answer.json['state'] === 'sealed' || answer.status >= 300 || isOver) return answer;
    }
  }
}

const lineOf = ({ tool, args }: typeof DELETE): string => `${tool} "${args.sql}"`;

const seen = (call: typeof DELETE, outcome: string): Seen => ({ isSo: true, said: `${lineOf(call)} → ${outcome}` });

const unexpected = (call: typeof DELETE, answer: Pick<Answer, 'status' | 'json'>): Seen => {
  const { code, message } = errorOf(answer);
  const { json } = answer;
  const witness = [member(json, 'witness', 'verdict'), member(json, 'witness', 'level')].filter(Boolean).join(' at ');
  const outcome =
    code === undefined
      ? [json['status'], member(json, 'execution', 'status'), witness].filter(Boolean).map(String).join(', ')
      : `${code}: ${message}`;
  return { isSo: false, said: `${lineOf(call)} → ${answer.status} ${outcome}` };
};

/** `code` is undefined where it is no error. */
const errorOf = ({ json }: Pick<Answer, 'json'>): { readonly code: string | undefined; readonly message: string } => {
  const code = member(json, 'error', 'code');
  return { code: typeof code === 'string' ? code : undefined, message: String(member(json, 'error', 'message')) };
};

/** The first row of the evidence: its table, and what is another value now. Null where the evidence holds none. */
const changedRow = ({ json }: Answer): string | null => {
  const row = member(json, 'witness', 'detail', 'rows', '0');
  const [before, after] = [member(row, 'old'), member(row, 'new')];
  if (typeof after !== 'object' || after === null) return null;
  const changes = Object.keys(after)
    .filter((name) => member(before, name) !== member(after, name))
    .map((name) => `${name} ${String(member(before, name))} → ${String(member(after, name))}`);
  const said = changes.length === 0 ? 'as it was' : changes.slice(0, CHANGED_COLUMNS).join(', ');
  return `${String(member(row, 'table'))}: ${said}`;
};
