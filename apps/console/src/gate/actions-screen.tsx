import { Link } from 'wouter';
import type { Schemas } from '../kernel/client.ts';
import { useFilters } from '../kernel/address.ts';
import { LIST_ACTIONS_FILTERS } from '../kernel/contract.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { duration } from '../kernel/times.ts';
import { EvidenceBadge, StatusBadge } from '../kit/badges.tsx';
import { ChoiceChip, choicesOf, GivenChips, SearchField, TextChip, TimeChip } from '../kit/filters.tsx';
import { cx, Empty, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { useAgentNames } from '../ledger/names.ts';
import { ScreenHead } from '../shell/screen.tsx';
import styles from './gate.module.css';
import { meantBy } from './meant.ts';
import { actionPages } from './queries.ts';
import { TestMark } from './test-mark.tsx';
import { whyOf } from './why.ts';

export const ActionsScreen = () => {
  const list = useFilteredList(LIST_ACTIONS_FILTERS, actionPages);
  return (
    <>
      <ScreenHead title="Actions" about="Every tool call of your agents, with its decision and outcome." />
      <ListFrame list={list} one="action" chips={<Chips />} bones={12} none={<NoActions />} nothing={<NothingFound />}>
        <ActionsTable rows={list.rows} />
      </ListFrame>
    </>
  );
};

const WITH_CHIP = [
  ...['q', 'created_at', 'agent', 'key', 'on_behalf_of', 'rule_id', 'decision'],
  ...['verdict', 'level', 'execution', 'state', 'tool', 'session'],
];

const Chips = () => (
  <>
    <SearchField name="q" label="Tool or error code" />
    <TimeChip name="created_at" />
    <AgentChip />
    <TextChip name="key" label="key" hint="How the API key begins, or its key_ id" />
    <TextChip name="on_behalf_of" label="on behalf of" hint="Reference that the agent sent" />
    <TextChip name="rule_id" label="rule" hint="Rule id" />
    <ChoiceChip
      name="decision"
      choices={choicesOf<Schemas['Outcome']>({
        allow: 'allowed',
        deny: 'denied',
        require_approval: 'approval required',
      })}
    />
    <ChoiceChip
      name="verdict"
      choices={choicesOf<Schemas['Verdict']>({
        VERIFIED: 'verified',
        MISMATCH: 'mismatch',
        UNVERIFIABLE: 'unverifiable',
      })}
    />
    <ChoiceChip
      name="level"
      choices={[
        ['L0', 'L0, reported by the tool'],
        ['L1', 'L1, read back'],
      ]}
    />
    <ChoiceChip
      name="execution"
      label="outcome"
      choices={choicesOf<Schemas['ExecutionStatus']>({ succeeded: 'succeeded', failed: 'failed', unknown: 'unknown' })}
    />
    <ChoiceChip
      name="state"
      choices={choicesOf<Schemas['ActionState']>({
        pending_approval: 'waiting for approval',
        executing: 'executing',
        witnessing: 'witnessing',
        recorded: 'recorded',
        sealed: 'sealed',
      })}
    />
    <TextChip name="tool" label="tool" hint="Tool name; * matches any text" />
    <TextChip name="session" label="session" hint="Session reference that the agent sent" />
    <GivenChips names={LIST_ACTIONS_FILTERS} except={WITH_CHIP} />
  </>
);

/** A filter by agent: shows names, and puts the id into the address. */
const AgentChip = () => {
  const agents = useAgentNames();
  const byName = [...agents].toSorted(([, one], [, other]) => one.localeCompare(other));
  return <ChoiceChip name="agent" isSingle choices={byName} />;
};

/**
 * Shown if a search finds nothing. The search covers only tool names and error codes, so other filters are offered that
 * the text could be a value of.
 */
const NothingFound = () => {
  const { filters } = useFilters();
  const agents = useAgentNames();
  const text = filters.get('q') ?? '';
  if (text === '') return null;
  const instead = (name: string, value: string): string => {
    const next = new URLSearchParams(filters);
    next.delete('q');
    next.set(name, value);
    return `/actions?${next.toString()}`;
  };
  const meant = meantBy(text, agents);
  if (meant.length === 0) return <p>Search covers tool names and error codes.</p>;
  return (
    <>
      <p>Search covers tool names and error codes. Did you mean:</p>
      <ul className={styles['instead']}>
        {meant.map(({ name, word, value, said }) => (
          <li key={`${name} ${value}`}>
            <Link href={instead(name, value)}>
              {word} <Said text={said} />
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
};

const NoActions = () => (
  <Empty
    title="No actions yet"
    code={[
      `curl -sS '${location.origin}/v1/actions' -H "Authorization: Bearer $AGENT_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"tool": "crm.get_customer", "args": {"id": "42"}}'`,
    ].join('\n')}
  >
    An action is one tool call by an agent. The policy decides each action, and every outcome is sealed. Submit the
    first one with an agent’s API key:
  </Empty>
);

const ActionsTable = ({ rows }: { readonly rows: readonly Schemas['Action'][] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Time</th>
        <th scope="col">Agent</th>
        <th scope="col">Tool</th>
        <th scope="col">Status</th>
        <th scope="col">Evidence</th>
        <th scope="col">On behalf of</th>
        <th scope="col">Duration</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((action) => (
        <ActionRow key={action.id} action={action} />
      ))}
    </tbody>
  </table>
);

const ActionRow = ({ action }: { readonly action: Schemas['Action'] }) => {
  const why = whyOf(action);
  const took = action.execution?.latency_ms ?? null;
  return (
    <tr>
      <td className={kit['number']}>
        <Time at={action.created_at} />
      </td>
      <td data-end>
        <Said text={action.agent.name} />
      </td>
      <td data-wide>
        <Link href={`/actions/${action.id}`} className={kit['rowLink'] ?? ''} data-row>
          <code>
            <Said text={action.tool} />
          </code>
        </Link>{' '}
        <TestMark livemode={action.livemode} />
      </td>
      <td>
        <StatusBadge status={action.status} execution={action.execution} />
        {why === null ? null : (
          <small className={kit['why']}>
            <Said text={why} />
          </small>
        )}
      </td>
      <td data-end>
        <EvidenceBadge witness={action.witness} />
      </td>
      <td data-hide>
        {action.on_behalf_of === null ? (
          <None />
        ) : (
          <code>
            <Said text={action.on_behalf_of} />
          </code>
        )}
      </td>
      <td data-hide className={cx(kit['number'], kit['dim'])}>
        {took === null ? '–' : duration(took)}
      </td>
    </tr>
  );
};
