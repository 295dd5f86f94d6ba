import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { RecentActions } from '../gate/recent-actions.tsx';
import { useNames } from '../kernel/members.ts';
import { useMay } from '../kernel/session.tsx';
import { AgentBadge } from '../kit/badges.tsx';
import { Fact, Facts } from '../kit/facts.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Button, Id, Panel, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ScreenHead } from '../shell/screen.tsx';
import { AgentBrake } from './brake.tsx';
import { AgentBudgets } from './budgets.tsx';
import { EditAgent } from './edit-agent.tsx';
import { IntentsPanel } from './intents-panel.tsx';
import { KeysPanel } from './keys-panel.tsx';
import { agentQuery, usageQuery } from './queries.ts';
import styles from './agents.module.css';

type Agent = Schemas['Agent'];

export const AgentScreen = ({ id }: { readonly id: string }) => {
  const { data: agent, error, refetch } = useQuery(agentQuery(id));
  const { data: usage } = useQuery({ ...usageQuery(id), select: ({ data }) => data[0]?.usage });
  if (agent === undefined) {
    return (
      <>
        <ScreenHead title="Agent" />
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </>
    );
  }
  return (
    <>
      <ScreenHead title={agent.name} name={<Said text={agent.name} />} badges={<AgentBadge status={agent.status} />} />
      <p className={kit['meta']}>
        <Id id={agent.id} /> created <Time at={agent.created_at} isExact />
      </p>
      <div className={kit['columns']}>
        <div className={kit['stack']}>
          <AgentBrake agent={agent} />
          <RecentActions
            title="Recent actions"
            of="agents"
            filter={{ agent: agent.id }}
            more={{ to: `/actions?agent=${agent.id}`, words: 'All actions' }}
            none="No actions yet."
          />
        </div>
        <div className={kit['stack']}>
          <Panel title="Today">
            <p className={styles['calls']}>
              {usage?.calls ?? 0} {usage?.calls === 1 ? 'call' : 'calls'}, including denied calls
            </p>
            <AgentBudgets agent={{ budgets: agent.budgets, ...(usage === undefined ? {} : { usage }) }} />
          </Panel>
          <AgentFacts agent={agent} />
          <KeysPanel agent={agent} />
          <IntentsPanel agent={agent} />
        </div>
      </div>
    </>
  );
};

const AgentFacts = ({ agent }: { readonly agent: Agent }) => {
  const may = useMay('admin');
  const [isEdited, setEdited] = useState(false);
  const nameOf = useNames();
  const labels = Object.entries(agent.labels);
  return (
    <Panel
      title="Facts"
      aside={
        may ? (
          <Button isSmall onClick={() => setEdited(true)}>
            Change labels and budgets
          </Button>
        ) : null
      }
    >
      <Facts>
        <Fact name="Owner">{agent.owner === null ? 'nobody' : <Said text={nameOf(agent.owner)} />}</Fact>
        <Fact name="Labels">
          {labels.length === 0 ? (
            <span className={kit['dim']}>No labels. Policies can match agents by label.</span>
          ) : (
            <ul>
              {labels.map(([name, value]) => (
                <li key={name}>
                  <Said text={`${name}: ${value}`} />
                </li>
              ))}
            </ul>
          )}
        </Fact>
      </Facts>
      {isEdited ? <EditAgent agent={agent} onClose={() => setEdited(false)} /> : null}
    </Panel>
  );
};
