import { type ComponentType, useRef } from 'react';
import { Fault, FieldGroup } from '../kit/fields.tsx';
import { Button } from '../kit/kit.tsx';
import kit from '../kit/kit.module.css';
import styles from './connectors.module.css';
import { addedTo, type Draft, type DraftObject, emptyDraft, type Row } from './draft.ts';
import { useDisclosure, useFault } from './form-context.ts';
import { kindOf, type Schema, valuesOf } from './schema.ts';

/** The component for the members of an object. Passed in, because it renders rows itself. */
type MembersComponent = ComponentType<{
  readonly schema: Schema;
  readonly param: string;
  readonly object: DraftObject;
  readonly onChange: (object: DraftObject) => void;
}>;

interface RowsProps {
  readonly members: MembersComponent;
  readonly schema: Schema;
  readonly param: string;
  readonly name: string;
  readonly value: Draft | undefined;
  readonly onChange: (value: Draft) => void;
}

const rowsOf = (value: Draft | undefined): readonly Row[] =>
  typeof value === 'object' && 'rows' in value ? value.rows : [];

/** The description, and what stands for a list without rows. */
const hintOf = ({ description, default: byDefault }: Schema): string | undefined => {
  const unless = Array.isArray(byDefault) ? [`Default: ${byDefault.join(', ')}.`] : [];
  const parts = [...(description === undefined ? [] : [description]), ...unless];
  return parts.length === 0 ? undefined : parts.join(' ');
};

/** A list or a map in the form: a row for each entry, and a button to add one. */
export const Rows = ({ members, schema, param, name, value, onChange }: RowsProps) => {
  const added = useRef<number | null>(null);
  const rows = rowsOf(value);
  const isMap = kindOf(schema) === 'map';
  const of = isMap ? valuesOf(schema) : (schema.items ?? {});
  const one = (of.title ?? 'Row').toLowerCase();
  const add = (): void => {
    const next = addedTo(rows, '', emptyDraft(of));
    added.current = next.rows.at(-1)?.id ?? null;
    onChange(next);
  };
  // A new row takes the focus, so that the person can type at once.
  const takeFocus = (item: HTMLElement | null, id: number): void => {
    if (item === null || added.current !== id) return;
    added.current = null;
    item.querySelector<HTMLElement>('input, select')?.focus();
  };
  return (
    <FieldGroup legend={schema.title ?? name} hint={hintOf(schema)} fault={useFault(param)}>
      {rows.length === 0 ? null : (
        <ul className={styles['rows']}>
          {rows.map((row, index) => (
            <li key={row.id} ref={(item) => takeFocus(item, row.id)}>
              <OneRow
                members={members}
                schema={of}
                one={one}
                param={isMap ? `${param}.${row.name}` : `${param}[${index}]`}
                isMap={isMap}
                names={schema.propertyNames}
                number={index + 1}
                row={row}
                onChange={(changed) => onChange({ rows: rows.map((each) => (each.id === row.id ? changed : each)) })}
                onRemove={() => onChange({ rows: rows.filter(({ id }) => id !== row.id) })}
              />
            </li>
          ))}
        </ul>
      )}
      <Button isSmall className={styles['add']} onClick={add}>
        Add {rows.length === 0 ? 'the first' : 'another'} {one}
      </Button>
    </FieldGroup>
  );
};

interface RowProps {
  readonly members: MembersComponent;
  readonly schema: Schema;
  /** The word for one row. */
  readonly one: string;
  readonly param: string;
  readonly isMap: boolean;
  readonly names: Schema['propertyNames'];
  readonly number: number;
  readonly row: Row;
  readonly onChange: (row: Row) => void;
  readonly onRemove: () => void;
}

const OneRow = (props: RowProps) => {
  if (kindOf(props.schema) !== 'object') return <LineRow {...props} />;
  return props.isMap ? <NamedRow {...props} /> : <FoldedRow {...props} />;
};

const NameInput = ({
  one,
  number,
  names,
  row,
  onChange,
}: Pick<RowProps, 'one' | 'number' | 'names' | 'row' | 'onChange'>) => (
  <input
    className={kit['field']}
    aria-label={`${names?.title ?? 'Name'} of ${one} ${number}`}
    placeholder={names?.examples?.[0] ?? 'name'}
    autoComplete="off"
    spellCheck={false}
    value={row.name}
    onChange={({ target }) => onChange({ ...row, name: target.value })}
  />
);

/** A row for a text; in a map, with its name first. */
const LineRow = (props: RowProps) => {
  const { schema, one, param, isMap, number, row, onChange, onRemove } = props;
  const fault = useFault(param);
  return (
    <div className={styles['line']} data-param={param}>
      {isMap ? <NameInput {...props} /> : null}
      <input
        className={kit['field']}
        aria-label={isMap ? `Value of ${one} ${number}` : `${one} ${number}`}
        aria-invalid={fault === null ? undefined : true}
        placeholder={schema.examples?.[0] ?? (isMap ? 'value' : undefined)}
        autoComplete="off"
        spellCheck={false}
        maxLength={schema.maxLength}
        value={typeof row.value === 'string' ? row.value : ''}
        onChange={({ target }) => onChange({ ...row, value: target.value })}
      />
      <Remove name={`${one} ${number}`} onRemove={onRemove} />
      <Fault text={fault} />
    </div>
  );
};

const Remove = ({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) => (
  <Button isSmall icon="cross" aria-label={`Remove ${name}`} onClick={onRemove} />
);

/** A row for a named object, such as an argument. */
const NamedRow = (props: RowProps) => {
  const { members: Members, schema, one, param, number, row, onChange, onRemove } = props;
  return (
    <fieldset className={styles['named']} data-param={param}>
      <legend className="visually-hidden">
        {one} {row.name === '' ? number : row.name}
      </legend>
      <div className={styles['namedHead']}>
        <NameInput {...props} />
        <Remove name={row.name === '' ? `${one} ${number}` : row.name} onRemove={onRemove} />
      </div>
      <Fault text={useFault(param)} />
      <Members
        schema={schema}
        param={param}
        object={row.value as DraftObject}
        onChange={(value) => onChange({ ...row, value })}
      />
    </fieldset>
  );
};

/** The summary of a folded row: the values of its required members. */
const summaryOf = (schema: Schema, object: DraftObject): readonly string[] =>
  (schema.required ?? []).flatMap((name) => {
    const value = object.members[name];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });

/** A row for an object in a list, such as a tool. Folded at first if it is filled in. */
const FoldedRow = ({ members: Members, schema, one, param, number, row, onChange, onRemove }: RowProps) => {
  const object = row.value as DraftObject;
  const [first, ...others] = summaryOf(schema, object);
  const { isOpen, isAtFault, setOpen } = useDisclosure([param], first === undefined);
  const fault = useFault(param);
  const name = first ?? `${one} ${number}`;
  return (
    <details
      className={styles['folded']}
      data-fault={isAtFault ? '' : undefined}
      data-param={param}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <strong>{first ?? `New ${one}`}</strong> <code>{others.join(' ')}</code>
      </summary>
      {isOpen ? (
        <div className={styles['foldedBody']}>
          <Fault text={fault} />
          <Members schema={schema} param={param} object={object} onChange={(value) => onChange({ ...row, value })} />
          <p>
            <Button isSmall kind="danger" onClick={onRemove}>
              Remove {name}
            </Button>
          </p>
        </div>
      ) : null}
    </details>
  );
};
