import { useId } from 'react';
import { Icon } from '../design/icon.tsx';
import { ApiError } from '../kernel/errors.ts';
import form from '../kit/form.module.css';
import { chosenBy, GROUPS, type Pattern, toggled } from './subscription.ts';
import styles from './webhooks.module.css';

interface Picking {
  readonly chosen: readonly Pattern[];
  readonly onChoose: (chosen: readonly Pattern[]) => void;
}

/** Chooses the events of a webhook: single types, all types of an object, or everything. */
export const EventPicker = ({ chosen, onChoose, error }: Picking & { readonly error: unknown }) => {
  const wrong = error instanceof ApiError && error.param?.startsWith('events') === true ? error.message : null;
  return (
    <fieldset className={form['choices']}>
      <legend>Events</legend>
      <Tick pattern="*" name="Everything" about="Include event types added later" chosen={chosen} onChoose={onChoose} />
      <div className={styles['groups']} hidden={chosen.includes('*')}>
        {GROUPS.map((group) => (
          <Group key={group.family} group={group} chosen={chosen} onChoose={onChoose} />
        ))}
      </div>
      {wrong === null ? null : (
        <span className={styles['wrong']} role="alert">
          {wrong}
        </span>
      )}
    </fieldset>
  );
};

const Group = ({ group, chosen, onChoose }: Picking & { readonly group: (typeof GROUPS)[number] }) => {
  const { family, name, types } = group;
  const isAll = chosenBy(chosen, family) !== null;
  const count = types.filter(({ type }) => chosenBy(chosen, type) !== null).length;
  return (
    <details className={styles['group']}>
      <summary>
        <Icon name="right" size={14} />
        {name}
        <small>{isAll ? 'all' : count === 0 ? '' : `${count} of ${types.length}`}</small>
      </summary>
      <div className={styles['types']}>
        <Tick
          pattern={family}
          name={`All of ${family}`}
          about="Include event types added later"
          chosen={chosen}
          onChoose={onChoose}
        />
        {types.map(({ type, when }) => (
          <Tick key={type} pattern={type} name={type} about={`When ${when}`} chosen={chosen} onChoose={onChoose} />
        ))}
      </div>
    </details>
  );
};

const Tick = ({
  pattern,
  name,
  about,
  chosen,
  onChoose,
}: Picking & { readonly pattern: Pattern; readonly name: string; readonly about: string }) => {
  const id = useId();
  const by = chosenBy(chosen, pattern);
  return (
    <label className={styles['type']}>
      <input
        type="checkbox"
        checked={by !== null}
        disabled={by === 'by more'}
        aria-labelledby={`${id}-name`}
        aria-describedby={`${id}-about`}
        onChange={() => onChoose(toggled(chosen, pattern))}
      />
      <span>
        <span id={`${id}-name`}>{name}</span>
        <small id={`${id}-about`}>{about}</small>
      </span>
    </label>
  );
};
