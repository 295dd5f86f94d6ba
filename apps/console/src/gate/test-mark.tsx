import { Badge } from '../kit/badges.tsx';

/**
 * Marks an action whose agent used a test key. The key is only a mark: the policy and the tool treat the call like any
 * other.
 */
export const TestMark = ({ livemode }: { readonly livemode: boolean }) =>
  livemode ? null : (
    <Badge tone="plainBadge" icon="key" title="made with a test key; its tool runs like any other">
      test
    </Badge>
  );
