import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { curlOf } from '../kernel/curl.ts';
import { exampleArgs, firstTool } from '../kernel/example-call.ts';
import { CopyButton, Panel, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { slotsQuery } from '../policies/queries.ts';
import styles from './connectors.module.css';
import type { Connector } from './types.ts';

/** The next steps after a connector is set up: allow its tools in the policy, then let an agent call one. */
export const TryPanel = ({ connector }: { readonly connector: Connector }) => {
  const { data: slots } = useQuery(slotsQuery);
  const tool = firstTool([connector]);
  if (tool === null) return null;
  const code = curlOf(location.origin, { tool: tool.name, args: exampleArgs(tool), mode: 'gateway' });
  const enforced = slots?.enforced ?? null;
  return (
    <Panel title="Call a tool">
      <p className={styles['tryWay']}>
        A call runs when the enforced policy allows the tool:{' '}
        {enforced === null ? (
          <>
            no policy is enforced yet, so every call is denied. <Link href="/policies">Enforce a policy</Link>.
          </>
        ) : (
          <>
            see{' '}
            <Link href={`/policies/${enforced.policy.id}`}>
              <Said text={enforced.policy.name} />
            </Link>{' '}
            and try the call there.
          </>
        )}{' '}
        Then, with the key of an <Link href="/agents">agent</Link>:
      </p>
      <div className={styles['try']}>
        <pre className={kit['code']} tabIndex={0} aria-label={`Example call of ${tool.name}`}>
          {code}
        </pre>
        <CopyButton text={code}>Copy call</CopyButton>
      </div>
    </Panel>
  );
};
