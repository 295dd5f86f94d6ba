import { Link } from 'wouter';
import { useNew } from '../kernel/address.ts';
import type { Schemas } from '../kernel/client.ts';
import { LIST_AGENTS_FILTERS } from '../kernel/contract.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { useMay } from '../kernel/session.tsx';
import { AgentBadge } from '../kit/badges.tsx';
import { ChoiceChip, choicesOf, GivenChips, SearchField } from '../kit/filters.tsx';
import { Button, Empty, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import { AgentBudgets } from './budgets.tsx';
import { NewAgent } from './new-agent.tsx';
import { agentPages } from './queries.ts';
import styles from './agents.module.css';

/** The agents, what each used up today, and its status. */
export const AgentsScreen = () => {
  const may = useMay('admin');
  const { isNew: isMaking, begin, end } = useNew();
  const list = useFilteredList(LIST_AGENTS_FILTERS, agentPages);
  // The service orders agents by the time they were made. Once all are loaded, they are ordered here: the most recently
  // active first.
  const isWhole = !list.hasNextPage;
  return (
    <>
      <ScreenHead
        title="Agents"
        about={`Programs that call tools through this service, each with its own keys and limits. ${isWhole ? 'Most recently active first.' : 'Newest first.'}`}
        action={
          may ? (
            <Button kind="primary" onClick={begin}>
              New agent
            </Button>
          ) : null
        }
      />
      {isMaking && may ? <NewAgent onClose={end} /> : null}
      <ListFrame list={list} one="agent" chips={<Chips />} none={<NoAgents />}>
        <AgentsTable rows={isWhole ? [...list.rows].sort(lastActiveFirst) : list.rows} />
      </ListFrame>
    </>
  );
};

const lastActiveFirst = (one: Schemas['Agent'], other: Schemas['Agent']): number =>
  (other.usage?.last_action_at ?? '').localeCompare(one.usage?.last_action_at ?? '');

const Chips = () => (
  <>
    <SearchField name="q" label="Name, id or key" />
    <ChoiceChip
      name="status"
      choices={choicesOf<Schemas['AgentStatus']>({ active: 'active', stopped: 'stopped', suspended: 'suspended' })}
    />
    <GivenChips names={LIST_AGENTS_FILTERS} except={['q', 'status']} />
  </>
);

const NoAgents = () => (
  <Empty
    title="No agents yet"
    code={[
      `curl -sS '${location.origin}/v1/agents' -H "Authorization: Bearer $ADMIN_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"name": "support-bot", "key": {"scopes": ["actions:execute", "actions:read"]}}'`,
    ].join('\n')}
  >
    An agent is a program that calls tools through this service. An admin creates it with an API key that is shown once:
  </Empty>
);

const AgentsTable = ({ rows }: { readonly rows: readonly Schemas['Agent'][] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Status</th>
        <th scope="col">Calls today</th>
        <th scope="col">Daily budget</th>
        <th scope="col">Keys</th>
        <th scope="col">Last action</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((agent) => (
        <tr key={agent.id}>
          <td>
            <Link href={`/agents/${agent.id}`} className={kit['rowLink'] ?? ''} data-row>
              <Said text={agent.name} />
            </Link>
          </td>
          <td data-end>
            <AgentBadge status={agent.status} />
          </td>
          <td className={kit['number']}>
            {agent.usage?.calls ?? 0}{' '}
            <span className={styles['onPhone']}>{agent.usage?.calls === 1 ? 'call' : 'calls'} today</span>
          </td>
          <td data-end className={styles['budget']}>
            <AgentBudgets agent={agent} />
          </td>
          <td data-hide className={kit['number']}>
            {agent.active_keys}
          </td>
          <td data-wide className={kit['number']}>
            {agent.usage?.last_action_at === null || agent.usage?.last_action_at === undefined ? (
              <span className={kit['dim']}>no actions yet</span>
            ) : (
              <>
                <span className={styles['onPhone']}>last action </span>
                <Time at={agent.usage.last_action_at} />
              </>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
