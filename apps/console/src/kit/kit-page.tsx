import {
  ACTION_STATUS_VALUES,
  AGENT_STATUS_VALUES,
  APPROVAL_STATUS_VALUES,
  LEVEL_VALUES,
  VERDICT_VALUES,
} from '../kernel/contract.ts';
import { ApiError } from '../kernel/errors.ts';
import { AgentBadge, ApprovalBadge, EvidenceBadge, StatusBadge } from './badges.tsx';
import { Failure } from './failure.tsx';
import { Bones, Button, CopyButton, Empty, Id, Meter, Money, Said, Warning } from './kit.tsx';
import styles from './kit-page.module.css';

/** All components side by side, for developers: GET /app/_kit if SERVICE_ENV is dev. */
export const KitPage = () => (
  <main className={styles['page']}>
    <h1>The kit</h1>
    <h2>Evidence</h2>
    <div className={styles['grid']}>
      {LEVEL_VALUES.flatMap((level) =>
        VERDICT_VALUES.map((verdict) => <EvidenceBadge key={`${level}${verdict}`} witness={{ level, verdict }} />),
      )}
    </div>
    <h2>Status</h2>
    <p className={styles['row']}>
      {ACTION_STATUS_VALUES.map((status) => (
        <StatusBadge key={status} status={status} execution={null} />
      ))}
      <StatusBadge status="executed" execution={{ status: 'unknown' }} />
    </p>
    <p className={styles['row']}>
      {APPROVAL_STATUS_VALUES.map((status) => (
        <ApprovalBadge key={status} status={status} />
      ))}
      {AGENT_STATUS_VALUES.map((status) => (
        <AgentBadge key={status} status={status} />
      ))}
    </p>
    <h2>Buttons</h2>
    <p className={styles['row']}>
      <Button kind="primary">Approve €890.00</Button>
      <Button>Deny</Button>
      <Button kind="danger" icon="octagon">
        Stop
      </Button>
      <Button kind="stop">Stop all 12 agents now</Button>
      <Button disabled>Needs admin</Button>
      <CopyButton text="curl">Copy as curl</CopyButton>
    </p>
    <h2>Ids, money, text from agents</h2>
    <p className={styles['row']}>
      <Id id="act_482v3k9w1x2y3z4a5b6c7dnfbs" />
      <Id id={`sha256:${'876c5aef'.repeat(8)}`} />
      <Money amount={89_000} currency="eur" display="€890.00" />
    </p>
    <p>
      <Said text={'invoice\u202egnp.exe\u202c <img src=x>'} />
    </p>
    <Meter used={46} limit={50} label="46 of 50 calls" />
    <h2>States</h2>
    <Failure
      error={
        new ApiError({
          code: 'context_changed',
          message: 'What you reviewed is out of date. Read the approval again and decide on what it says now.',
          status: 409,
          requestId: 'req_09pm4qfzcn6enj7c8dex9dy478',
          docUrl: 'https://docs.example/errors/context_changed',
        })
      }
      onRetry={() => undefined}
    />
    <Warning>The charge is 94 days old</Warning>
    <Empty title="No agents yet" code="curl …">
      An agent is a program that calls tools through this service.
    </Empty>
    <Bones count={2} />
  </main>
);
