import { PUBLIC_EVENT_TYPES } from '#libs/domain/events';
import {
  type Deliveries,
  LostClaims,
  WebhookEndpoints,
  WebhookDeliveries,
  WebhookSecretSweeper,
  WebhookSender,
  WebhookSettings,
} from '#libs/domain/webhooks';
import { EgressWebhookDoor, PostgresDeliveries, testEvent, WebhookFold } from '../webhooks/index.js';
import type { Deployment } from './deployment.js';

/** What the programs do about webhooks. */
export interface WebhookParts {
  readonly deliveries: Deliveries;
  readonly sender: WebhookSender;
  readonly lost: LostClaims;
  readonly fold: WebhookFold;
  readonly secrets: WebhookSecretSweeper;
  readonly endpoints: WebhookEndpoints;
  /** As people see and ask for them. */
  readonly asked: WebhookDeliveries;
}

export const webhooksOf = (deployment: Deployment): WebhookParts => {
  const {
    config,
    database,
    runner,
    streams,
    vault,
    egress,
    clock,
    randomness,
    bus,
    logger,
    presence,
    metrics: meter,
  } = deployment;
  const settings = new WebhookSettings({
    isProduction: config.env === 'production',
    timeoutMs: config.webhookTimeoutMs,
    maxAttempts: config.webhookMaxAttempts,
    disableAfterMs: config.webhookDisableAfterMs,
    maxEndpointsPerOrg: config.webhookMaxEndpoints,
  });
  const deliveries = new PostgresDeliveries(database.durable);
  const door = new EgressWebhookDoor(egress);
  const sources = { clock, randomness, logger, meter };
  const claimer = (): string | null => presence.shownAs;
  const sender = new WebhookSender(runner, streams, { deliveries, door, vault, claimer, ...sources }, settings);
  const endpoints = new WebhookEndpoints(
    runner,
    streams,
    { vault, egress, randomness, deliveries, eventTypes: PUBLIC_EVENT_TYPES },
    settings,
  );
  return {
    deliveries,
    sender,
    lost: new LostClaims(deliveries, clock, deployment.executorId),
    fold: new WebhookFold(database.store, clock),
    secrets: new WebhookSecretSweeper(streams, vault, clock),
    endpoints,
    asked: new WebhookDeliveries(endpoints, deliveries, sender, { clock, bus, testEvent }),
  };
};
