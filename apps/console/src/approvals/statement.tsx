import type { Schemas } from '../kernel/client.ts';
import { Fact, Facts } from '../kit/facts.tsx';
import { Said } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import { sqlFactsIn } from './sql-facts.ts';

type Context = Schemas['ApprovalContext'];
type Statement = Extract<NonNullable<Context['sends']>, { sql: string }>;

/** The statement that an approval lets run, with its parameters. One that is an argument stands there already. */
export const RunsStatement = ({
  sends: { sql, params },
  args,
  when,
}: {
  readonly sends: Statement;
  readonly args: Context['args'];
  readonly when: string;
}) => (
  <div className={kit['stack']}>
    {args['sql'] === sql ? (
      <p>The statement above runs in a transaction of its own, {when}.</p>
    ) : (
      <>
        <p>This statement runs in a transaction of its own, {when}:</p>
        <pre className={kit['statement']}>
          <Said text={sql} isMultiline />
        </pre>
      </>
    )}
    {params.length === 0 ? null : (
      <dl className={kit['args']} aria-label="Parameters of the statement">
        {params.map((value, index) => (
          <div key={index}>
            <dt>${index + 1}</dt>
            <dd>
              {value === null ? <em>NULL</em> : value === '' ? <em>empty text</em> : <Said text={value} isMultiline />}
            </dd>
          </div>
        ))}
      </dl>
    )}
  </div>
);

/** What the connector read about a statement, in words; nothing for other calls. */
export const SqlFacts = ({ facts }: { readonly facts: Context['facts'] }) => {
  const read = sqlFactsIn(facts);
  if (read === null) return null;
  const { kind, tables, hasWhere, isParameterized, functions } = read;
  return (
    <Facts>
      <Fact name="Kind">
        <code>
          <Said text={kind.toUpperCase()} />
        </code>
      </Fact>
      <Fact name="Tables">
        {tables.length === 0 ? (
          'none'
        ) : (
          <code>
            <Said text={tables.join(', ')} />
          </code>
        )}
      </Fact>
      {kind === 'update' || kind === 'delete' ? <Fact name="Has WHERE">{hasWhere ? 'yes' : 'no'}</Fact> : null}
      <Fact name="Values">{isParameterized ? 'sent as parameters' : 'written in the statement'}</Fact>
      {functions.length === 0 ? null : (
        <Fact name="Functions">
          <code>
            <Said text={functions.join(', ')} />
          </code>
        </Fact>
      )}
    </Facts>
  );
};
