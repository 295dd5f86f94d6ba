import { expect, it } from 'vitest';
import { contextOf, type Context, keyOf, type Route } from './keys.ts';

it.each<[Route, Context]>([
  ['/v1/agents', 'agents'],
  ['/v1/agents/{id}/keys', 'agents'],
  ['/v1/policies/slots', 'policies'],
  ['/v1/org', 'org'],
  ['/v1/org/members', 'members'],
  ['/v1/org/keys', 'admin-keys'],
  ['/v1/webhooks/{id}', 'webhooks'],
  ['/v1/webhooks/{id}/deliveries', 'deliveries'],
  ['/.well-known/service/keys.json', 'seal-keys'],
])('%s is of the context %s', (route, context) => {
  expect(contextOf(route)).toBe(context);
});

it('a key begins with the context of its route', () => {
  expect(keyOf('/v1/agents/{id}', { path: { id: 'agt_1' } })).toEqual([
    'agents',
    '/v1/agents/{id}',
    { path: { id: 'agt_1' } },
  ]);
});
