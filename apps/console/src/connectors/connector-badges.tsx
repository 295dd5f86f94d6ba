import type { IconName } from '../design/icon.tsx';
import { Badge } from '../kit/badges.tsx';
import type { Connector } from './types.ts';

/** Whether its tools can be called. */
export const StandsBadge = ({ connector }: { readonly connector: Pick<Connector, 'status'> }) =>
  connector.status === 'active' ? (
    <Badge tone="ok" icon="checkCircle">
      Active
    </Badge>
  ) : (
    <Badge tone="warn" icon="pause">
      Disabled
    </Badge>
  );

const HEALTH = {
  passing: ['ok', 'checkCircle', 'Passing'],
  warnings: ['warn', 'alert', 'Warnings'],
  failing: ['bad', 'crossCircle', 'Failing'],
  not_tested: ['plainBadge', 'question', 'Not tested'],
} as const satisfies Record<string, readonly [string, IconName, string]>;

export const HealthBadge = ({ health }: { readonly health: Connector['health'] }) => {
  const [tone, icon, word] = HEALTH[health.status];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
};
