import { Link } from 'wouter';
import { CodeBlock } from '../kit/code-block.tsx';
import { Panel } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import type { Connector, ConnectorType } from './types.ts';

/** A policy to begin with, for types whose tools are known: without a rule no tool of a new connector can be called. */
export const StarterPanel = ({
  connector,
  type,
}: {
  readonly connector: Connector;
  readonly type: ConnectorType | undefined;
}) => {
  const starter = type?.starter_policy ?? null;
  if (starter === null) return null;
  return (
    <Panel title="Rules to begin with">
      <p className={kit['dim']}>
        No agent calls a tool of {connector.name} before the enforced policy allows it. Read these rules, change them,
        and put them into your <Link href="/policies">policy</Link>.
      </p>
      <CodeBlock label="Policy" code={starter.replaceAll('{name}', connector.name)} />
    </Panel>
  );
};
