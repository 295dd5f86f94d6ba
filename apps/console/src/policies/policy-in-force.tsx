import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './policies.module.css';
import { usePolicyVersion, useSlots } from './queries.ts';
import { DeactivateDialog, SlotDialog } from './slot-dialog.tsx';
import { Who } from '../kit/who.tsx';

type Policy = Schemas['Policy'];
type Slot = Schemas['PolicySlot'];
type Mode = Schemas['PolicyMode'];

/** The slots that hold a version of this policy, with the buttons to empty them. */
export const PolicyInForce = ({
  policy,
  isDraft,
}: {
  readonly policy: Policy;
  /** Whether there is an unsaved draft. Then no button here is primary, so that Save stays the main action. */
  readonly isDraft: boolean;
}) => {
  const { data: slots, error, refetch } = useSlots();
  if (error !== null && slots === undefined) return <Failure error={error} onRetry={() => void refetch()} />;
  const own = (slot: Slot | null | undefined): Slot | null => (slot?.policy.id === policy.id ? slot : null);
  const [enforced, shadow] = [own(slots?.enforced), own(slots?.shadow)];
  return (
    <div className={styles['inForce']}>
      {slots !== undefined && enforced === null && shadow === null ? (
        <p className={kit['dim']}>This policy is not in use: no version is enforced or in shadow.</p>
      ) : null}
      {enforced === null ? null : <SlotLine policy={policy} slot={enforced} mode="enforce" isDraft={isDraft} />}
      {shadow === null ? null : <SlotLine policy={policy} slot={shadow} mode="shadow" isDraft={isDraft} />}
    </div>
  );
};

const SlotLine = ({
  policy,
  slot,
  mode,
  isDraft,
}: {
  readonly policy: Policy;
  readonly slot: Slot;
  readonly mode: Mode;
  readonly isDraft: boolean;
}) => {
  const may = useMay('admin');
  const [asked, setAsked] = useState<'end' | 'promote' | null>(null);
  const close = (): void => setAsked(null);
  return (
    <div>
      <p>
        <Link href={`/policies/${policy.id}?version=${slot.policy_version}`}>Version {slot.version}</Link>{' '}
        {mode === 'enforce' ? 'is enforced' : 'runs in shadow'} since <Time at={slot.since} /> by{' '}
        <Who actor={slot.by} />.
      </p>
      <span className={styles['buttons']}>
        {mode === 'shadow' ? (
          <Link
            href={`/actions?shadow_differs=true&created_at[gte]=${encodeURIComponent(slot.since)}`}
            className={`${kit['button'] ?? ''} ${kit['small'] ?? ''}`}
          >
            View differences
          </Link>
        ) : null}
        {may && mode === 'shadow' ? (
          <Button isSmall kind={isDraft ? 'plain' : 'primary'} onClick={() => setAsked('promote')}>
            Enforce version {slot.version} …
          </Button>
        ) : null}
        {may ? (
          <Button isSmall onClick={() => setAsked('end')}>
            {mode === 'enforce' ? `Deactivate version ${slot.version} …` : `End shadow of version ${slot.version} …`}
          </Button>
        ) : null}
      </span>
      {asked === 'end' ? <DeactivateDialog slot={slot} mode={mode} onClose={close} /> : null}
      {asked === 'promote' ? <Promote policy={policy} slot={slot} onClose={close} /> : null}
    </div>
  );
};

const Promote = ({
  policy,
  slot,
  onClose,
}: {
  readonly policy: Policy;
  readonly slot: Slot;
  readonly onClose: () => void;
}) => {
  const { data: version, error, refetch } = usePolicyVersion(policy.id, slot.policy_version);
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return version === undefined ? null : (
    <SlotDialog policy={policy} version={version} mode="enforce" onClose={onClose} />
  );
};
