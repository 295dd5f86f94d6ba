import { useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { REASON_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { useNames } from '../kernel/members.ts';
import { useMay } from '../kernel/session.tsx';
import { DialogFoot } from '../kit/dialog.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { useSettled } from '../kit/settled.ts';
import { useOrgMove } from './org-move.ts';
import styles from './shell.module.css';

type Organization = Schemas['Organization'];

/** When all agents were stopped, and by whom; worded as the end of a sentence. */
export const StoppedSince = ({ org }: { readonly org: Pick<Organization, 'stopped_at' | 'stopped_by'> }) => {
  const nameOf = useNames();
  const by = org.stopped_by;
  return (
    <>
      {org.stopped_at === null ? null : (
        <>
          {' '}
          since <Time at={org.stopped_at} />
        </>
      )}
      {by?.type === 'user' && by.id !== null ? (
        <>
          {' '}
          by <Said text={nameOf(by.id)} />
        </>
      ) : by?.type === 'admin_key' ? (
        ' by an admin key'
      ) : null}
    </>
  );
};

/** The stopped organization: the calls still in flight, and for owners the button to start all agents again. */
export const Stopped = ({ org, onClose }: { readonly org: Organization; readonly onClose: () => void }) => {
  const isOwner = useMay('owner');
  const [reason, setReason] = useState('');
  const start = useOrgMove('start');
  // The start button appears where Stop was, so the second press of a double click on Stop must not start the agents.
  const isSettled = useSettled('start');
  return (
    <>
      <p>
        Stopped
        <StoppedSince org={org} />. Every call is denied, recorded and sealed.
      </p>
      <p className={styles['flight']} role="status">
        {org.in_flight}
        <span>in flight: sent before the Stop and still running</span>
      </p>
      {isOwner ? (
        <>
          <label className={kit['label']}>
            Reason, sealed in the deed (optional)
            <input
              className={kit['field']}
              maxLength={REASON_TEXT_MAX_LENGTH}
              value={reason}
              onChange={({ target }) => setReason(target.value)}
            />
          </label>
          {start.error === null ? null : <Failure error={start.error} />}
          <DialogFoot>
            <Button onClick={onClose}>Close</Button>
            <Button
              kind="primary"
              icon="play"
              disabled={start.isPending}
              aria-disabled={isSettled ? undefined : true}
              onClick={() => isSettled && start.mutate(reason.trim())}
            >
              {start.isPending ? 'Starting …' : 'Start all agents again'}
            </Button>
          </DialogFoot>
        </>
      ) : (
        <p className={kit['dim']}>Only an owner can start all agents again.</p>
      )}
    </>
  );
};

export const RunsAgain = ({ since, onClose }: { readonly since: string; readonly onClose: () => void }) => (
  <>
    <p role="status">
      All agents were started again at <Time at={since} />. The policy decides every call.
    </p>
    <p className={kit['dim']}>
      Agents that were stopped or suspended individually stay so until you resume them on their pages.
    </p>
    <DialogFoot>
      <Button kind="primary" data-first onClick={onClose}>
        Close
      </Button>
    </DialogFoot>
  </>
);
