import { useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useFilters } from '../kernel/address.ts';
import { answerOf, api, type Schemas } from '../kernel/client.ts';
import { PAGE_SIZE, useList } from '../kernel/lists.ts';
import { useLive } from '../kernel/live-provider.tsx';
import { duration } from '../kernel/times.ts';
import { EvidenceBadge, StatusBadge } from '../kit/badges.tsx';
import { Failure, Lag } from '../kit/failure.tsx';
import { ChoiceChip, GivenChip, SearchField, SinceChip } from '../kit/filters.tsx';
import { Bones, Button, cx, Empty, None, Said, Time } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { ListFoot, NewRows } from '../kit/list-foot.tsx';
import { ScreenHead } from '../shell/screen.tsx';
import styles from './gate.module.css';

/** Names of the API, as they stand in the address too. */
const FILTERS = [
  ...['agent', 'tool', 'state', 'decision', 'rule_id', 'execution', 'verdict', 'level'],
  ...['on_behalf_of', 'session', 'shadow_differs', 'created_at[gte]', 'created_at[lt]', 'q'],
] as const;

export const ActionsScreen = () => {
  const { filters, clear } = useFilters();
  const queries = useQueryClient();
  const { news } = useLive();
  const wanted = Object.fromEntries(FILTERS.flatMap((name) => (filters.has(name) ? [[name, filters.get(name)]] : [])));
  const isFiltered = Object.keys(wanted).length > 0;
  const list = useList(['actions', wanted], (cursor) =>
    answerOf(
      api.GET('/v1/actions', {
        // The address holds them as the API takes them: several values of one filter are one text.
        params: { query: { ...wanted, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) } },
      }),
    ),
  );
  const { rows, error, isPending, refetch } = list;
  return (
    <>
      <ScreenHead title="Actions" about="Every tool call that an agent asked for, and what became of it." />
      <div className={styles['tools']}>
        <div className={kit['chips']}>
          <SearchField name="q" label="Tool or error code" />
          <Chips />
          <NewRows
            count={news['actions'] ?? 0}
            what="actions"
            isFiltered={isFiltered}
            onShow={() => void queries.resetQueries({ queryKey: ['actions', wanted] })}
          />
        </div>
        <Lag events={list.lag} />
      </div>
      {error !== null ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <Bones count={12} />
      ) : rows.length === 0 ? (
        <NoActions isFiltered={isFiltered} onClear={clear} />
      ) : (
        <div className={kit['panel']}>
          <ActionsTable rows={rows} />
        </div>
      )}
      <div className={styles['foot']}>
        <ListFoot {...list} />
      </div>
    </>
  );
};

const Chips = () => (
  <>
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

const NoActions = ({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) =>
  isFiltered ? (
    <Empty title="No action fits these filters">
      <Button onClick={onClear}>Take the filters away</Button>
    </Empty>
  ) : (
    <Empty
      title="No action yet"
      code={[
        `curl -sS '${location.origin}/v1/actions' -H "Authorization: Bearer $AGENT_KEY" \\`,
        `  -H 'Content-Type: application/json' -d '{"tool": "crm.get_customer", "args": {"id": "42"}}'`,
      ].join('\n')}
    >
      An action is one call of a tool by an agent. It is decided by the policy, run under control and sealed. With the
      key of an agent, ask for the first one:
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
