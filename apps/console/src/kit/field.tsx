import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Icon } from '../design/icon.tsx';
import { ApiError } from '../kernel/errors.ts';
import { Failure } from './failure.tsx';
import { Said } from './kit.tsx';
import kit from './kit.module.css';
import styles from './form.module.css';

/** Whether an error of the service is about this field, or a part of it. */
const isAbout = (error: unknown, param: string): error is ApiError =>
  error instanceof ApiError &&
  error.param !== null &&
  (error.param === param || error.param.startsWith(`${param}.`) || error.param.startsWith(`${param}[`));

interface Control {
  readonly id: string;
  readonly className: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string;
}

/** A labelled form field with a hint and, if the service refused its value, the error below. */
export const Field = ({
  label,
  param,
  error,
  hint,
  children,
}: {
  readonly label: ReactNode;
  /** The name of the field in the API's errors. */
  readonly param: string;
  readonly error: unknown;
  readonly hint?: ReactNode;
  readonly children: (control: Control) => ReactNode;
}) => {
  const id = useId();
  const part = useRef<HTMLDivElement>(null);
  const wrong = isAbout(error, param) ? error : null;
  // The first control of a refused field takes the focus: screen readers read the error there, and the person can
  // correct the value at once.
  useEffect(() => {
    if (wrong !== null) part.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [wrong]);
  return (
    <div className={styles['part']} ref={part}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: kit['field'] ?? '',
        'aria-invalid': wrong !== null,
        'aria-describedby': `${id}-hint ${id}-wrong`,
      })}
      <span id={`${id}-hint`} className={styles['hint']} hidden={hint === undefined}>
        {hint}
      </span>
      <span id={`${id}-wrong`} className={styles['wrong']} role="alert" hidden={wrong === null}>
        {wrong === null ? null : (
          <>
            <Icon name="alert" size={14} />
            <Said text={wrong.message} />
          </>
        )}
      </span>
    </div>
  );
};

/** The error of a request, unless it is about one of these fields, which show it themselves. */
export const OtherFailure = ({ error, params }: { readonly error: unknown; readonly params: readonly string[] }) =>
  error === null || params.some((param) => isAbout(error, param)) ? null : <Failure error={error} />;

interface Choice<Value extends string> {
  readonly value: Value;
  readonly name: ReactNode;
  readonly about?: ReactNode;
}

/** Radio buttons for a few choices, each with an explanation. */
export const Choices = <Value extends string>({
  legend,
  chosen,
  onChoose,
  of,
}: {
  readonly legend: ReactNode;
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
  readonly of: readonly Choice<Value>[];
}) => {
  const name = useId();
  return (
    <fieldset className={styles['choices']}>
      <legend>{legend}</legend>
      {of.map(({ value, name: word, about }) => (
        <label key={value} className={styles['choice']}>
          <input
            type="radio"
            name={name}
            aria-labelledby={`${name}-${value}`}
            aria-describedby={`${name}-${value}-about`}
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          <span>
            <b id={`${name}-${value}`}>{word}</b>
            <small id={`${name}-${value}-about`}>{about}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
};
