import type { ReactNode } from 'react';
import { CheckField, Fault, FieldGroup, LongTextField, SelectField, TextField } from '../kit/fields.tsx';
import styles from './connectors.module.css';
import { type Draft, type DraftObject, emptyDraft, isWanted, valuesAt } from './draft.ts';
import { useDisclosure, useFault, useForm } from './form-context.ts';
import { Rows } from './rows.tsx';
import { choicesOf, hasLines, isMore, isOptionalWhole, kindOf, type Schema } from './schema.ts';

interface MemberProps {
  readonly schema: Schema;
  /** The member's name in the API's errors. */
  readonly param: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly value: Draft | undefined;
  readonly onChange: (value: Draft | undefined) => void;
}

/** The fields of an object: the common ones, then the others behind a disclosure. */
export const Members = ({
  schema,
  param,
  object,
  onChange,
}: {
  readonly schema: Schema;
  readonly param: string;
  readonly object: DraftObject;
  readonly onChange: (object: DraftObject) => void;
}) => {
  const { after, below } = useForm();
  const wanted = Object.entries(schema.properties ?? {}).filter(([, member]) => isWanted(member, schema, object));
  const draw = ([name, member]: (typeof wanted)[number]) => (
    <div key={name} className={styles['member']} data-room={roomOf(member)} data-param={`${param}.${name}`}>
      <Member
        schema={member}
        param={`${param}.${name}`}
        name={name}
        isRequired={schema.required?.includes(name) === true}
        value={object.members[name]}
        onChange={(value) => onChange(after(name, withMember(object, name, value)))}
      />
      {below(name, object, onChange)}
    </div>
  );
  const more = wanted.filter(([, member]) => isMore(member));
  return (
    <div className={styles['members']}>
      {wanted.filter(([, member]) => !isMore(member)).map(draw)}
      {more.length === 0 ? null : (
        <More places={more.map(([name]) => `${param}.${name}`)} words={more.map(([name, { title }]) => title ?? name)}>
          {more.map(draw)}
        </More>
      )}
    </div>
  );
};

const withMember = (object: DraftObject, name: string, value: Draft | undefined): DraftObject => {
  const rest = Object.entries(object.members).filter(([other]) => other !== name);
  return { ...object, members: Object.fromEntries(value === undefined ? rest : [...rest, [name, value]]) };
};

const SHORT_TEXT = 64;

/** How wide a field is: a whole line, or a part of one. */
const roomOf = (schema: Schema): string => {
  switch (kindOf(schema)) {
    case 'choice':
    case 'number':
    case 'flag':
      return 'part';
    case 'text':
      return (schema.maxLength ?? 0) <= SHORT_TEXT ? 'part' : 'line';
    default:
      return 'line';
  }
};

const More = ({
  places,
  words,
  children,
}: {
  readonly places: readonly string[];
  readonly words: readonly string[];
  readonly children: ReactNode;
}) => {
  const { isOpen, setOpen } = useDisclosure(places);
  return (
    <details className={styles['more']} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        More <small>{words.join(', ')}</small>
      </summary>
      {isOpen ? <div className={styles['members']}>{children}</div> : null}
    </details>
  );
};

/** The field of one member, as its schema asks for. */
const Member = (props: MemberProps) => {
  const { schema, isRequired } = props;
  switch (kindOf(schema)) {
    case 'object':
      return isOptionalWhole(schema, isRequired) ? <WholeOrNot {...props} /> : <Grouped {...props} />;
    case 'map':
    case 'list':
      return <Rows members={Members} {...props} />;
    case 'checks':
      return <Checks {...props} />;
    case 'flag':
      return <Flag {...props} />;
    case 'choice':
      return <Choice {...props} />;
    default:
      return schema['x-service-form']?.choices === undefined ? <Text {...props} /> : <Named {...props} />;
  }
};

const objectOf = (value: Draft | undefined, schema: Schema): DraftObject =>
  (value ?? emptyDraft(schema)) as DraftObject;

const Grouped = ({ schema, param, name, value, onChange }: MemberProps) => (
  <FieldGroup legend={schema.title ?? name} hint={schema.description}>
    <Members schema={schema} param={param} object={objectOf(value, schema)} onChange={onChange} />
  </FieldGroup>
);

