import { expect, it } from 'vitest';
import { NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { testId } from '../../../../test/support/given-log.js';
import type { EventEnvelope } from '../kernel/index.js';
import type { WebhookEvent } from '../webhooks/index.js';
import { adminActOf } from './admin-deed.js';

const webhook = testId('whk', 1);
const of = { org: ORG, webhook, at: NOW };
const secret = { secret_version: 'v1', secret_hint: 'abcd' };
const described = { url: 'https://example.com/hooks', events: ['deed.sealed'], description: null };

/** Auditors make every deed again from its event, so what an act says must never change once it was sealed. */
it.each<[string, WebhookEvent, object]>([
  [
    'webhook.created',
    { type: 'WebhookCreated', data: { ...of, ...described, ...secret } },
    { ...described, secret_version: 'v1' },
  ],
  ['webhook.updated', { type: 'WebhookUpdated', data: { ...of, status: 'disabled' } }, { status: 'disabled' }],
  ['webhook.updated', { type: 'WebhookUpdated', data: { ...of, ...described } }, described],
  [
    'webhook.secret_rolled',
    { type: 'WebhookSecretRolled', data: { ...of, ...secret, old_until: NOW } },
    { old_until: NOW, secret_version: 'v1' },
  ],
  ['webhook.disabled', { type: 'WebhookDisabled', data: { ...of, failing_since: NOW } }, { failing_since: NOW }],
  ['webhook.deleted', { type: 'WebhookDeleted', data: { ...of, secret_versions: ['v1'] } }, {}],
])('a webhook endpoint has the deed %s', (action, event, data) => {
  const act = adminActOf({ event, metadata: {}, recorded: {} } as EventEnvelope);
  expect(act).toEqual({ action, target: { type: 'webhook', id: webhook }, reason: null, data });
});
