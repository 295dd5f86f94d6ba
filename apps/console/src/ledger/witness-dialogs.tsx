import { useState } from 'react';
import { useChange } from '../kernel/change.ts';
import { api, bodyOf, type Schemas } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { useChanged } from '../kernel/refresh.ts';
import { LongTextField, SelectField, TextField } from '../kit/fields.tsx';
import { FormDialog } from '../kit/form-dialog.tsx';
import { Said, Warning } from '../kit/kit.tsx';
import { SignInAgain } from '../people/sign-in-again.tsx';
import { witnessPolicy } from './queries.ts';
import { quorumInWords, withOneMore, without, withQuorum } from './witness-standing.ts';

type Policy = Schemas['WitnessPolicy'];

interface Changing {
  readonly policy: Policy;
  readonly onDone: (said: string) => void;
  readonly onClose: () => void;
}

/**
 * Replaces the policy as a whole: it sets values, so that sending it twice has the same result. But for a policy file, it is
 * the one that was read that is replaced; where there is another one by now, that is read.
 */
const useReplace = (onDone: () => void, read?: Policy) => {
  const changed = useChanged();
  const replace = useChange(
    (wanted: Schemas['WitnessPolicyInput'] | string) =>
      (
        bodyOf(
          typeof wanted === 'string'
            ? api.PUT('/v1/ledger/witnesses', {
                body: wanted as never,
                bodySerializer: (text) => text as unknown as string,
                headers: { 'Content-Type': 'text/plain', Accept: 'application/json' },
              })
            : api.PUT('/v1/ledger/witnesses', {
                body: { ...wanted, ...(read && { expected_updated_at: read.updated_at }) },
                headers: { Accept: 'application/json' },
              }),
        ) as Promise<Policy>
      ).catch((error: unknown) => {
        if (isOvertaken(error)) changed(['ledger']);
        throw error;
      }),
    (policy) => {
      changed(['ledger', 'deeds', 'overview'], { of: witnessPolicy, is: policy });
      onDone();
    },
  );
  return { ...replace, error: isOvertaken(replace.error) ? null : replace.error, refused: replace.error };
};

const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'conflict' && error.param === 'expected_updated_at';

/** What to do after a refusal that no field is about. */
const WayOn = ({ refused, then }: { readonly refused: unknown; readonly then: string }) =>
  isOvertaken(refused) ? (
    <Warning>Somebody else changed the witnesses meanwhile, so nothing was saved. Look at them, then {then}.</Warning>
  ) : (
    <SignInAgain error={refused} to="/app/settings/witnesses" then={then} />
  );

export const AddWitness = ({ policy, onDone, onClose }: Changing) => {
  const [{ name, vkey, url }, setDraft] = useState({ name: '', vkey: '', url: '' });
  const replace = useReplace(() => onDone(`${name.trim()} is asked from the next checkpoint on.`), policy);
  const place = `witnesses[${policy.witnesses.length}]`;
  const draft = { name: name.trim(), vkey: vkey.trim(), url: url.trim() };
  return (
    <FormDialog
      title="Add witness"
      action="Add witness"
      busy="Adding …"
      isPending={replace.isPending}
      isReady={Object.values(draft).every((text) => text !== '')}
      error={replace.error}
      params={[place]}
      onSubmit={() => replace.mutate(withOneMore(policy, draft))}
      onClose={onClose}
    >
      <p>
        A witness is a machine of somebody else, who runs <code>npm run ags -- witness serve</code> or any other witness
        of C2SP. Its operator gives you its key and its address, and needs the verifier key of your ledger.
      </p>
      <TextField
        label="Name"
        param={`${place}.name`}
        error={replace.error}
        hint="How you call it: letters, digits and signs without spaces."
        value={name}
        onChange={(text) => setDraft({ name: text, vkey, url })}
        maxLength={64}
        spellCheck={false}
        data-first
      />
      <TextField
        label="Verifier key"
        param={`${place}.vkey`}
        error={replace.error}
        hint="One line, as its operator gives it: a name, a plus, 8 digits, a plus, base64."
        value={vkey}
        onChange={(text) => setDraft({ name, vkey: text, url })}
        spellCheck={false}
        autoCapitalize="none"
      />
      <TextField
        label="Address"
        param={`${place}.url`}
        error={replace.error}
        hint="/add-checkpoint is appended to it."
        type="url"
        inputMode="url"
        autoCapitalize="none"
        spellCheck={false}
        placeholder="https://witness.example"
        value={url}
        onChange={(text) => setDraft({ name, vkey, url: text })}
      />
      <WayOn refused={replace.refused} then="add the witness" />
    </FormDialog>
  );
};

export const RemoveWitness = ({ policy, name, onDone, onClose }: Changing & { readonly name: string }) => {
  const replace = useReplace(() => onDone(`${name} is asked no more.`), policy);
  const wanted = without(policy, name);
  return (
    <FormDialog
      title="Remove witness"
      action="Remove witness"
      busy="Removing …"
      kind="stop"
      isPending={replace.isPending}
      error={replace.error}
      onSubmit={() => replace.mutate(wanted)}
      onClose={onClose}
    >
      <p>
        <Said text={name} /> is asked no more. What it has cosigned stays, and the removal is sealed.{' '}
        {quorumInWords(wanted.quorum, wanted.witnesses.length)}
      </p>
      <WayOn refused={replace.refused} then="remove the witness" />
    </FormDialog>
  );
};

export const ChangeQuorum = ({ policy, onDone, onClose }: Changing) => {
  const [quorum, setQuorum] = useState(policy.quorum);
  const count = policy.witnesses.length;
  const replace = useReplace(() => onDone(quorumInWords(quorum, count)), policy);
  return (
    <FormDialog
      title="How many are enough"
      action="Save"
      busy="Saving …"
      isPending={replace.isPending}
      isReady={quorum !== policy.quorum}
      error={replace.error}
      params={['quorum']}
      onSubmit={() => replace.mutate(withQuorum(policy, quorum))}
      onClose={onClose}
    >
      <SelectField
        label="Witnesses that must cosign"
        param="quorum"
        error={replace.error}
        hint="A checkpoint is witnessed once so many have cosigned it. More of them are harder to deceive, and each that fails is missed sooner."
        value={String(quorum)}
        choices={Array.from({ length: count }, (_, index) => [String(index + 1), `${index + 1} of ${count}`] as const)}
        onChange={(text) => setQuorum(Number(text))}
      />
      <WayOn refused={replace.refused} then="say how many are enough" />
    </FormDialog>
  );
};

export const PastePolicy = ({ onDone, onClose }: Omit<Changing, 'policy'>) => {
  const [text, setText] = useState('');
  const replace = useReplace(() => onDone('The policy was replaced.'));
  return (
    <FormDialog
      title="Paste a policy file"
      action="Replace policy"
      busy="Replacing …"
      isPending={replace.isPending}
      isReady={text.trim() !== ''}
      error={replace.error}
      onSubmit={() => replace.mutate(text.endsWith('\n') ? text : `${text}\n`)}
      onClose={onClose}
    >
      <p>It replaces all witnesses: who is not named in it is asked no more. Lines of logs are passed over.</p>
      <LongTextField
        label="tlog-policy"
        param="body"
        error={null}
        hint="Lines “witness NAME KEY URL”, one “group” of all of them, and “quorum”."
        value={text}
        onChange={setText}
        spellCheck={false}
        placeholder={'witness partner witness.example/w1+… https://witness.example\nquorum partner'}
      />
      <WayOn refused={replace.refused} then="replace the policy" />
    </FormDialog>
  );
};
