import { DomainError, type Decider, type Timestamp, type WebhookId } from '../kernel/index.js';
import type { WebhookChanges, WebhookCommand } from './webhook.commands.js';
import type { WebhookEvent } from './webhook.events.js';
import { signingAt, type SigningSecret, type Webhook, type Webhooks } from './webhook.state.js';

/** Each has a signature in the header of every delivery. */
export const SIGNING_SECRETS_MAX = 5;

type DataOf<Type extends WebhookEvent['type']> = Extract<WebhookEvent, { type: Type }>['data'];

const initialState = (): Webhooks => ({ endpoints: new Map() });

const decide = (command: WebhookCommand, state: Webhooks): readonly WebhookEvent[] => {
  const at = command.metadata.now;
  if (command.type === 'CreateWebhook') return create(command.data, state, at);
  const known = state.endpoints.get(command.data.webhook);
  if (command.type === 'DisableWebhook') return known ? disable(known, command.data.failingSince, at) : [];
  if (!known) throw new DomainError('not_found');
  const of = { org: known.org, webhook: known.id, at };
  switch (command.type) {
    case 'UpdateWebhook': {
      const changes = changesOf(command.data, known);
      return Object.keys(changes).length === 0 ? [] : [{ type: 'WebhookUpdated', data: { ...of, ...changes } }];
    }
    case 'RollWebhookSecret': {
      const { secret, oldUntil } = command.data;
      requireRoomForSecret(known, oldUntil, at);
      const facts = { secret_version: secret.version, secret_hint: secret.hint };
      return [{ type: 'WebhookSecretRolled', data: { ...of, ...facts, old_until: oldUntil } }];
    }
    case 'DeleteWebhook':
      return [
        { type: 'WebhookDeleted', data: { ...of, secret_versions: known.secrets.map(({ version }) => version) } },
      ];
  }
};

const create = (
  { maxEndpoints, secret, ...described }: Extract<WebhookCommand, { type: 'CreateWebhook' }>['data'],
  { endpoints }: Webhooks,
  at: Timestamp,
): readonly WebhookEvent[] => {
  if (endpoints.size >= maxEndpoints) {
    throw new DomainError('conflict', {
      message: `An organization may have at most ${maxEndpoints} webhook endpoints. Delete one first, or subscribe one that exists to more events.`,
    });
  }
  const facts = { secret_version: secret.version, secret_hint: secret.hint };
  return [{ type: 'WebhookCreated', data: { ...described, ...facts, at } }];
};

const changesOf = (wanted: WebhookChanges, known: Webhook): WebhookChanges => ({
  ...(wanted.url === undefined || wanted.url === known.url ? {} : { url: wanted.url }),
  ...(wanted.events === undefined || isSame(wanted.events, known.events) ? {} : { events: wanted.events }),
  ...(wanted.description === undefined || wanted.description === known.description
    ? {}
    : { description: wanted.description }),
  ...(wanted.status === undefined || wanted.status === known.status ? {} : { status: wanted.status }),
});

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((type, index) => type === other[index]);

/** @throws {DomainError} conflict */
const requireRoomForSecret = (known: Webhook, oldUntil: Timestamp, now: Timestamp): void => {
  const left = oldUntil <= now ? 0 : signingAt(known, now).length;
  if (left < SIGNING_SECRETS_MAX) return;
  throw new DomainError('conflict', {
    message:
      `At most ${SIGNING_SECRETS_MAX} secrets of an endpoint may sign at once, and so many do. ` +
      'Wait until the overlap of one ends, or roll with overlap_seconds 0, which ends all of them.',
  });
};

/** An endpoint that was pointed or switched on after its failures began has not had its time yet. */
const disable = (known: Webhook, failingSince: Timestamp, at: Timestamp): readonly WebhookEvent[] =>
  known.status === 'disabled' || failingSince < known.aimedAt
    ? []
    : [{ type: 'WebhookDisabled', data: { org: known.org, webhook: known.id, failing_since: failingSince, at } }];

const evolve = (state: Webhooks, event: WebhookEvent): Webhooks => {
  switch (event.type) {
    case 'WebhookCreated':
      return withEndpoint(state, created(event.data));
    case 'WebhookUpdated':
      return changed(state, event.data.webhook, (known) => updated(known, event.data));
    case 'WebhookSecretRolled':
      return changed(state, event.data.webhook, (known) => rolled(known, event.data));
    case 'WebhookDisabled':
      return changed(state, event.data.webhook, (known) => ({
        ...known,
        status: 'disabled',
        disabledFailingSince: event.data.failing_since,
      }));
    case 'WebhookDeleted': {
      const endpoints = new Map(state.endpoints);
      endpoints.delete(event.data.webhook);
      return { endpoints };
    }
  }
};

const created = ({
  webhook,
  org,
  url,
  events,
  description,
  secret_version,
  secret_hint,
  at,
}: DataOf<'WebhookCreated'>): Webhook => ({
  id: webhook,
  org,
  url,
  events,
  description,
  status: 'active',
  secretHint: secret_hint,
  secrets: [{ version: secret_version, until: null }],
  disabledFailingSince: null,
  aimedAt: at,
  createdAt: at,
});

const updated = (known: Webhook, { url, events, description, status, at }: DataOf<'WebhookUpdated'>): Webhook => ({
  ...known,
  url: url ?? known.url,
  events: events ?? known.events,
  description: description === undefined ? known.description : description,
  status: status ?? known.status,
  disabledFailingSince: status === undefined ? known.disabledFailingSince : null,
  aimedAt: url === undefined && status === undefined ? known.aimedAt : at,
});

const rolled = (
  known: Webhook,
  { secret_version, secret_hint, old_until, at }: DataOf<'WebhookSecretRolled'>,
): Webhook => ({
  ...known,
  secretHint: secret_hint,
  secrets: [{ version: secret_version, until: null }, ...signingAt(known, at).flatMap(endingBy(old_until, at))],
});

/** A secret that ends with the roll is not kept: its vault rows are let go. */
const endingBy =
  (end: Timestamp, now: Timestamp) =>
  ({ version, until }: SigningSecret): readonly SigningSecret[] => {
    const earlier = until !== null && until < end ? until : end;
    return earlier <= now ? [] : [{ version, until: earlier }];
  };

const withEndpoint = ({ endpoints }: Webhooks, endpoint: Webhook): Webhooks => ({
  endpoints: new Map(endpoints).set(endpoint.id, endpoint),
});

const changed = (state: Webhooks, id: WebhookId, change: (known: Webhook) => Webhook): Webhooks => {
  const known = state.endpoints.get(id);
  return known ? withEndpoint(state, change(known)) : state;
};

export const webhooksDecider: Decider<Webhooks, WebhookCommand, WebhookEvent> = {
  category: 'webhooks',
  eventTypes: {
    WebhookCreated: true,
    WebhookUpdated: true,
    WebhookSecretRolled: true,
    WebhookDisabled: true,
    WebhookDeleted: true,
  },
  initialState,
  decide,
  evolve,
};
