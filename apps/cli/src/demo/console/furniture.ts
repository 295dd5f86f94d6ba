import type { Answer, ScratchService } from '../scratch-service.js';

const ORGANIZATION = { name: 'Nordlicht Outdoor', timezone: 'Europe/Vienna' } as const;

const policyFrom = (cents: number): string => `version: 1
default: deny
rules:
  - id: customers-stay
    description: No agent deletes a customer
    match:
      tools:
        - crm.delete_customer
    decision: deny
    message: Customers are never deleted by an agent. Ask the privacy team to erase one.
  - id: larger-refunds
    description: A person reads refunds above €${cents / 100}
    match:
      tools:
        - shop.refund_order
    when: args.amount > ${cents}
    decision: require_approval
    approval:
      expires_in: 4h
  - id: smaller-refunds
    description: Refunds up to €${cents / 100} are the agents’ own
    match:
      tools:
        - shop.refund_order
    decision: allow
  - id: prices
    description: Prices are set by the catalog agent, and read back
    match:
      tools:
        - shop.set_price
      agents:
        - catalog-agent
    decision: allow
    verify: L1
  - id: reads
    description: Whatever only reads
    match:
      side_effect:
        - read
    decision: allow
  - id: notes
    description: Notes and plans of customers
    match:
      tools:
        - crm.add_note
        - crm.set_plan
    decision: allow
budgets:
  - id: refunds-a-day
    match:
      tools:
        - shop.refund_order
    period: day
    max_calls: 14
`;

const idArg = (description: string) => ({ in: 'path', type: 'string', required: true, description });
const text = (description: string) => ({ in: 'body', type: 'string', required: true, description });
const cents = (description: string) => ({
  ...{ in: 'body', type: 'integer', required: true, min: 1, description },
  money: { currency: 'eur' },
});

const SHOP = [
  {
    name: 'get_order',
    title: 'read an order',
    description: 'Read an order',
    method: 'GET',
    path: '/orders/{id}',
    args: { id: idArg('Order id') },
  },
  {
    name: 'refund_order',
    title: 'refund an order',
    description: 'Refund an order, in whole or in part',
    method: 'POST',
    path: '/orders/{id}/refunds',
    args: { id: idArg('Order id'), amount: cents('In cents'), reason: text('Why, for the customer') },
  },
  {
    name: 'get_product',
    title: 'read a product',
    description: 'Read a product',
    method: 'GET',
    path: '/products/{id}',
    args: { id: idArg('Product id') },
  },
  {
    name: 'set_price',
    title: 'change the price of a product',
    description: 'Change the price of a product',
    method: 'PUT',
    path: '/products/{id}',
    args: { id: idArg('Product id'), price: cents('In cents') },
    readback: { tool: 'get_product', args: { id: '{{args.id}}' }, expect: { 'body.price': '{{args.price}}' } },
  },
];

const CRM = [
  {
    name: 'get_customer',
    title: 'read a customer',
    description: 'Read a customer',
    method: 'GET',
    path: '/customers/{id}',
    args: { id: idArg('Customer id') },
  },
  {
    name: 'add_note',
    title: 'write a note about a customer',
    description: 'Write a note about a customer',
    method: 'POST',
    path: '/customers/{id}/notes',
    args: { id: idArg('Customer id'), text: text('The note') },
  },
  {
    name: 'set_plan',
    title: 'change the plan of a customer',
    description: 'Change the plan of a customer',
    method: 'POST',
    path: '/customers/{id}/plan',
    args: { id: idArg('Customer id'), plan: text('basic, plus or pro') },
    readback: { tool: 'get_customer', args: { id: '{{args.id}}' }, expect: { 'body.plan': '{{args.plan}}' } },
  },
  {
    name: 'delete_customer',
    title: 'delete a customer for good',
    description: 'Delete a customer for good',
    method: 'DELETE',
    path: '/customers/{id}',
    args: { id: idArg('Customer id') },
  },
];

export const AGENTS = {
  'support-agent': { labels: { team: 'support' }, budgets: { calls_per_day: 400 } },
  'refund-agent': { labels: { team: 'finance' }, budgets: { calls_per_day: 120 } },
  'catalog-agent': { labels: { team: 'catalog' }, budgets: { calls_per_day: 200 } },
  'import-agent': { labels: { team: 'catalog' }, budgets: { calls_per_day: 60 } },
} as const;
export type AgentName = keyof typeof AGENTS;

export interface Furnished {
  readonly policy: string;
  readonly agents: Readonly<Record<AgentName, { readonly id: string; readonly key: string }>>;
}

/** Two connectors, a policy that is enforced, and four agents, over the API, as an admin would. */
export const furnish = async (service: ScratchService, key: string, shopUrl: string): Promise<Furnished> => {
  const ask = async (method: string, path: string, body: object): Promise<Answer['json']> =>
    must(await service.call(method, path, { key, body }));
  await ask('PATCH', '/v1/org', ORGANIZATION);
  const common = { base_url: shopUrl, auth: { kind: 'bearer' } };
  const connectors = {
    shop: {
      ...common,
      allowed_methods: ['GET', 'POST', 'PUT'],
      allowed_path_prefixes: ['/orders', '/products'],
      tools: SHOP,
    },
    crm: { ...common, allowed_methods: ['GET', 'POST', 'DELETE'], allowed_path_prefixes: ['/customers'], tools: CRM },
  };
  for (const [name, config] of Object.entries(connectors)) {
    await ask('POST', '/v1/connectors', { type: 'rest', name, config });
    await ask('PUT', `/v1/connectors/${name}/credentials`, {
      kind: 'bearer',
      secret: { token: `${name}-of-the-demo` },
    });
  }
  const policy = String(
    (await ask('POST', '/v1/policies', { name: 'Agents of the shop', source: policyFrom(20_000) }))['id'],
  );
  await ask('POST', `/v1/policies/${policy}/versions/1/activate`, { mode: 'enforce' });
  const agents: Partial<Record<AgentName, { id: string; key: string }>> = {};
  for (const name of Object.keys(AGENTS) as AgentName[]) {
    const scopes = ['actions:execute', 'actions:read'];
    const made = await ask('POST', '/v1/agents', { name, ...AGENTS[name], key: { scopes } });
    agents[name] = { id: String(made['id']), key: String(made['secret']) };
  }
  return { policy, agents: agents as Furnished['agents'] };
};

/** A stricter version beside the one that is enforced. */
export const shadow = async (service: ScratchService, key: string, policy: string): Promise<void> => {
  const made = must(
    await service.call('POST', `/v1/policies/${policy}/versions`, { key, body: { source: policyFrom(10_000) } }),
  );
  const activate = `/v1/policies/${policy}/versions/${String(made['version'])}/activate`;
  must(await service.call('POST', activate, { key, body: { mode: 'shadow' } }));
};

/** What the story is furnished with may not fail. */
export const must = (answer: Answer): Answer['json'] => {
  if (answer.status < 300) return answer.json;
  throw new Error(`The scratch service refused its furniture: ${answer.text}`);
};