/** An optional object with required members: off leaves it out, on makes its members required. */
const WholeOrNot = ({ schema, param, name, value, onChange }: MemberProps) => (
  <>
    <CheckField
      label={schema.title ?? name}
      hint={schema.description}
      isOn={value !== undefined}
      onChange={(isOn) => onChange(isOn ? emptyDraft(schema) : undefined)}
    />
    <Fault text={useFault(param)} />
    {value === undefined ? null : (
      <div className={styles['inner']}>
        <Members schema={schema} param={param} object={objectOf(value, schema)} onChange={onChange} />
      </div>
    )}
  </>
);

const Checks = ({ schema, param, name, value, onChange }: MemberProps) => {
  const chosen = (value ?? schema.default ?? []) as readonly string[];
  return (
    <FieldGroup legend={schema.title ?? name} hint={schema.description} fault={useFault(param)}>
      <div className={styles['checks']}>
        {(schema.items?.enum ?? []).map((choice) => (
          <CheckField
            key={choice}
            label={<code>{choice}</code>}
            isOn={chosen.includes(choice)}
            onChange={(isOn) => {
              const rest = chosen.filter((other) => other !== choice);
              onChange(isOn ? [...rest, choice] : rest);
            }}
          />
        ))}
      </div>
    </FieldGroup>
  );
};

const Flag = ({ schema, param, name, value, onChange }: MemberProps) => (
  <>
    <CheckField
      label={schema.title ?? name}
      hint={schema.description}
      isOn={typeof value === 'boolean' ? value : schema.default === true}
      onChange={onChange}
    />
    <Fault text={useFault(param)} />
  </>
);

const labelOf = ({ schema, name }: MemberProps): string => schema.title ?? name;

const Choice = (props: MemberProps) => {
  const { schema, param, isRequired, value, onChange } = props;
  const byDefault = typeof schema.default === 'string' ? schema.default : '';
  const nothing = [['', isRequired ? 'Choose one' : 'Not set']] as const;
  return (
    <SelectField
      label={labelOf(props)}
      hint={schema.description}
      param={param}
      error={useForm().error}
      value={typeof value === 'string' && value !== '' ? value : byDefault}
      choices={byDefault === '' ? [...nothing, ...choicesOf(schema)] : choicesOf(schema)}
      onChange={(text) => onChange(text === '' ? undefined : text)}
    />
  );
};

/** A choice among values from another part of the config. */
const Named = (props: MemberProps) => {
  const { schema, param, value, onChange } = props;
  const { root, error } = useForm();
  const text = typeof value === 'string' ? value : '';
  const known = valuesAt(root, schema['x-service-form']?.choices ?? '', schema['x-service-form']?.among);
  const all = text === '' || known.includes(text) ? known : [...known, text];
  return (
    <SelectField
      label={labelOf(props)}
      hint={schema.description}
      param={param}
      error={error}
      value={text}
      choices={[['', 'Choose one'], ...all.map((each) => [each, each] as const)]}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
};

const Text = (props: MemberProps) => {
  const { schema, param, isRequired, value, onChange } = props;
  const byDefault =
    typeof schema.default === 'string' || typeof schema.default === 'number' ? `${schema.default}` : undefined;
  const field = {
    label: isRequired || byDefault !== undefined ? labelOf(props) : `${labelOf(props)} (optional)`,
    hint: hintOf(schema),
    param,
    error: useForm().error,
    value: typeof value === 'string' ? value : '',
    placeholder: schema.examples?.[0] ?? byDefault,
    maxLength: schema.maxLength,
    spellCheck: false,
    onChange: (text: string) => onChange(text === '' ? undefined : text),
  };
  return hasLines(schema) ? (
    <LongTextField {...field} />
  ) : (
    <TextField {...field} inputMode={schema.type === 'integer' ? 'numeric' : undefined} />
  );
};

/** The description, range and default of a field. */
const hintOf = ({ description, minimum, maximum, default: byDefault }: Schema): string | undefined => {
  const range = minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}`];
  const unless = typeof byDefault === 'number' ? [`default: ${byDefault}`] : [];
  const limits = [...range, ...unless].join(', ');
  const parts = [...(description === undefined ? [] : [description]), ...(limits === '' ? [] : [`${limits}.`])];
  return parts.length === 0 ? undefined : parts.join(' ');
};
