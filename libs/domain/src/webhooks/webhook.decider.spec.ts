import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { testId } from '../../../../test/support/given-log.js';
import { SIGNING_SECRETS_MAX, webhooksDecider } from './webhook.decider.js';
import type { WebhookEvent } from './webhook.events.js';
import { signingAt } from './webhook.state.js';

const given = givenFor(webhooksDecider);
const HOUR_MS = 3_600_000;
const webhook = testId('whk', 1);
const of = { org: ORG, webhook, at: NOW };
const described = { url: 'https://example.com/hooks', events: ['action.*'], description: null };
const created = (number = 1): WebhookEvent => ({
  type: 'WebhookCreated',
  data: { ...of, webhook: testId('whk', number), ...described, secret_version: 'v1', secret_hint: 'abcd' },
});
const create = (number: number, maxEndpoints = 16) =>
  ({
    type: 'CreateWebhook',
    data: {
      org: ORG,
      webhook: testId('whk', number),
      ...described,
      secret: { version: 'v1', hint: 'abcd' },
      maxEndpoints,
    },
  }) as const;
const update = (changes: object) => ({ type: 'UpdateWebhook', data: { webhook, ...changes } }) as const;
const updated = (changes: object, at = NOW): WebhookEvent => ({
  type: 'WebhookUpdated',
  data: { ...of, ...changes, at },
});
const roll = (version: string, oldUntil: string) =>
  ({ type: 'RollWebhookSecret', data: { webhook, secret: { version, hint: 'wxyz' }, oldUntil } }) as const;
const rolled = (version: string, oldUntil: string, at = NOW): WebhookEvent => ({
  type: 'WebhookSecretRolled',
  data: { ...of, secret_version: version, secret_hint: 'wxyz', old_until: oldUntil, at },
});
const disable = (failingSince: string) => ({ type: 'DisableWebhook', data: { webhook, failingSince } }) as const;
const disabled = (failingSince: string, at = NOW): WebhookEvent => ({
  type: 'WebhookDisabled',
  data: { ...of, failing_since: failingSince, at },
});
const sixteen = Array.from({ length: 16 }, (_, index) => created(index + 1));
const endpoint = (...events: WebhookEvent[]) => given(...events).state.endpoints.get(webhook);

describe('the webhook endpoints of an organization', () => {
  it('are made with what was asked for', () => given().when(create(1)).then(created(1)));

  it('are at most as many as the setting says, until one is deleted', () => {
    given(...sixteen)
      .when(create(17))
      .thenRefuses('conflict');
    given(...sixteen)
      .when(create(17, 17))
      .then(created(17));
    given(...sixteen, { type: 'WebhookDeleted', data: { ...of, secret_versions: ['v1'] } })
      .when(create(17))
      .then(created(17));
  });

  it('record what changes, and nothing where all is as asked', () => {
    given(created())
      .when(update({ url: 'https://example.com/other', events: ['action.*'] }))
      .then(updated({ url: 'https://example.com/other' }));
    given(created())
      .when(update({ description: 'CRM', status: 'disabled' }))
      .then(updated({ description: 'CRM', status: 'disabled' }));
    given(created())
      .when(update({ ...described, status: 'active' }))
      .thenNothing();
    given(created(), updated({ description: 'CRM' }))
      .when(update({ description: null }))
      .then(updated({ description: null }));
  });

  it.each([
    update({ url: 'https://example.com' }),
    roll('v2', NOW),
    { type: 'DeleteWebhook', data: { webhook } } as const,
  ])('are not found once they are gone, nor before they are made: %o', (command) => {
    given().when(command).thenRefuses('not_found');
    given(created(), { type: 'WebhookDeleted', data: { ...of, secret_versions: ['v1'] } })
      .when(command)
      .thenRefuses('not_found');
  });

  it('name the secrets that go with them', () => {
    given(created(), rolled('v2', after(HOUR_MS)))
      .when({ type: 'DeleteWebhook', data: { webhook } })
      .then({ type: 'WebhookDeleted', data: { ...of, secret_versions: ['v2', 'v1'] } });
  });
});

describe('the secrets of an endpoint', () => {
  const versionsAt = (now: string, ...events: WebhookEvent[]) => {
    const known = endpoint(...events);
    return known ? signingAt(known, now).map(({ version }) => version) : [];
  };

  it('all sign until the overlap ends', () => {
    const events = [created(), rolled('v2', after(HOUR_MS))];
    expect(versionsAt(NOW, ...events)).toEqual(['v2', 'v1']);
    expect(versionsAt(after(HOUR_MS - 1), ...events)).toEqual(['v2', 'v1']);
    expect(versionsAt(after(HOUR_MS), ...events)).toEqual(['v2']);
  });

  it('end with a later roll, where that ends them sooner, and never later than an earlier one', () => {
    const twice = [created(), rolled('v2', after(4 * HOUR_MS)), rolled('v3', after(2 * HOUR_MS), after(HOUR_MS))];
    expect(versionsAt(after(2 * HOUR_MS), ...twice)).toEqual(['v3']);
    const longer = [created(), rolled('v2', after(2 * HOUR_MS)), rolled('v3', after(9 * HOUR_MS), after(HOUR_MS))];
    expect(versionsAt(after(3 * HOUR_MS), ...longer)).toEqual(['v3', 'v2']);
  });

  it('end at once with an overlap of 0, those of earlier rolls, too', () => {
    expect(endpoint(created(), rolled('v2', after(HOUR_MS)), rolled('v3', NOW))?.secrets).toEqual([
      { version: 'v3', until: null },
    ]);
  });

  it('are so many at most, unless the others end', () => {
    const rolls = Array.from({ length: SIGNING_SECRETS_MAX - 1 }, (_, index) =>
      rolled(`v${index + 2}`, after(HOUR_MS)),
    );
    given(created(), ...rolls)
      .when(roll('more', after(HOUR_MS)))
      .thenRefuses('conflict');
    given(created(), ...rolls)
      .when(roll('more', NOW))
      .then(rolled('more', NOW));
    given(created(), ...rolls)
      .when(roll('more', after(9 * HOUR_MS)), after(HOUR_MS))
      .then(rolled('more', after(9 * HOUR_MS), after(HOUR_MS)));
  });
});

describe('an endpoint that fails', () => {
  it('is disabled once, however many ask for it', () => {
    given(created())
      .when(disable(NOW), after(HOUR_MS))
      .then(disabled(NOW, after(HOUR_MS)));
    given(created(), disabled(NOW)).when(disable(NOW)).thenNothing();
    given().when(disable(NOW)).thenNothing();
  });

  it('has its time anew from when an administrator pointed or switched it', () => {
    const later = after(HOUR_MS);
    for (const changes of [{ url: 'https://example.com/other' }, { status: 'active' as const }]) {
      given(created(), updated(changes, later))
        .when(disable(NOW), after(2 * HOUR_MS))
        .thenNothing();
      given(created(), updated(changes, later))
        .when(disable(later), after(2 * HOUR_MS))
        .then(disabled(later, after(2 * HOUR_MS)));
    }
    given(created(), updated({ description: 'CRM' }, later))
      .when(disable(NOW))
      .then(disabled(NOW));
  });

  it('says since when, until it is switched', () => {
    expect(endpoint(created(), disabled(NOW))).toMatchObject({ status: 'disabled', disabledFailingSince: NOW });
    expect(endpoint(created(), disabled(NOW), updated({ status: 'active' }))).toMatchObject({
      status: 'active',
      disabledFailingSince: null,
    });
  });
});
