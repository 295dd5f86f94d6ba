import { Link } from 'wouter';
import { answerOf, api, type Schemas } from '../kernel/client.ts';
import { useFilteredList } from '../kernel/filtered-list.ts';
import { duration } from '../kernel/times.ts';
import { EvidenceBadge, StatusBadge } from '../kit/badges.tsx';
import { ChoiceChip, GivenChip, SearchField, SinceChip } from '../kit/filters.tsx';
import { cx, Empty, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFrame } from '../kit/list-frame.tsx';
import { ScreenHead } from '../shell/screen.tsx';

/** Names of the API, as they stand in the address too. */
const FILTERS = [
  ...['agent', 'tool', 'state', 'decision', 'rule_id', 'execution', 'verdict', 'level'],
  ...['on_behalf_of', 'session', 'shadow_differs', 'created_at[gte]', 'created_at[lt]', 'q'],
] as const;

export const ActionsScreen = () => {
  const list = useFilteredList('actions', FILTERS, (query) => answerOf(api.GET('/v1/actions', { params: { query } })));
  return (
    <>
      <ScreenHead title="Actions" about="Every tool call that an agent asked for, and what became of it." />
      <ListFrame list={list} one="action" chips={<Chips />} bones={12} none={<NoActions />}>
        <ActionsTable rows={list.rows} />
      </ListFrame>
    </>
  );
};

const Chips = () => (
  <>
    <SearchField name="q" label="Tool or error code" />
    <ChoiceChip
      name="decision"
      choices={[
        ['allow', 'allowed'],
        ['deny', 'denied'],
        ['require_approval', 'asked a person'],
      ]}
    />
    <ChoiceChip
      name="verdict"
      choices={[
        ['VERIFIED', 'verified'],
        ['MISMATCH', 'mismatch'],
        ['UNVERIFIABLE', 'unverifiable'],
      ]}
    />
    <ChoiceChip
      name="level"
      choices={[
        ['L0', 'L0, the tool’s own word'],
        ['L1', 'L1, read back'],
        ['L2', 'L2, the system of record'],
      ]}
    />
    <ChoiceChip
      name="execution"
      label="outcome"
      choices={[
        ['succeeded', 'succeeded'],
        ['failed', 'failed'],
        ['unknown', 'unknown'],
      ]}
    />
    <ChoiceChip
      name="state"
      choices={[
        ['pending_approval', 'waits for a person'],
        ['executing', 'executing'],
        ['witnessing', 'witnessing'],
        ['recorded', 'recorded'],
        ['sealed', 'sealed'],
      ]}
    />
    <SinceChip name="created_at[gte]" label="since" />
    <GivenChip name="created_at[lt]" label="before" />
    <GivenChip name="agent" label="agent" />
    <GivenChip name="tool" label="tool" />
    <GivenChip name="rule_id" label="rule" />
    <GivenChip name="on_behalf_of" label="on behalf of" />
    <GivenChip name="session" label="session" />
    <GivenChip name="shadow_differs" label="shadow differs" />
  </>
);

const NoActions = () => (
  <Empty
    title="No action yet"
    code={[
      `curl -sS '${location.origin}/v1/actions' -H "Authorization: Bearer $AGENT_KEY" \\`,
      `  -H 'Content-Type: application/json' -d '{"tool": "crm.get_customer", "args": {"id": "42"}}'`,
    ].join('\n')}
  >
    An action is one call of a tool by an agent. It is decided by the policy, run under control and sealed. With the key
    of an agent, ask for the first one:
  </Empty>
);

/** Also of a part of the list, beside something else. */
export const ActionsTable = ({ rows }: { readonly rows: readonly Schemas['Action'][] }) => (
  <table className={kit['table']}>
    <thead>
      <tr>
        <th scope="col">Time</th>
        <th scope="col">Agent</th>
        <th scope="col">Tool</th>
        <th scope="col">Status</th>
        <th scope="col">Evidence</th>
        <th scope="col">On behalf of</th>
        <th scope="col">Took</th>
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
        </Link>
      </td>
      <td>
        <StatusBadge {...action} />
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
