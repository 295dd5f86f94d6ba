import type { JsonObject } from '#libs/crypto';
import type { Answer } from './upstream.js';

/** What a payments API says that it did, and what it did. */
export interface Lie {
  /** What is stored instead of what was asked for; null: nothing. */
  readonly stores?: (asked: JsonObject) => readonly JsonObject[];
  /** Before a read is answered: false leaves it without an answer. */
  readonly onRead?: (read: number, response: Parameters<Answer>[1]) => boolean;
}

const send = (response: Parameters<Answer>[1], status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Answers each refund as done, and tells by another address what there is. */
export const refundsUpstream = ({ stores = (asked) => [asked], onRead = () => true }: Lie = {}) => {
  const refunds = new Map<string, JsonObject>();
  let reads = 0;
  const answer: Answer = ({ method, path, body }, response) => {
    if (method === 'POST') {
      const asked = JSON.parse(body) as JsonObject;
      for (const [index, refund] of stores({ id: 're_1', ...asked }).entries()) refunds.set(`re_${index + 1}`, refund);
      return send(response, 200, { id: 're_1', ...asked });
    }
    reads += 1;
    if (!onRead(reads, response)) return;
    const url = new URL(path, 'http://refunds');
    const charge = url.searchParams.get('charge');
    if (charge !== null) {
      return send(response, 200, { items: [...refunds.values()].filter((refund) => refund['charge'] === charge) });
    }
    const found = refunds.get(url.pathname.split('/').at(-1) ?? '');
    send(response, found ? 200 : 404, found ?? { error: 'no such refund' });
  };
  return { answer, refunds, reads: () => reads };
};

/** A refund that is confirmed by reading it; `list_refunds` tells how often a charge was refunded. */
export const refundTools = (readback: JsonObject = {}, postcondition?: string): JsonObject[] => [
  { name: 'get_refund', method: 'GET', path: '/v1/refunds/{id}', args: { id: { in: 'path', type: 'string' } } },
  { name: 'list_refunds', method: 'GET', path: '/v1/refunds', args: { charge: { in: 'query', type: 'string' } } },
  {
    name: 'refund',
    method: 'POST',
    path: '/v1/refunds',
    args: { charge: { in: 'body', type: 'string' }, amount: { in: 'body', type: 'integer' } },
    readback: {
      tool: 'get_refund',
      args: { id: '{{result.body.id}}' },
      expect: { 'body.amount': '{{args.amount}}', 'body.charge': '{{args.charge}}', 'body.id': '{{result.body.id}}' },
      ...readback,
    },
    ...(postcondition === undefined ? {} : { postcondition }),
  },
];

/** Read by the charge, which needs nothing of the result. */
export const BY_CHARGE = [
  { tool: 'list_refunds', args: { charge: '{{args.charge}}' }, expect: { 'body.items[0].amount': '{{args.amount}}' } },
  'size(observation.body.items) == 1',
] as const;
