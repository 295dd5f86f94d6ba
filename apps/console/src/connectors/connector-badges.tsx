import { type BadgeLook, LookBadge } from '../kit/badges.tsx';
import type { Connector } from './types.ts';

const STANDS: Readonly<Record<Connector['status'], BadgeLook>> = {
  active: ['ok', 'checkCircle', 'Active'],
  disabled: ['warn', 'pause', 'Disabled'],
};

/** Whether the connector is enabled, so that its tools can be called. */
export const StandsBadge = ({ connector }: { readonly connector: Pick<Connector, 'status'> }) => (
  <LookBadge look={STANDS[connector.status]} />
);

const HEALTH: Readonly<Record<Connector['health']['status'], BadgeLook>> = {
  passing: ['ok', 'checkCircle', 'Passing'],
  warnings: ['warn', 'alert', 'Warnings'],
  failing: ['bad', 'crossCircle', 'Failing'],
  not_tested: ['plainBadge', 'question', 'Not tested'],
};

export const HealthBadge = ({ health }: { readonly health: Pick<Connector['health'], 'status'> }) => (
  <LookBadge look={HEALTH[health.status]} />
);
