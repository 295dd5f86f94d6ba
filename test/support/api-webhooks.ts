import { PUBLIC_EVENT_TYPES } from '#libs/domain/events';
import type { Provider } from '@nestjs/common';
import type pg from 'pg';
import type { Vault } from '#libs/domain/connectors';
import {
  type Bus,
  type Clock,
  type CommandRunner,
  type FoldedStreams,
  type Logger,
  NO_METER,
} from '#libs/domain/kernel';
import { WebhookDeliveries, WebhookEndpoints, WebhookSender, WebhookSettings } from '#libs/domain/webhooks';
import { EgressDoor } from '#libs/infra/egress';
import { SystemRandomness } from '#libs/infra/runtime';
import { EgressWebhookDoor, PostgresDeliveries, testEvent } from '#libs/infra/webhooks';

interface Sources {
  readonly pool: pg.Pool;
  readonly vault: Vault;
  readonly streams: FoldedStreams;
  readonly runner: CommandRunner;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the routes of webhooks need, with a door that reaches what a test serves. */
export const webhookPorts = ({ pool, vault, streams, runner, bus, clock, logger }: Sources): Provider[] => {
  const settings = new WebhookSettings({ isProduction: false });
  const egress = new EgressDoor({
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
  });
  const deliveries = new PostgresDeliveries(pool);
  const randomness = new SystemRandomness();
  const door = new EgressWebhookDoor(egress);
  const sending = { claimer: () => null, deliveries, door, vault, clock, randomness, logger, meter: NO_METER };
  const sender = new WebhookSender(runner, streams, sending, settings);
  const endpoints = new WebhookEndpoints(
    runner,
    streams,
    { vault, egress, randomness, deliveries, eventTypes: PUBLIC_EVENT_TYPES },
    settings,
  );
  return [
    { provide: WebhookEndpoints, useValue: endpoints },
    {
      provide: WebhookDeliveries,
      useValue: new WebhookDeliveries(endpoints, deliveries, sender, { clock, bus, testEvent }),
    },
  ];
};
