import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { everyAgent } from '../agents/queries.ts';
import { everyConnector } from '../connectors/queries.ts';
import { Icon } from '../design/icon.tsx';
import { newestAction } from '../gate/queries.ts';
import { curlOf } from '../kernel/curl.ts';
import { useVersion } from '../kernel/documentation.tsx';
import { exampleArgs, firstTool } from '../kernel/example-call.ts';
import { useMay } from '../kernel/session.tsx';
import { CopyButton, Panel } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { newestPolicy, slotsQuery } from '../policies/queries.ts';
import styles from './overview.module.css';

/** Whether there is any action yet; null until that is known. */
export const useHasBegun = (isWanted: boolean): boolean | null => {
  const { data } = useQuery({ ...newestAction, enabled: isWanted });
  return data === undefined ? null : data.data.length > 0;
};

/** The name of the policy that a new organization of an operator begins with. Its version 1 denies every call. */
const AS_MADE = 'Default deny';

/** Which of the four requirements of a first call are met. */
const useBegun = () => {
  const { data: connectors } = useQuery(everyConnector);
  const { data: policies } = useQuery(newestPolicy);
  const { data: slots } = useQuery(slotsQuery);
  const { data: agents } = useQuery(everyAgent);
  const enforced = slots?.enforced ?? null;
  const isAsMade = enforced !== null && enforced.policy.name === AS_MADE && enforced.version === 1;
  const newest = policies?.data[0]?.id ?? null;
  return {
    hasConnector: (connectors?.data.length ?? 0) > 0,
    tool: firstTool(connectors?.data ?? []),
    policy: isAsMade ? (newest === enforced.policy.id ? null : newest) : (enforced?.policy.id ?? newest),
    isEnforced: enforced !== null && !isAsMade,
    hasAgent: agents?.data.some(({ active_keys: keys }) => keys > 0) ?? false,
  };
};

/**
 * Shown to a new organization instead of an overview full of zeros: four steps to the first call, each ticked once it
 * is done.
 */
export const BeginHere = () => {
  const may = useMay('admin');
  const { hasConnector, tool, policy, isEnforced, hasAgent } = useBegun();
  // For an admin, the link opens the form at once.
  const anew = may ? '?new=' : '';
  return (
    <Panel title="Get started">
      <p className={kit['dim']}>
        No actions yet. {may ? 'Four steps to the first call:' : 'An admin sets up the first call:'}
      </p>
      <ol className={styles['begin']}>
        <Step
          isDone={hasConnector}
          to={hasConnector || !may ? '/connectors' : '/connectors?add='}
          name="Connect a system"
        >
          A connector turns an HTTP API or an MCP server into tools. The service keeps the credential; agents never see
          it.
        </Step>
        <Step
          isDone={isEnforced}
          to={policy === null ? `/policies${anew}` : `/policies/${policy}`}
          name={policy === null || isEnforced ? 'Create and enforce a policy' : 'Enforce your policy'}
        >
          The rules of a policy allow calls, require approval, or deny them. Until a policy is enforced, every call is
          denied.
        </Step>
        <Step isDone={hasAgent} to={hasAgent ? '/agents' : `/agents${anew}`} name="Create an agent and its key">
          An agent is a program with its own API key and limits. The key is shown once.
        </Step>
        <Step isDone={false} to="/actions" name="Send the first call">
          {tool === null
            ? 'From any shell or MCP client. Without a connector for this tool the call is denied, recorded and sealed.'
            : 'From any shell or MCP client, with the agent’s API key. Every outcome is recorded and sealed.'}
        </Step>
      </ol>
      <Example
        name="First call"
        code={curlOf(location.origin, {
          tool: tool?.name ?? 'crm.get_customer',
          args: tool === null ? { id: '42' } : exampleArgs(tool),
          mode: 'gateway',
        })}
      >
        Copy call
      </Example>
      <McpAddress connector={tool?.name.split('.', 1)[0] ?? null} />
    </Panel>
  );
};

const Step = ({
  isDone,
  to,
  name,
  children,
}: {
  readonly isDone: boolean;
  readonly to: string;
  readonly name: string;
  readonly children: ReactNode;
}) => (
  <li data-done={isDone ? '' : undefined}>
    <span className={styles['beginMark']} aria-hidden="true">
      {isDone ? <Icon name="check" size={16} /> : null}
    </span>
    <div>
      <Link href={to}>{name}</Link>
      {isDone ? <span className="visually-hidden"> (done)</span> : null}
      <p>{children}</p>
    </div>
  </li>
);

/**
 * Where an MCP client calls the same tools: at the door of their connector, or at that of all of them while there is none. Its
 * key travels as the bearer token of every request.
 */
const McpAddress = ({ connector }: { readonly connector: string | null }) => {
  const docsUrl = useVersion().data?.docs_url ?? null;
  return (
    <>
      <p className={styles['beginOther']}>
        An MCP client calls the same tools at this address, with the header{' '}
        <code>Authorization: Bearer $AGENT_KEY</code>
        {docsUrl === null ? '.' : ': '}
        {docsUrl === null ? null : (
          <a href={`${docsUrl}/mcp`} target="_blank" rel="noreferrer">
            how to set up your client
          </a>
        )}
      </p>
      <Example
        name="Address for MCP clients"
        code={`${location.origin}/mcp${connector === null ? '' : `/${connector}`}`}
      >
        Copy address
      </Example>
    </>
  );
};

const Example = ({
  name,
  code,
  children,
}: {
  readonly name: string;
  readonly code: string;
  /** What the button says. */
  readonly children: string;
}) => (
  <div className={styles['beginCurl']}>
    <pre className={kit['code']} tabIndex={0} aria-label={name}>
      {code}
    </pre>
    <CopyButton text={code}>{children}</CopyButton>
  </div>
);
