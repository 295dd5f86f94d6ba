import type { Prepared } from '#libs/infra/deployment';
import type { CustomerRecords } from './customer-records.js';
import { member, type Answer, type ScratchService } from './scratch-service.js';
import type { PaymentsProcessor } from './payments-processor.js';
import type { Story } from './story.js';
import type { TicketServer } from './ticket-server.js';

/** What the scenes play with. */
export interface Stage {
  readonly story: Story;
  readonly service: ScratchService;
  readonly records: CustomerRecords;
  readonly tickets: TicketServer;
  readonly processor: PaymentsProcessor;
  readonly prepared: Prepared;
  readonly adminKey: string;
  readonly agentKey: string;
  /** Where the bundle is written: removed with everything else. */
  readonly folder: string;
}

export const EXPORTS_A_DAY = 2;
/** In cents. */
export const REFUNDS_A_DAY = 4_000;

const POLICY = `version: 1
default: deny
rules:
  - id: never-delete
    match:
      tools:
        - crm.delete_*
    decision: deny
    message: Customers are never deleted by an agent.
  - id: closing
    match:
      tools:
        - crm.close_account
    decision: require_approval
    approval:
      required: 2
  - id: rows-stay
    match:
      tools:
        - demo.*
      side_effect: destructive
    decision: deny
    message: Agents delete no rows of the shop.
  - id: changed-rows
    match:
      tools:
        - demo.*
      side_effect: write
    decision: require_approval
  - id: read-rows
    match:
      tools:
        - demo.query
    decision: allow
  - id: small-refunds
    match:
      tools:
        - pay.create_refund
    when: has(request.payments) && request.payments.disputed == false && args.amount <= 5000
    decision: allow
  - id: customers
    match:
      tools:
        - crm.*
        - tickets.*
    decision: allow
budgets:
  - id: exports
    match:
      tools:
        - crm.export_*
    period: day
    max_calls: ${EXPORTS_A_DAY}
  - id: refunds
    match:
      tools:
        - pay.create_refund
    period: day
    max_spend:
      amount: ${REFUNDS_A_DAY}
      currency: eur
`;

const CUSTOMER = { in: 'path', type: 'string', required: true, description: 'Customer id' };

const configOf = (baseUrl: string) => ({
  base_url: baseUrl,
  auth: { kind: 'bearer' },
  allowed_methods: ['GET', 'POST', 'DELETE'],
  allowed_path_prefixes: ['/customers'],
  tools: [
    { name: 'get_customer', method: 'GET', path: '/customers/{id}', args: { id: CUSTOMER } },
    {
      name: 'add_note',
      method: 'POST',
      path: '/customers/{id}/notes',
      args: { id: CUSTOMER, text: { in: 'body', type: 'string', required: true } },
    },
    {
      name: 'set_plan',
      title: 'change the plan of a customer',
      method: 'POST',
      path: '/customers/{id}/plan',
      args: { id: CUSTOMER, plan: { in: 'body', type: 'string', required: true } },
      readback: { tool: 'get_customer', args: { id: '{{args.id}}' }, expect: { 'body.plan': '{{args.plan}}' } },
    },
    {
      name: 'close_account',
      title: 'close the account of a customer',
      description: 'Closes the account of a customer for good',
      method: 'POST',
      path: '/customers/{id}/closing',
      args: { id: CUSTOMER, why: { in: 'body', type: 'string', required: true } },
    },
    { name: 'export_customer', method: 'GET', path: '/customers/{id}', args: { id: CUSTOMER } },
    { name: 'delete_customer', method: 'DELETE', path: '/customers/{id}', args: { id: CUSTOMER } },
  ],
});

/** The connectors, a credential and the policy, over the API, as an admin would. */
export const furnish = async (
  { service, adminKey: key, records, processor }: Stage,
  urls: { readonly records: string; readonly tickets: string; readonly processor: string },
): Promise<void> => {
  const connector = { type: 'rest', name: 'crm', config: configOf(urls.records) };
  must(await service.call('POST', '/v1/connectors', { key, body: connector }));
  const credential = { kind: 'bearer', secret: { token: records.token } };
  must(await service.call('PUT', '/v1/connectors/crm/credentials', { key, body: credential }));
  const config = { url: urls.tickets, auth: { kind: 'none' }, tools_ttl_ms: 0 };
  must(await service.call('POST', '/v1/connectors', { key, body: { type: 'mcp_http', name: 'tickets', config } }));
  await connectPayments({ service, adminKey: key, processor }, urls.processor);
  const policy = must(await service.call('POST', '/v1/policies', { key, body: { name: 'Demo', source: POLICY } }));
  const activation = { mode: 'enforce', reason: 'Demo' };
  const path = `/v1/policies/${String(policy.json['id'])}/versions/1/activate`;
  must(await service.call('POST', path, { key, body: activation }));
};

const connectPayments = async (
  { service, adminKey: key, processor }: Pick<Stage, 'service' | 'adminKey' | 'processor'>,
  baseUrl: string,
): Promise<void> => {
  const config = { api_version: processor.version, refund_limits: { eur: 10_000 }, base_url: baseUrl };
  must(await service.call('POST', '/v1/connectors', { key, body: { type: 'payments', name: 'pay', config } }));
  const credential = { kind: 'bearer', secret: { token: processor.key } };
  must(await service.call('PUT', '/v1/connectors/pay/credentials', { key, body: credential }));
};

/** Before the story begins nothing may go wrong. */
const must = (answer: Answer): Answer => {
  if (answer.status < 300) return answer;
  throw new Error(`The scratch service refused its furniture: ${String(member(answer.json, 'error', 'message'))}`);
};

/** What the agent asks for. */
export const act = (
  { service, agentKey: key }: Stage,
  tool: string,
  args: object,
  idempotencyKey?: string,
): Promise<Answer> =>
  service.call('POST', '/v1/actions', {
    key,
    body: { tool, args, wait: 25 },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  });

/** The action once it is sealed, as the agent waits for it: each answer tells of a change. */
export const sealed = async (
  { service, agentKey: key }: Pick<Stage, 'service' | 'agentKey'>,
  action: string,
): Promise<Answer> => {
  for (;;) {
    const answer = await service.call('GET', `/v1/actions/${action}?wait=25`, { key });
    if (answer.json['state'] === 'sealed' || answer.status >= 300) return answer;
  }
};
