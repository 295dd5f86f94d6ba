import type { ReactNode } from 'react';
import { Fact, Facts } from '../kit/facts.tsx';
import { CopyButton, Panel, Said, Time } from '../kit/kit.tsx';
import { choicesOf, isMore, kindOf, type Schema } from './schema.ts';
import type { Connector, ConnectorType } from './types.ts';

/** The config of a connector, under the titles that its type gives the members. */
export const ConfigFacts = ({
  connector,
  type,
}: {
  readonly connector: Connector;
  readonly type: ConnectorType | undefined;
}) => {
  const schema = (type?.config_schema ?? {}) as Schema;
  const config = connector.config as unknown as Readonly<Record<string, unknown>>;
  const told = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    // Members that most connectors leave at the default are shown only if they differ from it.
    if (isMore(member) && config[name] === member.default && !ALWAYS_SHOWN.includes(name)) return [];
    const said = sayOf(name, member, config[name]);
    return said === null ? [] : [[member.title ?? name, said] as const];
  });
  return (
    <Panel
      title="Facts"
      aside={<CopyButton text={JSON.stringify(connector.config, null, 2)}>Config as JSON</CopyButton>}
    >
      <Facts>
        <Fact name="Type">{type?.title ?? connector.type}</Fact>
        {told.map(([name, said]) => (
          <Fact key={name} name={name}>
            {said}
          </Fact>
        ))}
        <Fact name="Changed">
          <Time at={connector.updated_at} isExact />
        </Fact>
      </Facts>
    </Panel>
  );
};

/** What bounds the calls of a database: its limits are shown even where they are the default ones. */
const ALWAYS_SHOWN: readonly string[] = [
  'statement_timeout_ms',
  'lock_timeout_ms',
  'max_rows_changed',
  'max_rows_returned',
  'max_result_bytes',
];

/** A value in words; null if it is absent, or is shown in a panel of its own. */
const sayOf = (name: string, schema: Schema, value: unknown): ReactNode => {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  // The number of a port is a name, and no amount.
  if (typeof value === 'number') return name === 'port' ? String(value) : value.toLocaleString('en');
  if (typeof value === 'string')
    return <Said text={choicesOf(schema).find(([each]) => each === value)?.[1] ?? value} />;
  if (Array.isArray(value))
    return value.length > 0 && value.every((each) => typeof each === 'string') ? (
      <Said text={value.join(', ')} />
    ) : null;
  if (kindOf(schema) !== 'map' || Object.keys(value).length === 0) return null;
  return <Said text={Object.entries(value).map(entryInWords).join(', ')} />;
};

/** A number is short and says the most; a text may be long, and its name says enough. */
const entryInWords = ([name, value]: readonly [string, unknown]): string =>
  typeof value === 'number' ? `${name}: ${value.toLocaleString('en')}` : name;
