import { connectorsProjection } from './connectors/connectors.projection.js';
import { actionsProjection } from './gate/actions.projection.js';
import { deedsProjection } from './ledger/deeds.projection.js';
import { policiesProjection } from './policies/policies.projection.js';
import type { Projection } from './projection.js';

/** Every projection this program runs. */
export const PROJECTIONS: readonly Projection[] = [
  actionsProjection,
  deedsProjection,
  connectorsProjection,
  policiesProjection,
];
