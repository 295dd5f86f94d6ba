import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { REASON_TEXT_MAX_LENGTH } from '../kernel/contract.ts';
import { useChanged } from '../kernel/refresh.ts';
import { useMay } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Button, cx, Panel, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { useSettled } from '../kit/settled.ts';
import styles from './agents.module.css';
import { agentQuery } from './queries.ts';

type Agent = Schemas['Agent'];
type Move = 'stop' | 'suspend' | 'resume';

const STANDS = {
  active: 'The agent is active. The policy decides every call.',
  stopped: 'The agent is stopped. Every call is denied, recorded and sealed.',
  suspended: 'The agent is suspended. Every call is denied, recorded and sealed, even after “Start all agents again”.',
} as const;

const useMove = (agent: Agent, onChanged: () => void) => {
  const changed = useChanged();
  return useChange(
    ({ move, said }: { readonly move: Move; readonly said: string }, key) => {
      const params = { path: { id: agent.id }, header: { 'Idempotency-Key': key } };
      const body = said === '' ? {} : { reason: said };
      switch (move) {
        case 'stop':
          return bodyOf(api.POST('/v1/agents/{id}/stop', { params, body }));
        case 'suspend':
          return bodyOf(api.POST('/v1/agents/{id}/suspend', { params, body }));
        case 'resume':
          return bodyOf(api.POST('/v1/agents/{id}/resume', { params, body }));
      }
    },
    (moved) => {
      onChanged();
      changed(['agents', 'overview'], { of: agentQuery(agent.id), is: moved });
    },
  );
};

/** The buttons to stop, suspend and resume an agent, with a reason that the deed holds. */
export const AgentBrake = ({ agent }: { readonly agent: Agent }) => {
  const may = useMay('admin');
  const [reason, setReason] = useState('');
  const change = useMove(agent, () => setReason(''));
  // Resume appears where Stop was, so the second press of a double click must do nothing.
  const isSettled = useSettled(agent.status, 1_000, agent.status);
  const ask = (move: Move): void => {
    if (isSettled) change.mutate({ move, said: reason.trim() });
  };
  const waits = isSettled ? {} : { 'aria-disabled': true };
  return (
    <Panel title="Stop and start">
      <p>{STANDS[agent.status]}</p>
      {agent.status_reason === null ? null : (
        <p className={kit['dim']}>
          Reason: <Said text={agent.status_reason} />
        </p>
      )}
      {may && agent.status !== 'suspended' ? (
        <p className={kit['dim']}>
          Stop the agent in an emergency. Suspend the agent to take it out of service: starting all agents again leaves
          it suspended. Either way, every call is denied until you resume the agent.
        </p>
      ) : null}
      {change.error === null ? null : <Failure error={change.error} />}
      {may ? (
        <label className={cx(kit['label'], styles['reason'])}>
          Reason, sealed in the deed (optional)
          <input
            className={kit['field']}
            maxLength={REASON_TEXT_MAX_LENGTH}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
      ) : null}
      <div className={cx(kit['buttons'], styles['end'])}>
        {agent.status === 'active' ? (
          <Button
            {...waits}
            kind="danger"
            icon="octagon"
            disabled={!may || change.isPending}
            onClick={() => ask('stop')}
          >
            Stop agent
          </Button>
        ) : may ? (
          <Button {...waits} icon="play" disabled={change.isPending} onClick={() => ask('resume')}>
            Resume agent
          </Button>
        ) : null}
        {may && agent.status !== 'suspended' ? (
          <Button {...waits} icon="pause" disabled={change.isPending} onClick={() => ask('suspend')}>
            Suspend agent
          </Button>
        ) : null}
      </div>
      {may ? null : <p className={kit['dim']}>Your role is read-only. An admin or owner can stop this agent.</p>}
    </Panel>
  );
};
