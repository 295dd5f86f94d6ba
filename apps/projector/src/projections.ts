import { agentsProjection } from './agents/agents.projection.js';
import { connectorsProjection } from './connectors/connectors.projection.js';
import { publicEventsProjection } from './events/public-events.projection.js';
import { actionsProjection } from './gate/actions.projection.js';
import { checkpointsProjection } from './ledger/checkpoints.projection.js';
import { deedsProjection } from './ledger/deeds.projection.js';
import { securityEventsProjection } from './people/security-events.projection.js';
import { policiesProjection } from './policies/policies.projection.js';
import type { Projection } from './projection.js';

/** Every projection this program runs. */
export const PROJECTIONS: readonly Projection[] = [
  actionsProjection,
  deedsProjection,
  connectorsProjection,
  policiesProjection,
  agentsProjection,
  securityEventsProjection,
  publicEventsProjection,
  checkpointsProjection,
];
