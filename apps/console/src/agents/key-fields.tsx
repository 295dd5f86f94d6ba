import type { Schemas } from '../kernel/client.ts';
import { faultAt } from '../kernel/errors.ts';
import { Choices } from '../kit/field.tsx';
import { CheckField, FieldGroup } from '../kit/fields.tsx';
import kit from '../kit/kit.module.css';

type Scope = Schemas['AgentScope'];

/** The scopes offered for a key. `actions:undo` is left out, because it is reserved, and no operation asks for it. */
const SCOPES: readonly (readonly [Scope, string])[] = [
  ['actions:execute', 'Call tools'],
  ['actions:read', 'Read its own actions and their events'],
  ['deeds:read', 'Read deeds and verify the ledger'],
];

export interface TypedKey {
  readonly livemode: boolean;
  readonly scopes: readonly Scope[];
}

export const FIRST_KEY: TypedKey = { livemode: false, scopes: SCOPES.map(([scope]) => scope) };

/** The form fields of a new key: live or test, and its scopes. */
export const KeyFields = ({
  typed,
  error,
  prefix = '',
  onChange,
}: {
  readonly typed: TypedKey;
  readonly error: Error | null;
  /** The path of the key's fields in the request: `key.` if the request creates an agent, else empty. */
  readonly prefix?: string;
  readonly onChange: (typed: TypedKey) => void;
}) => {
  const fault = faultAt(error, `${prefix}scopes`);
  const turn = (scope: Scope, isOn: boolean): void => {
    const rest = typed.scopes.filter((other) => other !== scope);
    onChange({ ...typed, scopes: isOn ? [...rest, scope] : rest });
  };
  return (
    <>
      <Choices
        legend="Key type"
        chosen={typed.livemode ? 'live' : 'test'}
        onChoose={(kind) => onChange({ ...typed, livemode: kind === 'live' })}
        of={[
          {
            value: 'test',
            name: 'Test',
            about: 'Starts with svc_test_. Only a mark: tools run as with a live key, and every action says test.',
          },
          { value: 'live', name: 'Live', about: 'Starts with svc_live_.' },
        ]}
      />
      <FieldGroup legend="Permissions" fault={fault}>
        {SCOPES.map(([scope, word]) => (
          <CheckField
            key={scope}
            label={
              <>
                {word} <code className={kit['dim']}>{scope}</code>
              </>
            }
            isOn={typed.scopes.includes(scope)}
            onChange={(isOn) => turn(scope, isOn)}
          />
        ))}
      </FieldGroup>
    </>
  );
};
