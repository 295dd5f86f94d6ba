import { Badge } from '../kit/badges.tsx';

/** Of an action whose agent sent a test key. Such a key is a mark: the tool ran, or was refused, as under a live one. */
export const TestMark = ({ livemode }: { readonly livemode: boolean }) =>
  livemode ? null : (
    <Badge tone="plainBadge" icon="key" title="made with a test key; its tool runs like any other">
      test
    </Badge>
  );
