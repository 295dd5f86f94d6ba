import { useMemo, useState } from 'react';
import type { Schemas } from '../kernel/client.ts';
import { serverNow } from '../kernel/clock.ts';
import { Times } from '../kernel/times.ts';
import { Choices, Field, OtherFailure } from '../kit/field.tsx';
import { Button, Warning } from '../kit/kit.tsx';
import { RETENTION_DEFAULT_DAYS } from './organization-words.ts';
import { Sealed } from './sealed.tsx';
import { useSettingsChange } from './settings-change.ts';
import styles from './settings.module.css';
import { placeName, zonesByPlace } from './zones.ts';

type Organization = Schemas['Organization'];

export const NameForm = ({ org }: { readonly org: Organization }) => {
  const [draft, setDraft] = useState<{ readonly name?: string; readonly timezone?: string }>({});
  const change = useSettingsChange(() => setDraft({}));
  const zones = useMemo(() => zonesByPlace(Intl.supportedValuesOf('timeZone'), org.timezone), [org.timezone]);
  const { name = org.name, timezone = org.timezone } = draft;
  const times = new Times(timezone);
  const isDirty = Object.keys(draft).length > 0;
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate(draft.name === undefined ? draft : { ...draft, name: draft.name.trim() });
      }}
    >
      <Field label="Name" param="name" error={change.error}>
        {(control) => (
          <input
            {...control}
            maxLength={120}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setDraft({ ...draft, name: target.value })}
          />
        )}
      </Field>
      <Field
        label="Time zone"
        param="timezone"
        error={change.error}
        hint={`Local time ${times.hour(new Date(serverNow()).toISOString())}, ${times.zoneName(serverNow())}. The Console shows times in this zone, and budgets and insights count its days.`}
      >
        {(control) => (
          <select
            {...control}
            value={timezone}
            onChange={({ target }) => setDraft({ ...draft, timezone: target.value })}
          >
            {zones.map(([place, names]) => (
              <optgroup key={place} label={place}>
                {names.map((zone) => (
                  <option key={zone} value={zone}>
                    {placeName(zone)}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <OtherFailure error={change.error} params={['name', 'timezone']} />
      {change.data === undefined || isDirty ? null : <Sealed deed={change.data.deed}>Name and time zone saved.</Sealed>}
      <Button type="submit" disabled={!isDirty || change.isPending}>
        {change.isPending ? 'Saving …' : 'Save name and time zone'}
      </Button>
    </form>
  );
};

const Removal = ({ days }: { readonly days: number }) => (
  <Warning>
    Bodies older than {days} {days === 1 ? 'day' : 'days'} are removed within minutes and cannot be restored.
  </Warning>
);

/** The retention of bodies. A warning before saving says that fewer days remove more bodies, for good. */
export const RetentionForm = ({ org }: { readonly org: Organization }) => {
  const [draft, setDraft] = useState<{ readonly isDefault: boolean; readonly days: string } | null>(null);
  const change = useSettingsChange(() => setDraft(null));
  const isDefault = draft?.isDefault ?? org.retention_days === null;
  const days = draft?.days ?? String(org.retention_days ?? RETENTION_DEFAULT_DAYS);
  const before = org.retention_days ?? RETENTION_DEFAULT_DAYS;
  const after = isDefault ? RETENTION_DEFAULT_DAYS : Number(days);
  const isShorter = draft !== null && after < before;
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ retention_days: isDefault ? null : Number(days) });
      }}
    >
      <Choices
        legend="Keep bodies"
        chosen={isDefault ? 'default' : 'chosen'}
        onChoose={(value) => setDraft({ isDefault: value === 'default', days })}
        of={[
          { value: 'default', name: `${RETENTION_DEFAULT_DAYS} days`, about: 'The default of the service.' },
          { value: 'chosen', name: 'Custom' },
        ]}
      />
      {isDefault ? null : (
        <Field label="Days" param="retention_days" error={change.error} hint="1 to 3,650">
          {(control) => (
            <input
              {...control}
              type="number"
              inputMode="numeric"
              min={1}
              max={3_650}
              value={days}
              onChange={({ target }) => setDraft({ isDefault, days: target.value })}
            />
          )}
        </Field>
      )}
      {isShorter ? <Removal days={after} /> : null}
      <OtherFailure error={change.error} params={isDefault ? [] : ['retention_days']} />
      {change.data === undefined || draft !== null ? null : <Sealed deed={change.data.deed}>Retention saved.</Sealed>}
      <Button
        type="submit"
        kind={isShorter ? 'danger' : 'plain'}
        disabled={draft === null || days.trim() === '' || change.isPending}
      >
        {change.isPending ? 'Saving …' : isShorter ? 'Shorten retention and remove older bodies' : 'Save retention'}
      </Button>
    </form>
  );
};

export const VersionForm = ({
  org,
  versions,
}: {
  readonly org: Organization;
  readonly versions: readonly string[];
}) => {
  const [draft, setDraft] = useState<string | null>(null);
  const change = useSettingsChange(() => setDraft(null));
  const chosen = draft ?? org.pinned_version ?? '';
  return (
    <form
      className={styles['form']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ pinned_version: chosen });
      }}
    >
      <Field
        label="Pinned version"
        param="pinned_version"
        error={change.error}
        hint={
          org.pinned_version === null
            ? 'No version is pinned: requests without the header use the latest version. A pinned version can be changed but not unpinned.'
            : undefined
        }
      >
        {(control) => (
          <select {...control} value={chosen} onChange={({ target }) => setDraft(target.value)}>
            {org.pinned_version === null ? <option value="">latest</option> : null}
            {versions.map((version) => (
              <option key={version} value={version}>
                {version}
              </option>
            ))}
          </select>
        )}
      </Field>
      <OtherFailure error={change.error} params={['pinned_version']} />
      {change.data === undefined ? null : <Sealed deed={change.data.deed}>Version pinned.</Sealed>}
      <Button type="submit" disabled={chosen === (org.pinned_version ?? '') || change.isPending}>
        {change.isPending ? 'Saving …' : 'Pin version'}
      </Button>
    </form>
  );
};
