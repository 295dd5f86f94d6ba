import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { ErrorCode } from '../kernel/documentation.tsx';
import { Id, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { bodyIn } from '../ledger/body.ts';
import { ActorName } from '../ledger/named.tsx';
import { adminDeedsBefore, useDeed } from '../ledger/queries.ts';
import { Step } from './step.tsx';

type Action = Schemas['ActionDetail'];
type Decision = NonNullable<Action['decision']>;

const OUTCOMES = { allow: 'Allowed', deny: 'Denied', require_approval: 'Approval required' } as const;

/** Who or what decided, as one sentence. A policy is named only if a policy decided. */
export const DecisionStep = ({
  action,
  decision,
  after,
}: {
  readonly action: Action;
  readonly decision: Decision;
  readonly after: ReactNode;
}) => {
  const { outcome, shadow } = decision;
  return (
    <Step icon="gavel" tone={outcome === 'allow' ? 'ok' : 'plain'} title={OUTCOMES[outcome]} after={after}>
      <p>
        <By action={action} decision={decision} />
      </p>
      {decision.rule?.description === null || decision.rule?.description === undefined ? null : (
        <p>
          <Said text={decision.rule.description} />
        </p>
      )}
      {decision.message === null ? null : (
        <p>
          Message to the agent: <Said text={decision.message} />
        </p>
      )}
      {decision.code === null ? null : (
        <p>
          Error code: <ErrorCode code={decision.code} />
        </p>
      )}
      {shadow?.differs === true ? (
        <p className={kit['warning']}>
          The shadow version would have decided: {shadow.outcome === null ? 'no decision' : OUTCOMES[shadow.outcome]}
          {shadow.rule_id === null ? '' : `, by rule ${shadow.rule_id}`}.
        </p>
      ) : null}
    </Step>
  );
};

const By = ({ action, decision }: { readonly action: Action; readonly decision: Decision }) => {
  const { source, code, rule_id: rule, reason } = decision;
  const version = <Version decision={decision} />;
  switch (source) {
    case 'rule':
      return (
        <>
          Rule <code>{rule}</code> of {version}
        </>
      );
    case 'default':
      if (decision.policy_version === null) return <>No policy was enforced, so the call was denied.</>;
      return <>No rule of {version} matches this call, so the default decided.</>;
    case 'stop':
      return <Stopped action={action} code={code} />;
    case 'budget': {
      const budget = <code>{reason?.replace(/^budget /, '')}</code>;
      if (code === 'budget_exceeded') return <>Budget {budget} is used up.</>;
      return <>Budget {budget} has a different currency than this call.</>;
    }
    case 'builtin':
      if (code === 'tool_unknown') {
        return (
          <>
            No connector provides this tool, so the call was denied before the policy was evaluated: see the{' '}
            <Link href="/connectors">connectors</Link>.
          </>
        );
      }
      if (code === 'approval_limit_reached') {
        return <>{version} asks for people, and as many calls of the agent waited for them as may.</>;
      }
      if (code === 'approval_unsatisfiable') {
        return (
          <>
            {rule === null ? (
              'The default'
            ) : (
              <>
                Rule <code>{rule}</code>
              </>
            )}{' '}
            of {version} requires approval, but there are not enough approvers.
          </>
        );
      }
      if (code === 'policy_unavailable') {
        return (
          <>
            {rule === null ? null : (
              <>
                Rule <code>{rule}</code> of{' '}
              </>
            )}
            {version} could not be evaluated, so the call was denied.
          </>
        );
      }
      return (
        <>
          Decided by the service: <code>{code}</code>
        </>
      );
  }
};

const Version = ({ decision: { policy, policy_version: version } }: { readonly decision: Decision }) =>
  version === null ? (
    <>the policy</>
  ) : (
    <>
      {policy === null ? (
        'this version of the policy'
      ) : (
        <Link href={`/policies/${policy}?version=${version}`}>this version of the policy</Link>
      )}{' '}
      <Id id={version} />
    </>
  );

const STOPS: Readonly<Record<string, readonly [deed: string, undone: string, says: string]>> = {
  org_stopped: ['org.stopped', 'org.started', 'All agents were stopped'],
  agent_stopped: ['agent.stopped', 'agent.resumed', 'The agent was stopped'],
  agent_suspended: ['agent.suspended', 'agent.resumed', 'The agent was suspended'],
};

/**
 * A deed is sealed within this time after its event. So the deed of a Stop may be issued shortly after a call that the
 * Stop denied.
 */
const SEALED_WITHIN_MS = 2_000;

/** The admin change of a deed, if it is about this agent or about all agents; else null. */
const changeOf = (about: Schemas['Deed']['about'], agent: string): string | null =>
  about !== null && 'admin' in about && (about.target.type === 'org' || about.target.id === agent) ? about.admin : null;

/** The newest deed of a Stop that denied the call; null if none is found, or the Stop was lifted before the call. */
const useStopDeed = ({ agent, created_at: at }: Action, [stopped, undone]: readonly string[]) => {
  const before = new Date(Date.parse(at) + SEALED_WITHIN_MS).toISOString();
  return useQuery({
    ...adminDeedsBefore(before),
    select: ({ data }) => {
      for (const deed of data) {
        const change = changeOf(deed.about, agent.id);
        if (change === stopped) return deed;
        // The Stop was lifted before the call, so it did not deny the call.
        if (change === undone && deed.issued_at <= at) return null;
      }
      return null;
    },
  });
};

const Stopped = ({ action, code }: { readonly action: Action; readonly code: string | null }) => {
  const names = STOPS[code ?? ''] ?? ['', '', 'The agent was stopped'];
  const { data: deed } = useStopDeed(action, names);
  return (
    <>
      {names[2]}, so the call was denied before the policy was evaluated.
      {deed === undefined || deed === null ? null : <StoppedBy deed={deed} />}
    </>
  );
};

const StoppedBy = ({ deed }: { readonly deed: Schemas['Deed'] }) => {
  const { data } = useDeed(deed.id);
  const body = data === undefined ? null : bodyIn(data.bytes);
  return (
    <>
      {' '}
      Stopped <Time at={deed.issued_at} />
      {body === null ? null : (
        <>
          {' '}
          by <ActorName actor={body.who.actor} />
          {body.admin?.reason === null || body.admin?.reason === undefined ? null : (
            <>
              : <Said text={body.admin.reason} />
            </>
          )}
        </>
      )}{' '}
      (<Link href={`/deeds/${deed.id}`}>deed #{deed.seq}</Link>)
    </>
  );
};
