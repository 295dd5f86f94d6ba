import { type ComponentProps, type ReactNode, useId } from 'react';
import { Field } from './field.tsx';
import form from './form.module.css';
import styles from './fields.module.css';

type Told = Omit<ComponentProps<typeof Field>, 'children'>;

type TextProps = Told & {
  readonly value: string;
  readonly onChange: (text: string) => void;
} & Omit<ComponentProps<'input'>, 'onChange' | 'value'>;

/** A field for one line of text. */
export const TextField = ({ label, param, error, hint, value, onChange, ...others }: TextProps) => (
  <Field label={label} param={param} error={error} hint={hint}>
    {(control) => (
      <input
        {...control}
        autoComplete="off"
        {...others}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

type LongTextProps = Told & {
  readonly value: string;
  readonly onChange: (text: string) => void;
} & Pick<ComponentProps<'textarea'>, 'placeholder' | 'maxLength' | 'spellCheck'>;

/** A field for text of several lines, such as a statement. It grows with its text. */
export const LongTextField = ({ label, param, error, hint, value, onChange, ...others }: LongTextProps) => (
  <Field label={label} param={param} error={error} hint={hint}>
    {({ className, ...control }) => (
      <textarea
        {...control}
        className={`${className} ${styles['long']}`}
        rows={Math.min(16, Math.max(3, value.split('\n').length))}
        {...others}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

type SelectProps = Told & {
  readonly value: string;
  readonly choices: readonly (readonly [value: string, word: string])[];
  readonly onChange: (value: string) => void;
};

/** A field to select one of many choices. */
export const SelectField = ({ label, param, error, hint, value, choices, onChange }: SelectProps) => (
  <Field label={label} param={param} error={error} hint={hint}>
    {(control) => (
      <select {...control} value={value} onChange={({ target }) => onChange(target.value)}>
        {choices.map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
    )}
  </Field>
);

export const CheckField = ({
  label,
  hint,
  isOn,
  onChange,
}: {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) => {
  const id = useId();
  return (
    <div className={styles['check']}>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={({ target }) => onChange(target.checked)}
        />
        <span>{label}</span>
      </label>
      {hint === undefined ? null : (
        <span id={id} className={form['hint']}>
          {hint}
        </span>
      )}
    </div>
  );
};

/** Fields under a common legend, with an error about all of them below. */
export const FieldGroup = ({
  legend,
  hint,
  fault = null,
  children,
}: {
  readonly legend: string;
  readonly hint?: ReactNode;
  readonly fault?: string | null;
  readonly children: ReactNode;
}) => (
  <fieldset className={styles['group']}>
    <legend>{legend}</legend>
    {hint === undefined ? null : <span className={form['hint']}>{hint}</span>}
    {children}
    <Fault text={fault} />
  </fieldset>
);

/** The text of an error, beside the field where it can be corrected; nothing if `text` is null. */
export const Fault = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <span className={form['wrong']} role="alert">
      {text}
    </span>
  );
