import { Link } from 'wouter';
import { EffectBadge, LevelsBadge } from '../kit/badges.tsx';
import { plain } from '../kernel/said.ts';
import { CodeBlock } from '../kit/code-block.tsx';
import { Panel, Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './connectors.module.css';
import { parametersOf, statementOf } from './database-config.ts';
import type { Connector } from './types.ts';

type Tool = Connector['tools'][number];

/** The tools of the connector, and how well the outcome of each can be verified. */
export const ToolsPanel = ({ connector }: { readonly connector: Connector }) => (
  <Panel title={`Tools (${connector.tools.length})`} aside={<AllCalls name={connector.name} />}>
    {connector.status === 'disabled' ? (
      <p className={kit['dim']}>This connector is disabled: every call is denied.</p>
    ) : null}
    <ul className={styles['tools']}>
      {connector.tools.map((tool) => (
        <li key={tool.name}>
          <div className={styles['toolHead']}>
            <Link href={`/actions?tool=${encodeURIComponent(tool.name)}`}>
              <code>
                <Said text={tool.name} />
              </code>
            </Link>
            <EffectBadge effect={tool.side_effect} />
            <LevelsBadge levels={tool.levels} />
          </div>
          {tool.description === null ? null : (
            <p>
              <Said text={tool.description} />
            </p>
          )}
          <Takes connector={connector} tool={tool} />
          {tool.read_back === null ? null : (
            <p className={kit['dim']}>
              <Said text={tool.read_back} />
            </p>
          )}
        </li>
      ))}
    </ul>
  </Panel>
);

/** The arguments; of a fixed statement, the statement with what each of its parameters is. */
const Takes = ({ connector, tool }: { readonly connector: Connector; readonly tool: Tool }) => {
  const statement = statementOf(connector, tool.name);
  if (statement === null)
    return (
      <p className={kit['dim']}>
        <Said text={argumentsOf(tool)} />
      </p>
    );
  const parameters = parametersOf(statement);
  return (
    <>
      <CodeBlock label={`Statement of ${plain(tool.name)}`} code={statement.sql} />
      <p className={kit['dim']}>
        <Said text={parameters === '' ? 'Takes no arguments.' : `Takes ${parameters}.`} />
      </p>
      {statement.postcondition === undefined ? null : (
        <p className={kit['dim']}>
          Checked on the change log:{' '}
          <code>
            <Said text={statement.postcondition} />
          </code>
        </p>
      )}
    </>
  );
};

const AllCalls = ({ name }: { readonly name: string }) => (
  <Link href={`/actions?tool=${encodeURIComponent(`${name}.*`)}`}>All calls</Link>
);

/** `Takes id, amount and (if given) note.` */
const argumentsOf = ({ input_schema: schema }: Tool): string => {
  const { properties = {}, required = [] } = schema as {
    properties?: Readonly<Record<string, unknown>>;
    required?: readonly string[];
  };
  const names = Object.keys(properties);
  if (names.length === 0) return 'Takes no arguments.';
  const optional = names.filter((name) => !required.includes(name));
  const must = required.length === 0 ? '' : `Takes ${required.join(', ')}`;
  const may = optional.length === 0 ? '' : `${must === '' ? 'May take' : '; may take'} ${optional.join(', ')}`;
  return `${must}${may}.`;
};
